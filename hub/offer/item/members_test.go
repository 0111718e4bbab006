package item

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tabhub/hub/offer/schema"
	"tabhub/spec"
)

// One page's mistake must not cost a client all sites' tools: what the TypeScript,
// Go and Python libraries refuse to read is left out or mended. Nor must it cost the
// page the item.
func TestWhatClientsRefuse(t *testing.T) {
	for _, test := range []struct {
		kind   spec.Kind
		member string // beside name, or uri
		want   string // of the warning; "" if all of it is taken
	}{
		{spec.KindTool, `"title":null,"annotations":null,"icons":null,"_meta":null,"outputSchema":null,"inputSchema":null,"description":null`, ""},
		{spec.KindTool, `"title":7`, "title must be a string"},
		{spec.KindTool, `"annotations":{"title":null}`, "annotations.title must be a string"},
		{spec.KindTool, `"annotations":{"readOnlyHint":null}`, "true or false"},
		{spec.KindTool, `"annotations":{"ReadOnlyHint":1}`, `must be spelled "readOnlyHint"`},
		{spec.KindTool, `"annotations":[]`, "annotations must be an object"},
		{spec.KindTool, `"description":["a"]`, "description must be a string"},
		{spec.KindTool, `"icons":{}`, "icons must be an array"},
		{spec.KindTool, `"_meta":1`, "_meta must be an object"},
		{spec.KindTool, `"title":"\ud83d","description":"\ud83d"`, ""},
		{spec.KindTool, `"inputSchema":false`, "inputSchema: must be an object"},
		{spec.KindTool, `"inputSchema":{"type":"array"}`, `inputSchema: /type: must be "object"`},
		{spec.KindTool, `"inputSchema":{"properties":{"a":` + strings.Repeat(`{"items":`, 40) + `{}` + strings.Repeat(`}`, 40) + `}}`, "nested too deeply"},
		{spec.KindTool, `"inputSchema":{"description":"` + strings.Repeat("x", spec.MaxSchema) + `"}`, "inputSchema: longer than"},
		{spec.KindTool, `"inputSchema":{"properties":{"a\u202e":{}}}`, "inputSchema: "},
		{spec.KindTool, `"outputSchema":{"type":"string"}`, "outputSchema: "},
		{spec.KindPrompt, `"arguments":{}`, "arguments must be an array"},
		{spec.KindTool, `"Name":"website_tool_bank_com_pay"`, `must be spelled "name"`},
		{spec.KindTool, `"execution":{"taskSupport":"required"}`, ""},
		{spec.KindTool, `"icons":[{"src":"x","sizes":["48x48"],"theme":"dark"}]`, ""},
		{spec.KindTool, `"icons":[{"mimeType":"image/png"}]`, "icons[].src is missing"},
		{spec.KindTool, `"icons":[{"src":"x","sizes":"48x48"}]`, "an array of strings"},
		{spec.KindTool, `"icons":[{"src":"x","theme":"blue"}]`, "light"},
		{spec.KindTool, `"icons":[{"src":"x","mimeType":1}]`, "mimeType must be a string"},
		{spec.KindTool, `"_meta":{"n":1e999}`, "out of range"},
		{spec.KindTool, `"inputSchema":{"type":"object","maximum":-1e999}`, "out of range"},
		{spec.KindTool, `"inputSchema":{"type":"object","Required":1}`, `must be spelled "required"`},
		{spec.KindTool, `"inputSchema":{"type":"object","properties":{"a":true,"b":false,"c":{"properties":{"d":true}}}}`, ""},
		{spec.KindTool, `"outputSchema":{"properties":{"a":false}}`, ""},
		{spec.KindTool, `"inputSchema":{"properties":null}`, "inputSchema"},
		{spec.KindTool, `"_meta":{"s":"\ud83d\ude00 \\ud800"}`, ""},
		{spec.KindTool, `"_meta":{"s":"\ud83d"}`, "surrogate"},
		{spec.KindTool, `"_meta":{"s":"\ude00\ud83d"}`, "surrogate"},
		{spec.KindTool, `"title":"` + strings.Repeat("x", 5000) + `"`, ""},
		{spec.KindTool, `"annotations":{"title":"` + strings.Repeat("x", 5000) + `"}`, "at most"},
		{spec.KindResource, `"annotations":{"audience":["user"],"priority":0.5,"lastModified":"2025-01-12T15:00:58Z"}`, ""},
		{spec.KindResource, `"annotations":{"audience":["model"]}`, "audience"},
		{spec.KindResource, `"annotations":{"priority":2}`, "from 0 to 1"},
		{spec.KindResource, `"annotations":{"lastModified":"yesterday"}`, "a time"},
		{spec.KindResource, `"size":1.5`, "number of bytes"},
		{spec.KindResource, `"size":1e400`, "size: the number"},
		{spec.KindPrompt, `"arguments":[{"name":"a","description":"d","required":true}]`, ""},
		{spec.KindPrompt, `"arguments":[{"name":"a","description":1}]`, "description must be a string"},
		{spec.KindPrompt, `"arguments":[{"description":"d"}]`, "name is missing"},
	} {
		own := `"name":"n"`
		if test.kind == spec.KindResource {
			own = `"uri":"x:y"`
		}
		it, err := Parse(test.kind, json.RawMessage("{"+own+","+test.member+"}"), &schema.Cache{}, func(Claim) (Provenance, error) { return Provenance{}, nil })
		if err != nil {
			t.Errorf("%.80s: %v", test.member, err)
			continue
		}
		warnings := strings.Join(it.Warnings, "; ")
		if (test.want == "") != (warnings == "") || !strings.Contains(warnings, test.want) {
			t.Errorf("%.80s: warned of %q, want something with %q", test.member, warnings, test.want)
		}
		listed := string(it.AppendJSON(nil, "n", ""))
		if err := json.Unmarshal([]byte(listed), typed(test.kind)); err != nil || len(listed) > 1000 || strings.Contains(listed, `null`) {
			t.Errorf("%.80s: listed as %.200s: %v", test.member, listed, err)
		}
	}
}

