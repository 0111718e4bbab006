package pack

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"tabhub/hub/trust/policy"
)

// vectors reads a file of testdata. The tests of the extension read the same.
func vectors[T any](t testing.TB, name string) (v T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func parse(t testing.TB, text []byte) *Pack {
	t.Helper()
	p, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A pattern that matches more than in the browser would give a pack pages that it does not name.
func TestPatterns(t *testing.T) {
	v := vectors[struct {
		Matches []struct {
			Pattern string
			Yes, No []string
		}
		Refused []struct{ Pattern, Why string }
	}](t, "patterns.json")
	for _, m := range v.Matches {
		p, err := ParsePattern(m.Pattern)
		if err != nil {
			t.Errorf("%s: %v", m.Pattern, err)
		}
		for _, url := range m.Yes {
			if !p.Matches(url) {
				t.Errorf("%s does not match %s", m.Pattern, url)
			}
		}
		for _, url := range m.No {
			if p.Matches(url) {
				t.Errorf("%s matches %s", m.Pattern, url)
			}
		}
	}
	for _, r := range v.Refused {
		if p, err := ParsePattern(r.Pattern); err == nil || !strings.Contains(err.Error(), r.Why) {
			t.Errorf("%s: %+v, %v; want %q", r.Pattern, p, err, r.Why)
		}
	}
}

// An editor that knows the schema must not mark what is right, and marks a member that is misspelled.
func TestSchemaOfDocuments(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../../spec/schema/pack.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob("examples/*.json")
	for _, file := range append(files, "testdata/shop.json", "testdata/flows.json", "testdata/script.json") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		doc.(map[string]any)["titel"] = "x"
		if schema.Validate(doc) == nil {
			t.Errorf("%s: a misspelled member is right", file)
		}
	}
}

// The owner's browser, and a program that runs the steps, read the text that the owner was shown.
func TestTextIsTheDocument(t *testing.T) {
	p := parse(t, read(t, "shop.json"))
	again := parse(t, p.Text())
	if string(again.Text()) != string(p.Text()) || again.Hash != p.Hash {
		t.Errorf("read again, the document is another: %s", again.Text())
	}
	find, add := p.Tool("find_products"), p.Tool("add_to_cart")
	if find.Class != policy.Read || !find.Repeatable || add.Class != policy.Write || add.Repeatable {
		t.Errorf("find is %v, add is %v", find.Class, add.Class)
	}
	if p.Tool("none") != nil || len(p.Acts()) == 0 {
		t.Errorf("acts: %v", p.Acts())
	}
	if !p.ReachesOrigin("https://shop.example.com") || p.ReachesOrigin("https://example.com") || p.ReachesOrigin("http://shop.example.com") {
		t.Error("it reaches other origins than it names")
	}
}
