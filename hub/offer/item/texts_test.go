package item

import (
	"encoding/json"
	"strings"
	"testing"

	"tabhub/describe"
	"tabhub/hub/offer/schema"
	"tabhub/spec"
)

// FuzzTexts: whatever a page registers, what is listed hides nothing but what data
// may, and can be read.
func FuzzTexts(f *testing.F) {
	f.Add(`"title":"\u202e","annotations":{"title":"\udb40\udc41"},"inputSchema":{"type":"object","properties":{"a\u200d":{"description":"\u001b"}}}`)
	f.Add(`"_meta":{"com.e/x":["\u202e"],"tags":["\ufeff"]},"icons":[{"src":"https://e.com/","mimeType":"\u2066"}],"arguments":[{"name":"\u200e"}]`)
	f.Add("\"description\":\"\u009b\",\"mimeType\":\"\u202e\",\"x\u202e\":1")
	f.Fuzz(func(t *testing.T, members string) {
		for kind, id := range map[spec.Kind]string{spec.KindTool: `"name":"n"`, spec.KindPrompt: `"name":"n"`, spec.KindResource: `"uri":"x:y"`} {
			it, err := Parse(kind, json.RawMessage("{"+id+","+members+"}"), new(schema.Cache), func(Claim) (Provenance, error) {
				return Provenance{Domain: "e.com", Origin: "https://e.com", Verified: true}, nil
			})
			if err != nil {
				if describe.Visible(err.Error()) != err.Error() {
					t.Fatalf("%s: the reason hides something: %+q", members, err)
				}
				continue
			}
			for _, warning := range it.Warnings {
				if describe.Visible(warning) != warning {
					t.Fatalf("%s: the warning hides something: %+q", members, warning)
				}
			}
			object := it.AppendJSON(nil, "n", describe.Prefix(describe.Place{Domain: "e.com"}))
			var listed any
			if err := json.Unmarshal(object, &listed); err != nil {
				t.Fatalf("%s is listed as %s: %v", members, object, err)
			}
			checkTexts(t, listed)
		}
	})
}

func checkTexts(t *testing.T, v any) {
	switch v := v.(type) {
	case string:
		if r, ok := describe.Forbidden(v); ok {
			t.Fatalf("%+q is listed with %U", v, r)
		}
	case []any:
		for _, e := range v {
			checkTexts(t, e)
		}
	case map[string]any:
		for key, e := range v {
			checkTexts(t, key)
			checkTexts(t, e)
		}
	}
}

// Half of a surrogate pair, which is valid JSON, ends the list for clients that cannot read it.
func TestTitleThatCannotBeRead(t *testing.T) {
	it, err := Parse(spec.KindTool, json.RawMessage(`{"name":"n","title":"a\ud800b"}`), &schema.Cache{}, func(Claim) (Provenance, error) { return Provenance{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := string(it.AppendJSON(nil, "n", "")); strings.Contains(got, `\ud800`) || !strings.Contains(got, `"title":"a`) {
		t.Errorf("listed as %s", got)
	}
}
