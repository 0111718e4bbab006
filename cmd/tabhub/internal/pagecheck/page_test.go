package pagecheck

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tabhub/hub/offer/item"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// tool returns the item that the hub makes of a page's tool.
func tool(registered string) Item {
	it := Item{Kind: spec.KindTool, Registered: json.RawMessage(registered), Definition: json.RawMessage(registered), Class: policy.Read}
	it.Name, _ = rawjson.String(rawjson.Get(it.Registered, "name"))
	return it
}

func tools(registered ...string) (all []Item) {
	for _, one := range registered {
		all = append(all, tool(one))
	}
	return all
}

// codesOf returns what was found, as severity:code:item, sorted.
func codesOf(all []Finding) []string {
	seen := map[string]bool{}
	for _, f := range all {
		seen[fmt.Sprintf("%s:%s:%s", f.Severity, f.Code, f.Item)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

const good = `{"name":"search_products","description":"Find products of the shop by words and highest price.","inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"Words to look for"}}},"annotations":{"readOnlyHint":true}}`

// described is a tool of that name without other faults.
func described(name string, more string) string {
	return fmt.Sprintf(`{"name":%q,"description":"Does what %s stands for in the shop."%s}`, name, name, more)
}

func TestExamine(t *testing.T) {
	for name, c := range map[string]struct {
		page Page
		want []string
	}{
		"good":    {Page{Items: tools(good)}, nil},
		"nothing": {Page{}, []string{"error:nothing-offered:"}},
		"busy":    {Page{Items: tools(good), Busy: "after 30s the page still loads"}, []string{"warning:page-busy:"}},
		"set aside": {Page{Items: tools(good), Rejected: []spec.Rejection{{Name: "x", Reason: "name is longer than 128 characters"}}},
			[]string{"error:set-aside:x"}},
		"left out": {Page{Items: tools(good), Warnings: []spec.Rejection{{Name: "x", Reason: "inputSchema: must be an object"}, {Name: "y", Reason: "icons: must be an array"}, {Name: "z", Reason: "for clients, inputSchema: a[] is called a"}}},
			[]string{"error:schema-invalid:x", "note:listed-otherwise:z", "warning:part-left-out:y"}},
		"scripts": {Page{Items: tools(good), Errors: []ScriptMessage{{Thrown: true, Text: "TypeError: x", Where: "a.js:1"}, {Text: "no"}, {Dialog: "alert", Text: "hi"}}},
			[]string{"note:console-error:", "warning:dialog:", "warning:script-error:"}},
	} {
		if got := codesOf(Examine(&c.page)); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

func TestJudge(t *testing.T) {
	text := func(s string) string {
		return string(mustJSON(map[string]any{"content": []map[string]string{{"type": "text", "text": s}}}))
	}
	misfit := func(why string) json.RawMessage {
		return json.RawMessage(strings.Replace(text(item.Misfit+why), "{", `{"isError":true,`, 1))
	}
	for name, c := range map[string]struct {
		tool string
		call Call
		want string
	}{
		"answers":      {"", Call{Result: json.RawMessage(text("three"))}, ""},
		"otherwise":    {"", Call{Result: misfit("/n: must be integer, got string")}, "error:result-not-as-promised:paint"},
		"unstructured": {"", Call{Result: misfit(item.Unstructured)}, "error:result-unstructured:paint"},
		"a picture":    {"", Call{Result: json.RawMessage(`{"content":[{"type":"image","mimeType":"image/png","data":"aaaa"}]}`)}, ""},
		"leaves":       {"", Call{Failed: "gone", Navigated: "https://example.com/"}, "warning:call-navigates:paint"},
		"no answer":    {"", Call{Failed: "TOOL_TIMEOUT: late"}, "error:call-failed:paint"},
		"hangs":        {"", Call{Failed: "TOOL_TIMEOUT: late", Hung: true}, "error:call-failed:paint"},
		"fails":        {"", Call{Result: json.RawMessage(`{"isError":true,"content":[]}`), Why: "TypeError: x"}, "error:call-failed:paint"},
	} {
		if c.call.Arguments == nil {
			c.call.Arguments = json.RawMessage(`{}`)
		}
		it := tool(described("paint", c.tool))
		c.call.Item = &it
		if got := strings.Join(codesOf(Judge(&c.call)), " "); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A reader looks a code up in the documents.
func TestGuideHasTheCodes(t *testing.T) {
	guide, err := os.ReadFile("../../../../spec/docs/PAGES.md")
	if err != nil {
		t.Fatal(err)
	}
	var there []Code
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (error|warning|note)").FindAllSubmatch(guide, -1) {
		there = append(there, Code(m[1]))
	}
	if !slices.Equal(there, Codes) {
		t.Errorf("the guide has %q,\nthe code %q", there, Codes)
	}
	source, err := os.ReadFile("finding.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(regexp.MustCompile(`Code += "`).FindAll(source, -1)); n != len(Codes) {
		t.Errorf("%d codes are declared, and Codes has %d", n, len(Codes))
	}
}

// Whatever a page registers, the check has something to say of it.
func FuzzHostilePage(f *testing.F) {
	for _, seed := range []string{good, `{}`, `{"name":"a","inputSchema":true}`, `{"name":"","description":7,"inputSchema":{"properties":{"a":true,"b":[1],"c":null}}}`,
		`{"name":"x","annotations":[],"inputSchema":{"properties":[],"items":{"items":{}}},"outputSchema":{"type":"object"}}`,
		`{"name":"n","inputSchema":{"properties":{"a":{"type":"number","minimum":1e400,"multipleOf":1e-9}},"required":["a"]}}`,
		`{"name":"n","inputSchema":{"properties":{"a":{"type":"integer","minimum":-1000000000000000000000,"multipleOf":0.00001}},"required":["a"]}}`,
		`{"name":"n","inputSchema":{"required":["a",1],"properties":{"a":{"allOf":[{"$ref":"#/properties/a"}],"uniqueItems":7,"minItems":-1}}}}`} {
		f.Add(seed, `{"content":[{"type":"text","text":"{\"error\":{\"message\":7}}"}]}`)
	}
	f.Fuzz(func(t *testing.T, registered, result string) {
		for _, raw := range []string{registered, result} {
			if rawjson.Valid([]byte(raw), spec.MaxDepth) != nil || raw[0] != '{' || len(raw) > spec.MaxSchema {
				return
			}
		}
		it := tool(registered)
		all := Examine(&Page{Items: []Item{it}})
		for _, args := range []json.RawMessage{nil, json.RawMessage(`{}`)} {
			all = append(all, Judge(&Call{Item: &it, Arguments: args, Result: json.RawMessage(result)})...)
		}
		Sort(all)
	})
}