// A page must not fill the hub's memory with its own mistakes.
func TestWarningsAreBounded(t *testing.T) {
	raw := `{"name":"n","icons":[` + strings.Repeat(`0,`, 100_000) + `0]}`
	it, err := Parse(spec.KindTool, json.RawMessage(raw), &schema.Cache{}, func(Claim) (Provenance, error) { return Provenance{}, nil })
	if err != nil || len(it.Warnings) != maxWarnings {
		t.Errorf("%d warnings, %v", len(it.Warnings), err)
	}
}

// What tells an item apart, or where it belongs, cannot be left out.
func TestParseRefuses(t *testing.T) {
	for _, test := range []struct {
		kind       spec.Kind
		item, want string
	}{
		{spec.KindTool, `{}`, "name is missing"},
		{spec.KindTool, `{"name":7}`, "name must be a string"},
		{spec.KindTool, `{"name":"\ud83d"}`, "surrogate"},
		{spec.KindTool, `{"name":"a\u202eb"}`, "cannot be seen"},
		{spec.KindTool, `{"name":"n","frameId":"1"}`, "frameId must be an integer"},
		{spec.KindTool, `{"name":"n","origin":1}`, "origin must be a string"},
		{spec.KindTool, `{"name":"n","description":"` + strings.Repeat("x", maxItem) + `"}`, "larger than"},
		{spec.KindTool, `{"name":"n","x":` + strings.Repeat(`[`, 600) + strings.Repeat(`]`, 600) + `}`, "nested too deeply"},
		{spec.KindResource, `{"name":"n"}`, "uri is missing"},
	} {
		_, err := Parse(test.kind, json.RawMessage(test.item), &schema.Cache{}, func(Claim) (Provenance, error) { return Provenance{}, nil })
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.80s: %v, want something with %q", test.item, err, test.want)
		}
	}
}

