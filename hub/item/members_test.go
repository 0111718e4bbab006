package item

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tabhub/hub/schema"
	"tabhub/spec"
)

// One page's mistake must not cost a client all sites' tools: what the TypeScript,
// Go and Python libraries refuse to read is quarantined or mended.
func TestWhatClientsRefuse(t *testing.T) {
	for _, test := range []struct {
		kind   spec.Kind
		member string // beside name, or uri
		want   string // of the reason; "" if it is taken
	}{
		{spec.KindTool, `"title":null,"annotations":null,"icons":null,"_meta":null,"outputSchema":null,"inputSchema":null,"description":null`, ""},
		{spec.KindTool, `"title":7`, "title must be a string"},
		{spec.KindTool, `"annotations":{"title":null}`, "annotations.title must be a string"},
		{spec.KindTool, `"annotations":{"readOnlyHint":null}`, "true or false"},
		{spec.KindTool, `"annotations":{"ReadOnlyHint":1}`, `must be spelled "readOnlyHint"`},
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
		{spec.KindResource, `"size":1e400`, "number of bytes"},
		{spec.KindPrompt, `"arguments":[{"name":"a","description":"d","required":true}]`, ""},
		{spec.KindPrompt, `"arguments":[{"name":"a","description":1}]`, "description must be a string"},
		{spec.KindPrompt, `"arguments":[{"description":"d"}]`, "name is missing"},
	} {
		own := `"name":"n"`
		if test.kind == spec.KindResource {
			own = `"uri":"x:y"`
		}
		it, err := Parse(test.kind, json.RawMessage("{"+own+","+test.member+"}"), &schema.Cache{}, func(string) (Provenance, error) { return Provenance{}, nil })
		if err != nil && test.kind != spec.KindResource && it.Source != "n" {
			t.Errorf("%.80s: refused under the name %q", test.member, it.Source)
		}
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%.80s: %v", test.member, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%.80s: %v, want something with %q", test.member, err, test.want)
		case err == nil:
			listed := `{"name":"n"` + string(it.rest) + `}`
			if err := json.Unmarshal([]byte(listed), typed(test.kind)); err != nil || len(listed) > 1000 || strings.Contains(listed, `null`) {
				t.Errorf("%.80s: listed as %.200s: %v", test.member, listed, err)
			}
			t.Log(listed)
		}
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
