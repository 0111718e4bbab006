package item

import (
	"encoding/json"
	"strings"
	"testing"

	"tabhub/hub/schema"
	"tabhub/spec"
)

// A host shows an app only if it finds it by the tool's own words.
func TestApp(t *testing.T) {
	verified := Provenance{"e.com", "https://e.com", true}
	for _, c := range []struct {
		meta    string
		from    Provenance
		want    string // `_meta` as listed
		app     string
		appOnly bool
		warning string
	}{
		{`{"ui":{"resourceUri":"ui://cart","visibility":["model","app"],"odd":1},"tags":["t"],"openai/x":1}`, verified,
			`{"ui":{"resourceUri":"ui://e.com/cart","visibility":["model","app"]},"ui/resourceUri":"ui://e.com/cart","tags":["t"]}`, "ui://cart", false, ""},
		{`{"ui/resourceUri":"ui://cart"}`, verified, `{"ui":{"resourceUri":"ui://e.com/cart"},"ui/resourceUri":"ui://e.com/cart"}`, "ui://cart", false, ""},
		{`{"ui":{"visibility":["app"]}}`, verified, `{"ui":{"visibility":["app"]}}`, "", true, ""},
		{`{"ui":{"visibility":[]}}`, verified, `{"ui":{"visibility":[]}}`, "", false, ""},
		{`{"ui":{"resourceUri":"https://evil.com/"}}`, verified, "", "", false, "must be a URI that begins with ui://"},
		{`{"ui":{"resourceUri":"ui://a\u202eb"}}`, verified, "", "", false, "cannot be seen"},
		{`{"ui":{"resourceUri":7,"visibility":["all"]}}`, verified, "", "", false, "must be a URI"},
		{`{"ui":"ui://cart"}`, verified, "", "", false, ""},
		{`{"ui":{"resourceUri":"ui://cart","visibility":["app"]}}`, Provenance{Domain: "unverified_e.com", Origin: "https://e.com"}, `{"ui":{"visibility":["app"]}}`, "", true, ""},
	} {
		it, err := Parse(spec.KindTool, json.RawMessage(`{"name":"n","_meta":`+c.meta+`}`), &schema.Cache{}, func(string) (Provenance, error) { return c.from, nil })
		if err != nil {
			t.Fatal(err)
		}
		var listed struct {
			Meta json.RawMessage `json:"_meta"`
		}
		object := it.AppendJSON(nil, "n", "[e.com]", "ui://e.com/cart")
		if err := json.Unmarshal(object, &listed); err != nil || string(listed.Meta) != c.want {
			t.Errorf("%s: listed %s, %v; want %s", c.meta, listed.Meta, err, c.want)
		}
		if app := it.App(); (app == nil) != (c.app == "") || app != nil && app.Source != c.app {
			t.Errorf("%s: app %+v, want %q", c.meta, app, c.app)
		}
		if it.AppOnly != c.appOnly {
			t.Errorf("%s: for its app only: %t", c.meta, it.AppOnly)
		}
		if warnings := strings.Join(it.Warnings, "; "); (warnings == "") != (c.warning == "") || !strings.Contains(warnings, c.warning) {
			t.Errorf("%s: warned of %q, want %q", c.meta, warnings, c.warning)
		}
	}
}

// What an app may load and use is for its host to grant, which must know what it asks for.
func TestAppContents(t *testing.T) {
	it := &Item{Provenance: Provenance{"e.com", "https://e.com", true}}
	const ui = `{"csp":{"connectDomains":["https://api.e.com"]},"permissions":{"camera":{}},"prefersBorder":true}`
	for _, c := range []struct{ result, want string }{
		{`{"contents":[{"uri":"ui://cart","mimeType":"text/html;profile=mcp-app","text":"<p>","_meta":{"ui":` + ui + `,"openai/x":1}}]}`,
			`{"contents":[{"uri":"ui://e.com/cart","mimeType":"text/html;profile=mcp-app","text":"<p>","_meta":{"ui":` + ui + `}}]}`},
		{`{"contents":[{"uri":"ui://cart","_meta":{"ui":{"csp":"*","permissions":{"camera":1},"prefersBorder":1,"x":1}}}]}`, `{"contents":[{"uri":"ui://e.com/cart"}]}`},
		// Two sites would have one origin in the host, with all that their apps store there.
		{`{"contents":[{"uri":"ui://cart","_meta":{"ui":{"domain":"another-sites","prefersBorder":true}}}]}`, `{"contents":[{"uri":"ui://e.com/cart","_meta":{"ui":{"prefersBorder":true}}}]}`},
		{`{"contents":[{"uri":"shop://cart","_meta":{"ui":` + ui + `}}]}`, `{"contents":[{"uri":"shop://cart"}]}`},
	} {
		got, err := it.ResourceResult(spec.Response{Result: json.RawMessage(c.result)}, "ui://cart", "ui://e.com/cart")
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", c.result, got, err, c.want)
		}
	}
	claimed := &Item{Provenance: Provenance{Domain: "unverified_e.com", Origin: "https://e.com"}}
	got, err := claimed.ResourceResult(spec.Response{Result: json.RawMessage(`{"contents":[{"uri":"ui://cart","_meta":{"ui":` + ui + `}}]}`)}, "ui://cart", "ui://e.com/cart")
	if want := `{"contents":[{"uri":"ui://e.com/cart"}]}`; err != nil || string(got) != want {
		t.Errorf("of a site that is only claimed: %s, %v", got, err)
	}
	for _, from := range []Provenance{it.Provenance, claimed.Provenance} {
		r, err := Parse(spec.KindResource, json.RawMessage(`{"uri":"ui://cart","name":"n","_meta":{"ui":`+ui+`}}`), &schema.Cache{}, func(string) (Provenance, error) { return from, nil })
		if err != nil {
			t.Fatal(err)
		}
		if passes := strings.Contains(string(r.AppendJSON(nil, "u", "[e.com]", "")), `"_meta":{"ui":`+ui+`}`); passes != from.Verified {
			t.Errorf("listed for %s: %t", from.Domain, passes)
		}
	}
}

// A client must list a tool again when another app, or another use of it, is named.
func TestSumOfApp(t *testing.T) {
	seen := map[uint64]string{}
	for _, meta := range []string{
		`{}`, `{"ui":{"resourceUri":"ui://cart"}}`, `{"ui":{"resourceUri":"ui://pay"}}`,
		`{"ui":{"resourceUri":"ui://cart","visibility":["app"]}}`, `{"ui":{"resourceUri":"ui://cart"},"tags":["t"]}`,
	} {
		it, err := Parse(spec.KindTool, json.RawMessage(`{"name":"n","_meta":`+meta+`}`), &schema.Cache{}, func(string) (Provenance, error) {
			return Provenance{"e.com", "https://e.com", true}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if other := seen[it.Sum("n")]; other != "" {
			t.Errorf("%s is the same as %s", meta, other)
		}
		seen[it.Sum("n")] = meta
	}
}