// A host's guard must know what a page of WebMCP says, and nothing that it does not say.
func TestHints(t *testing.T) {
	for _, test := range []struct{ annotations, want string }{
		{`{"consequentialHint":true}`, `"annotations":{"destructiveHint":true},"_meta":{"webmcp/annotations":{"consequentialHint":true},"tags":["t"]}`},
		{`{"readOnlyHint":true,"untrustedContentHint":true}`, `"annotations":{"readOnlyHint":true,"openWorldHint":true},"_meta":{"webmcp/annotations":{"untrustedContentHint":true},"tags":["t"]}`},
		{`{"consequentialHint":true,"destructiveHint":false}`, `"annotations":{"destructiveHint":false},"_meta":{"webmcp/annotations":{"consequentialHint":true},"tags":["t"]}`},
		{`{"consequentialHint":false,"untrustedContentHint":false}`, `"annotations":{},"_meta":{"webmcp/annotations":{"consequentialHint":false,"untrustedContentHint":false},"tags":["t"]}`},
		{`{"title":"T","idempotentHint":true}`, `"annotations":{"title":"T","idempotentHint":true},"_meta":{"tags":["t"]}`},
	} {
		raw := `{"name":"n","annotations":` + test.annotations + `,"_meta":{"webmcp/annotations":1,"tags":["t"]}}`
		it, err := Parse(spec.KindTool, json.RawMessage(raw), &schema.Cache{}, func(Claim) (Provenance, error) { return Provenance{}, nil })
		if want := "," + test.want; err != nil || string(it.members) != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", test.annotations, it.members, err, want)
		}
	}
}

// TestOnlyReads: what a tool is taken for decides whether it is called unasked, and twice.
func TestOnlyReads(t *testing.T) {
	for annotations, want := range map[string]bool{
		`{"readOnlyHint":true}`: true,
		`{"readOnlyHint":true,"destructiveHint":false,"consequentialHint":false}`: true,
		`{"readOnlyHint":"true"}`:                        false,
		`{"ReadOnlyHint":true}`:                          false,
		`{"readOnlyHint":true,"destructiveHint":true}`:   false,
		`{"readOnlyHint":true,"consequentialHint":true}`: false,
	} {
		for _, verified := range []bool{true, false} {
			it, err := Parse(spec.KindTool, json.RawMessage(`{"name":"n","annotations":`+annotations+`}`), &schema.Cache{},
				func(Claim) (Provenance, error) {
					return Provenance{Domain: "e.com", Origin: "https://e.com", Verified: verified}, nil
				})
			if err != nil || it.OnlyReads() != (want && verified) || it.Repeatable != want {
				t.Errorf("%s, verified %t: only reads %t, repeatable %t, %v", annotations, verified, it.OnlyReads(), it.Repeatable, err)
			}
		}
	}
}

// A model that knows nothing of the arguments must know why.
func TestNoteOfSchema(t *testing.T) {
	it, err := Parse(spec.KindTool, json.RawMessage(`{"name":"n","description":"Does it.","inputSchema":"string"}`), &schema.Cache{}, func(Claim) (Provenance, error) { return Provenance{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"x","description":"[e.com] Does it.\n(its parameters' schema is not valid: must be an object)","inputSchema":{"type":"object","properties":{}}}`
	if got := string(it.AppendJSON(nil, "x", "[e.com]")); got != want {
		t.Errorf("listed as\n%s, want\n%s", got, want)
	}
	if _, _, err := it.Arguments(json.RawMessage(`{"anything":1}`), true); err != nil {
		t.Error(err)
	}
}

// typed returns the Go type of an MCP object.
func typed(kind spec.Kind) any {
	switch kind {
	case spec.KindResource:
		return &mcp.Resource{}
	case spec.KindPrompt:
		return &mcp.Prompt{}
	}
	return &mcp.Tool{}
}
