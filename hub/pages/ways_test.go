package pages_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tabhub/hub"
	"tabhub/hub/hubtest"
	"tabhub/tabtransport/tabtest/chromium"
)

// What a page offers in any of the ways the hub's script finds, as the companion extension does by
// its own tests.
func TestWaysToOffer(t *testing.T) {
	t.Parallel()
	const execute = `async ({n}) => ({content: [{type: "text", text: "n is " + n}], structuredContent: {n}})`
	const tools = `const text = {name: "text", description: "Says a word", inputSchema: {type: "object"}, annotations: {readOnlyHint: true, destructiveHint: false}, execute: async () => "a word"};
		const value = {name: "value", description: "Gives a value", inputSchema: {type: "object"}, execute: async () => ({n: 1})};
		const whole = {name: "whole", description: "Gives a whole result", inputSchema: {type: "object"}, execute: ` + execute + `};
		const all = [text, value, whole];`
	results := map[string]string{
		"text":  `{"content":[{"type":"text","text":"a word"}]}`,
		"value": `{"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1}}`,
		"whole": `{"content":[{"type":"text","text":"n is 2"}],"structuredContent":{"n":2}}`,
	}
	for _, c := range []struct {
		name, body string
		native     bool
		results    map[string]string
	}{
		{"the browser's tools", `<script>` + tools + `for (const tool of all) document.modelContext.registerTool(tool)</script>`, true, results},
		{"a form that leads to another tab", `<form toolname="search" tooldescription="Searches" toolautosubmit target="_blank"><input name="q"></form>`, true, map[string]string{
			"search": `{"content":[{"type":"text","text":"The form was submitted."},{"type":"text","text":"The page is still the same: what the form was for may be loading, or is shown elsewhere."}]}`,
		}},
		{"a library's tools", `<script>` + tools + `document.modelContext = {
			getTools: async () => all.map(({execute, ...tool}) => ({...tool, inputSchema: JSON.stringify(tool.inputSchema)})),
			executeTool: async ({name}, input) => { const got = await all.find((tool) => tool.name === name).execute(JSON.parse(input)); return typeof got === "string" ? got : JSON.stringify(got) },
		}</script>`, false, results},
		{"a library's tools, the older way", `<script>` + tools + `navigator.modelContext = {};
			navigator.modelContextTesting = {
				listTools: () => all.map(({execute, ...tool}) => ({...tool, inputSchema: JSON.stringify(tool.inputSchema)})),
				executeTool: async (name, input) => { const got = await all.find((tool) => tool.name === name).execute(JSON.parse(input)); return typeof got === "string" ? got : JSON.stringify(got) },
			}</script>`, false, results},
		{"a server", `<script>` + pageServer + `begin()</script>`, false, map[string]string{
			"served": `{"content":[{"type":"text","text":"served {\"n\":2}"}]}`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			b := chromium.Shared(t, chromium.Options{WebMCP: c.native})
			b.Open(s.host(c.body+`<script src="http://HUB/tab.js"></script>`, ""))
			for tool, want := range c.results {
				args := `{"n":2}`
				if tool == "search" {
					args = `{"q":"shoes"}`
				}
				raw, err := s.hub.Call(t.Context(), hub.Call{By: tester, Name: s.name(tool), Args: json.RawMessage(args)})
				if err != nil || hubtest.Said(raw) != want {
					t.Errorf("%s: %s, %v; want %s", tool, raw, err, want)
				}
			}
			if _, ok := c.results["text"]; ok && !c.native {
				item, err := s.hub.Find("tool", s.name("text"))
				if err != nil || !strings.Contains(string(item.JSON), `"destructiveHint":false`) {
					t.Errorf("text lost a hint: %s, %v", item.JSON, err)
				}
			}
		})
	}
}

// Whichever way a page is reached, a client whose call has led to the next one learns where
// that is and what can be called there.
func TestLedElsewhereBothWays(t *testing.T) {
	t.Parallel()
	const tool = `<script>document.modelContext.registerTool({
		name: location.search ? "there" : "go", description: "Goes", execute: () => { location.search = "?next"; return new Promise(() => {}); },
	})</script>`
	words := map[string]string{"extension": "before the tool answered; it may have taken effect", "script": "TAB_CLOSED"}
	for _, way := range chromium.Rows(1, "script", "extension") {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			var b *chromium.Browser
			body := tool
			if way == "extension" {
				b = s.extended(chromium.Options{WebMCP: true})
			} else {
				b = chromium.Shared(t, chromium.Options{WebMCP: true})
				body += `<script src="http://HUB/tab.js"></script>`
			}
			url := s.host(body, "")
			b.Open(url)
			raw, err := s.hub.Call(t.Context(), hub.Call{By: tester, Name: s.name("go")})
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{words[way], `"isError":true`, "The page is now at " + url, "?next (“Somebody’s page”). Tools there: " + s.name("there") + "."} {
				if !strings.Contains(string(raw), want) {
					t.Errorf("%s lacks %s", raw, want)
				}
			}
		})
	}
}
