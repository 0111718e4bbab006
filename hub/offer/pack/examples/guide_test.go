package examples

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"tabhub/hub/offer/pack"
	"tabhub/spec"
)

const guide = "../../../../spec/docs/PACKS.md"

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// An author copies what the guide shows.
func TestGuideShowsPacksThatParse(t *testing.T) {
	packs, steps := 0, 0
	for _, m := range regexp.MustCompile("(?s)\n```json\n(.*?)\n```\n").FindAllStringSubmatch(readFile(t, guide), -1) {
		text := m[1]
		if strings.Contains(text, `"tabhubPack"`) {
			packs++
		} else {
			steps++
			text = `{"tabhubPack": 1, "name": "guide", "match": ["https://shop.example.com/*"], "tools": [{"name": "t", "description": "Does it.",
				"inputSchema": {"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}}}, "steps": [` + text + `]}]}`
		}
		if _, err := pack.Parse([]byte(text)); err != nil {
			t.Errorf("%v:\n%s", err, m[1])
		}
	}
	if packs == 0 || steps == 0 {
		t.Errorf("the guide shows %d packs and %d steps", packs, steps)
	}
}

// The guide is the format's reference: an author finds each member and each code in it.
func TestGuideNamesAllOfTheFormat(t *testing.T) {
	text := readFile(t, guide)
	var members func(of reflect.Type)
	seen := map[reflect.Type]bool{}
	members = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			if of != reflect.TypeFor[json.RawMessage]() {
				members(of.Elem())
			}
		case reflect.Struct:
			if seen[of] {
				return
			}
			seen[of] = true
			for i := range of.NumField() {
				f := of.Field(i)
				if f.Tag.Get("pack") == "-" {
					continue
				}
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if !regexp.MustCompile("[`\"]" + name + "[`\"]").MatchString(text) {
					t.Errorf("the guide does not name %s of %s", name, of)
				}
				members(f.Type)
			}
		}
	}
	members(reflect.TypeFor[spec.Pack]())
	codes := regexp.MustCompile(`StepCode = "(\w+)"`).FindAllStringSubmatch(readFile(t, "../../../../spec/pack.go"), -1)
	if len(codes) < 5 {
		t.Fatalf("only the codes %q were found", codes)
	}
	for _, m := range codes {
		if m[1] != string(spec.StaleRef) && !strings.Contains(text, "| `"+m[1]+"` |") {
			t.Errorf("the guide does not say what to do about %s", m[1])
		}
	}
}
