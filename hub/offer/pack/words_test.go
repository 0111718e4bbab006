package pack

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the words of the packs in testdata")

// What the owner reads is all that they know of a pack: read the files as its owner would.
func TestWords(t *testing.T) {
	for _, name := range []string{"shop", "flows", "script"} {
		p := parse(t, read(t, name+".json"))
		var b strings.Builder
		for _, line := range p.Words() {
			b.WriteString(line + "\n")
		}
		for _, tool := range p.AllTools() {
			b.WriteString("\n" + tool.Name + "\n")
			for _, args := range []json.RawMessage{nil, example(tool)} {
				b.WriteString("  " + strings.Join(tool.Words(args), "\n  ") + "\n")
			}
		}
		golden := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, _ := os.ReadFile(golden); string(want) != b.String() {
			t.Errorf("%s: the words are\n%s", name, b.String())
		}
	}
}

// example returns arguments of a tool.
func example(t *Tool) json.RawMessage {
	if len(t.Examples) > 0 && t.Examples[0].Input != nil {
		return t.Examples[0].Input
	}
	return json.RawMessage(`{}`)
}

// What a step is said to do is what it does: the browser's reading of names and values counts
// (content/steps/find.ts and values.ts).
func TestStepsInWords(t *testing.T) {
	shop := string(read(t, "shop.json"))
	const click = `{"click": {"target": {"role": "button", "name": "Order", "in": {"role": "form", "name": "Checkout"}}, "navigates": true}}`
	for _, test := range []struct{ step, args, want string }{
		{`{"click": {"target": {"role": "button", "name": "....."}}}`, `{}`, `clicks button whose name ends with ".."`},
		{`{"click": {"target": {"role": "button", "nth": 1}}}`, `{}`, `clicks the first button`},
		{`{"click": {"target": {"label": "Name", "nth": 12, "in": {"role": "form", "nth": -1}}}}`, `{}`, `clicks the 12th field "Name" in the last form`},
		{`{"click": {"target": {"role": "button", "name": "Pay...", "nth": -23}}}`, `{}`, `clicks the 23rd button whose name begins with "Pay" from the end`},
		{`{"request": {"method": "POST", "path": "/a", "form": {"n": {"arg": "note"}, "m": "no. ${note}"}}}`, `{"note": 12345678901234567890}`, `sends POST /a and the fields m="no. 12345678901234567000", n=12345678901234567000`},
		{`{"request": {"method": "POST", "path": "/a", "form": {"n": {"from": "args.note"}}}}`, `{"note": "all of it"}`, `sends POST /a and the fields n="all of it"`},
		{`{"request": {"method": "POST", "path": "/a", "json": {"n": {"from": "args.note"}, "m": "x ${note}"}}}`, `{}`, `sends POST /a and the JSON {}`},
		{`{"request": {"method": "POST", "path": "/a", "json": {"n": {"from": "args.note"}}}}`, ``, `sends POST /a and the JSON {"n":<the argument note>}`},
		{`{"request": {"method": "POST", "path": "/a", "json": {"n": {"from": "cart.number"}}}}`, `{}`, `sends POST /a and the JSON {"n":<what cart.number gives of what it has read>}`},
	} {
		var args json.RawMessage
		if test.args != "" {
			args = json.RawMessage(test.args)
		}
		tool := parse(t, []byte(strings.Replace(shop, click, test.step, 1))).Tool("order")
		if words := strings.Join(tool.Words(args), "\n"); !strings.Contains(words, test.want+"\n") {
			t.Errorf("%s with %s:\n%s\nwant %s", test.step, test.args, words, test.want)
		}
	}
}

// A field that the page itself has for its token is one, whatever its name says.
func TestFieldsOfTokens(t *testing.T) {
	shop := string(read(t, "shop.json"))
	const token = `"token": {"meta": "csrf-token", "header": "X-CSRF-Token"}`
	for _, is := range []string{
		`{"hidden": "fb_dtsg", "field": "fb_dtsg"}`, `{"page": {"path": "/me", "selector": "input[name=\"fb_dtsg\"]"}, "field": "fb_dtsg"}`,
		`{"cookie": "csrftoken", "field": "csrfmiddlewaretoken"}`, `{"meta": "csrf-token", "field": "authenticity_token"}`,
	} {
		parse(t, []byte(strings.Replace(shop, token, `"token": `+is, 1)))
	}
}

// A GET may do anything at its server, and DELETE says that something goes.
func TestClassOfRequests(t *testing.T) {
	p := parse(t, []byte(`{"tabhubPack": 1, "name": "a", "match": ["https://a.example.com/*"], "tools": [
		{"name": "a", "description": "a", "annotations": {"readOnlyHint": true}, "steps": [{"request": {"path": "/logout"}}]},
		{"name": "b", "description": "b", "steps": [{"request": {"path": "/b", "method": "DELETE"}}]}]}`))
	if words := p.Words()[0]; !strings.Contains(words, "it sends DELETE /b, asks for /logout and reads pages") || !strings.Contains(words, "what b changes cannot be undone") {
		t.Error(words)
	}
}
