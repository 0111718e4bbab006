package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

// What only informs loses what nobody sees; what calls depend on never changes.
func TestClean(t *testing.T) {
	for _, c := range []struct{ schema, want string }{ // H is a hidden character
		{`{ "type":"object", "title" : "é" }`, `{ "type":"object", "title" : "é" }`},
		{`{"title":"aH","description":"Hb","$comment":"H","n":1.50}`, `{"title":"a","description":"b","$comment":"","n":1.50}`},
		{`{"properties":{"title":{"title":"H"},"description":{"description":["H"]}}}`, "properties.description.description[0]"},
		{`{"properties":{"title":{"title":"H"},"enum":{"description":"H"}}}`, `{"properties":{"title":{"title":""},"enum":{"description":""}}}`},
		{`{"items":[{"title":"H"},true],"if":{"not":{"title":"H"}},"prefixItems":[{"title":"H"}]}`, `{"items":[{"title":""},true],"if":{"not":{"title":""}},"prefixItems":[{"title":""}]}`},
		{`{"dependencies":{"a":["b"],"c":{"title":"H"}}}`, `{"dependencies":{"a":["b"],"c":{"title":""}}}`},
		{`{"dependencies":{"a":["H"]}}`, "dependencies.a[0]"},
		{`{"patternProperties":{"^H":{}}}`, `patternProperties["^\u202e"]`},
		{`{"examples":[{"H":"H"}]}`, `{"examples":[{"":""}]}`},
		{`{"x-note":"H"}`, "x-note"},
		{`{"$ref":"#/$defs/H"}`, `$ref`},
		{`{"format":"H"}`, "format"},
		{`{"H":1}`, `["\u202e"]`},
		{`{"allOf":[{"enum":[{"name":"H"}]}]}`, "allOf[0].enum[0].name"},
		{`{"a":` + strings.Repeat(`[`, 40) + `"H"` + strings.Repeat(`]`, 40) + `}`, `{"a":` + strings.Repeat(`[`, 40) + `"H"` + strings.Repeat(`]`, 40) + `}`},
	} {
		for _, hidden := range []string{`\u202e`, "\u202e"} {
			got, err := Clean(json.RawMessage(strings.ReplaceAll(c.schema, "H", hidden)))
			switch {
			case c.want[0] == '{' && (err != nil || string(got) != strings.ReplaceAll(c.want, "H", hidden)):
				t.Errorf("%s becomes %s, %v", c.schema, got, err)
			case c.want[0] != '{' && (err == nil || err.Error() != c.want+" holds the character U+202E, which cannot be seen"):
				t.Errorf("%s: %v, want %s", c.schema, err, c.want)
			}
		}
	}
}
