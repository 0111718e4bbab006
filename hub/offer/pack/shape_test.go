package pack

import (
	"encoding/json"
	"strings"
	"testing"
)

// An owner reads what a model reads, so no text of a schema may be missing.
func TestShape(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"query":{"type":"string","description":"Words"},"limit":{"type":"integer","minimum":1,"maximum":50}},"required":["query"]}`: `{query: string "Words", limit?: integer, at least 1, at most 50}`,
		`{"type":"array","items":{"type":["string","null"]}}`:                                                `list of string or null`,
		`{"enum":["","ti"],"description":"Where"}`:                                                           `one of ["","ti"] "Where"`,
		`{"type":"object","properties":{},"required":["id"],"additionalProperties":false}`:                   `{id: anything}, nothing else`,
		`{"type":"object","properties":{},"additionalProperties":{"type":"string","description":"A price"}}`: `{}, other members string "A price"`,
		`{}`:   `anything`,
		`true`: `true`,
		// What has no words:
		`{"type":["object","null"],"properties":{"a":{"description":"b"}}}`: ``,
		`{"enum":[1],"properties":{"a":{"description":"hidden"}}}`:          ``,
		`{"type":"string","$comment":"hidden"}`:                             ``,
		`{"type":"array","items":[{"description":"hidden"}]}`:               `list of [{"description":"hidden"}]`,
		`{"type":"object","properties":["hidden"]}`:                         ``,
		`{"type":["string",{"hidden":1}]}`:                                  ``,
		`{"type":{"hidden":1}}`:                                             ``,
		`{"type":"string","description":{"hidden":1}}`:                      ``,
		`{"type":"string","items":{"description":"hidden"}}`:                ``,
	} {
		if want == "" {
			want = schema
		}
		got := shape(json.RawMessage(schema))
		if got != want {
			t.Errorf("%s\nis %s\nwant %s", schema, got, want)
		}
		if strings.Contains(schema, "hidden") && !strings.Contains(got, "hidden") {
			t.Errorf("%s hides a text: %s", schema, got)
		}
	}
}
