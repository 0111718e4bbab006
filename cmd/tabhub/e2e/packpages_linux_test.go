package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tabhub/hub/offer/pack"
	"tabhub/hub/offer/pack/foreign"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport/tabtest/chromium"
	"tabhub/tabtransport/tabtest/packpages"
)

// addPacks adds the packs of a directory as an owner does: at a terminal, where the person says yes.
func (p *place) addPacks(files map[string][]byte) {
	p.t.Helper()
	dir := p.t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
	if said := p.onTerminal("y\n", "pack", "add", dir); !strings.Contains(said, "is in use") && !strings.Contains(said, "are in use") {
		p.t.Fatalf("accepted: %s", said)
	}
}

// packTool is a call of a pack's tool, and what it must give.
type packTool struct {
	pack, tool, at string
	input, gives   json.RawMessage
	acts           string // what the pages' server counts; "": nothing
}

// name awaits the tool in the client's list, at the site of the server.
func (r packTool) name(h *host, s *packpages.Server) string {
	h.t.Helper()
	port := s.URL[strings.LastIndexByte(s.URL, ':')+1:]
	late := time.After(timeout)
	for {
		list, err := h.session.ListTools(h.place.within(), &mcp.ListToolsParams{})
		if err != nil {
			h.t.Fatal(err)
		}
		var packs []string
		for _, tool := range list.Tools {
			if !strings.HasPrefix(tool.Name, "pack_") {
				continue
			}
			if strings.HasPrefix(tool.Name, "pack_"+r.pack+"_") && strings.HasSuffix(tool.Name, "_"+port+"_"+r.tool) {
				return tool.Name
			}
			packs = append(packs, tool.Name)
		}
		select {
		case <-h.changed:
		case <-late:
			h.t.Fatalf("%s's %s at %s is not listed; the packs' tools are %q", r.pack, r.tool, s.URL, packs)
		}
	}
}

// ask calls the tool.
func (r packTool) ask(h *host, name string) answer {
	h.t.Helper()
	var input any = map[string]any{}
	if r.input != nil {
		input = r.input
	}
	result, err := h.session.CallTool(h.place.within(), &mcp.CallToolParams{Name: name, Arguments: input})
	if err != nil {
		h.t.Fatal(err)
	}
	raw, err := json.Marshal(result)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer{result: raw}
}

// call calls the tool once on its page, and checks what it gives and what the server was asked to do.
func (r packTool) call(t *testing.T, h *host, b *chromium.Browser) {
	s := packpages.New(t)
	page := b.Open(s.URL + r.at)
	defer page.Close()
	name := r.name(h, s)
	a := r.ask(h, name)
	if a.outcome() != "ok" {
		t.Fatalf("%s: %s: %s", name, a.outcome(), a.result)
	}
	got := rawjson.Get(a.result, "structuredContent")
	if !has(value(got), value(r.gives)) {
		t.Errorf("%s gives %s, want %s", name, got, r.gives)
	}
	if from, _ := rawjson.String(rawjson.Get(a.result, "_meta", "tabhub/source", "pack")); from != r.pack {
		t.Errorf("%s: the result does not say that it is of the pack: %s", name, rawjson.Get(a.result, "_meta"))
	}
	if r.acts != "" && s.Acts(r.acts) != 1 {
		t.Errorf("%s was done %d times", name, s.Acts(r.acts))
	}
}

// has says whether got has what want has: members of objects, and the first elements of arrays.
func has(got, want any) bool {
	switch want := want.(type) {
	case nil:
		return true
	case map[string]any:
		object, ok := got.(map[string]any)
		for name, value := range want {
			member, there := object[name]
			ok = ok && there && (value == nil && member == nil || value != nil && has(member, value))
		}
		return ok
	case []any:
		array, ok := got.([]any)
		if !ok || len(array) < len(want) {
			return false
		}
		for i, value := range want {
			if !has(array[i], value) {
				return false
			}
		}
		return true
	}
	return got == want
}

// actsOf are the tools that the pages' server counts.
var actsOf = []string{"add_to_cart", "set_quantity", "checkout", "create_event", "delete_event", "send_mail", "archive", "contact", "subscribe", "survey"}

// The 20 tools that packs give to sites without tools: listed, called by a third party's client, done once, with
// results that fit; whether the browser has WebMCP of its own or not.
func TestToolsOfPacks(t *testing.T) {
	t.Parallel()
	for _, native := range []bool{true, false} {
		t.Run(fmt.Sprintf("native=%t", native), func(t *testing.T) {
			p := newPlace(t)
			h := p.host()
			b := p.browseWith(chromium.Options{WebMCP: native})
			files := packpages.Packs(t)
			p.addPacks(files)
			for _, file := range slices.Sorted(maps.Keys(files)) {
				doc, err := pack.Parse(files[file])
				if err != nil {
					t.Fatal(err)
				}
				for i := range doc.Tools {
					tool := &doc.Tools[i]
					r := packTool{pack: doc.Name, tool: tool.Name, at: tool.Examples[0].At, input: tool.Examples[0].Input, gives: tool.Examples[0].Gives}
					if slices.Contains(actsOf, tool.Name) {
						r.acts = tool.Name
					}
					t.Run(tool.Name, func(t *testing.T) { r.call(t, h, b) })
				}
			}
		})
	}
}

// examples are calls of the packs in hub/offer/pack/examples.
var examples = []packTool{
	{"wikipedia", "search", "/wiki/Special:Search", raw(`{"query":"green"}`), raw(`{"total":1,"articles":[{"title":"Green tea","words":100}]}`), ""},
	{"wikipedia", "summary", "/wiki/Special:Search", raw(`{"title":"Green tea"}`), raw(`{"title":"Green tea","summary":"Green tea is a type of tea that is not oxidized.","url":"https://en.wikipedia.org/wiki/Green_tea"}`), ""},
	{"hackernews", "stories", "/news", nil, raw(`{"stories":[{"id":"101","title":"A small compiler","link":"https://example.org/compiler","site":"example.org"},{"id":"102"}],"details":[{"points":120,"by":"ada","at":"2026-05-03T10:00:00"}]}`), ""},
	{"hackernews", "comments", "/news", raw(`{"id":"101"}`), raw(`{"title":"A small compiler","comments":[{"id":"201","depth":"0","by":"grace","text":"Nice work."},{"id":"202","depth":"1"}]}`), ""},
	{"hackernews", "comments", "/news", raw(`{"id":"102"}`), raw(`{"title":"Why tables are fine","comments":[]}`), ""},
	{"hackernews", "vote", "/news", raw(`{"id":"102"}`), raw(`{"title":"Why tables are fine","unvote":"unvote"}`), "vote"},
	{"koha", "search", "/cgi-bin/koha/opac-main.pl", raw(`{"query":"Austen","in":"au"}`), raw(`{"found":"Your search returned 2 results.","titles":[{"title":"Pride and prejudice","author":"Austen, Jane"},{"title":"Emma"}]}`), ""},
	{"koha", "holdings", "/cgi-bin/koha/opac-main.pl", raw(`{"number":"7"}`), raw(`{"title":"Pride and prejudice","copies":[{"Current library":"Main library","Status":"Available","Date due":""},{"Status":"Checked out"}]}`), ""},
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// value returns the value of JSON, nil if it is none.
func value(b json.RawMessage) (v any) {
	_ = json.Unmarshal(b, &v)
	return v
}

// The examples work on pages that are built as the real ones are.
func TestExamplesOfPacks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	h := p.host()
	b := p.browse()
	files := map[string][]byte{}
	for _, name := range []string{"wikipedia", "hackernews", "koha"} {
		text, err := os.ReadFile("../../../hub/offer/pack/examples/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var doc spec.Pack
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		here(doc.Match)
		for _, tool := range doc.Tools {
			here(tool.On)
		}
		if files[name+".json"], err = json.Marshal(doc); err != nil {
			t.Fatal(err)
		}
	}
	p.addPacks(files)
	for _, r := range examples {
		t.Run(r.pack+" "+r.tool, func(t *testing.T) { r.call(t, h, b) })
	}
}

// today is a package of webmcp-today for the tea shop.
const today = `{"version": 1, "domain": "teashop.com", "urlPatterns": ["https://teashop.com/shop/*"], "title": "Tea shop", "description": "Finds tea and buys it.", "minEngine": 1,
	"api": {"baseUrl": "https://teashop.com",
		"auth": {"csrf": {"source": {"endpoint": "cart", "pattern": "name=\"csrf\" value=\"([^\"]+)\""}, "sendAs": {"in": "header", "name": "X-CSRF-Token"}}},
		"endpoints": {
			"cart": {"method": "GET", "path": "/shop/cart"},
			"find": {"method": "GET", "path": "/shop/api/products", "query": {"q": "{{q}}"}, "returns": "{names: products[*].name}"},
			"add": {"method": "POST", "path": "/shop/api/cart", "body": {"id": "{{id}}", "quantity": "{{quantity}}"}, "auth": ["csrf"], "errorPath": ["error"], "returns": "items[-1].{id: id, quantity: quantity}"},
			"fail": {"method": "GET", "path": "/shop/api/products", "errorPath": ["products"]}}},
	"tools": [
		{"name": "find", "description": "Finds tea.", "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}, "additionalProperties": false}, "annotations": {"readOnlyHint": true}, "execution": {"mode": "api", "endpoint": "find"}},
		{"name": "add", "description": "Puts tea into the cart.", "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}, "quantity": {"type": "integer"}}, "required": ["id"], "additionalProperties": false}, "execution": {"mode": "api", "endpoint": "add"}},
		{"name": "fail", "description": "Answers with what counts as an error.", "inputSchema": {"type": "object", "additionalProperties": false}, "annotations": {"readOnlyHint": true}, "execution": {"mode": "api", "endpoint": "fail"}}]}`

// A package of another program does the same when it has been made a pack: with its token, and an answer
// that says of itself that it is an error is one.
func TestImportedPack(t *testing.T) {
	t.Parallel()
	doc, notes, err := foreign.Import("tea.json", raw(today))
	if err != nil || len(notes) > 0 {
		t.Fatalf("%v, %q", err, notes)
	}
	here(doc.Match)
	p := newPlace(t)
	h := p.host()
	b := p.browse()
	made, err := pack.New(doc)
	if err != nil {
		t.Fatal(err)
	}
	p.addPacks(map[string][]byte{"tea.json": made.Text()})
	for _, r := range []packTool{
		{"teashop-com", "find", "/shop/", raw(`{"q":"green"}`), raw(`{"names":["Green tea"]}`), ""},
		{"teashop-com", "find", "/shop/", nil, raw(`{"names":["Green tea","Black tea","Mint"]}`), ""},
		{"teashop-com", "add", "/shop/", raw(`{"id":"mint","quantity":4}`), raw(`{"result":{"id":"mint","quantity":4},"error":null}`), "add_to_cart"},
	} {
		t.Run(r.tool, func(t *testing.T) { r.call(t, h, b) })
	}
	s := packpages.New(t)
	defer b.Open(s.URL + "/shop/").Close()
	r := packTool{pack: "teashop-com", tool: "fail"}
	if a := r.ask(h, r.name(h, s)); a.outcome() == "ok" {
		t.Errorf("an answer that is an error ends well: %s", a.result)
	}
}

// manifest is one of webmcp-gen for the tea shop, and adapter one of bb-sites.
const (
	manifest = `{"domain": "teashop.com", "task": "count", "url": "https://teashop.com/shop/", "tools": [
		{"name": "count", "description": "Counts the products on the page.", "inputSchema": {"type": "object", "properties": {"under": {"type": "number"}}},
		 "implementation": {"kind": "dom", "source": "const prices = [...document.querySelectorAll('tbody td:nth-child(2)')].map((cell) => Number(cell.textContent.slice(2)));\nif (input.under <= 0) return { success: false, error: 'nothing is for free' };\nreturn { success: true, n: prices.filter((price) => price < (input.under ?? Infinity)).length };"},
		 "fixtureInput": {"under": 4}}]}`
	adapter = `/* @meta
{"name": "tea/stock", "description": "Says what is in stock", "domain": "teashop.com", "args": {"query": {"required": true}}, "readOnly": true}
*/
async function(args) {
	const r = await fetch('/shop/api/products?q=' + encodeURIComponent(args.query), {credentials: 'include'});
	if (args.query === '?') return {error: 'HTTP 401', hint: 'Log in first'};
	return {stock: (await r.json()).products.map((p) => p.stock)};
}`
)

// Code of other programs registers its tools as a pack's script, once the person in front of the browser allows it.
func TestImportedScripts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	h := p.host()
	b := p.browse()
	s := packpages.New(t)
	files := map[string][]byte{}
	for file, text := range map[string]string{"manifest.json": manifest, "stock.js": adapter} {
		doc, _, err := foreign.Import(file, raw(text))
		if err != nil {
			t.Fatal(err)
		}
		here(doc.Match)
		for i := range doc.Tools {
			doc.Tools[i].Examples = nil // they are at the site
		}
		made, err := pack.New(doc)
		if err != nil {
			t.Fatal(err)
		}
		files[doc.Name+".json"] = made.Text()
	}
	p.addPacks(files)
	allowUserScripts(b)
	page := b.Open(s.URL + "/shop/")
	popup := openPopup(b, s.URL)
	for _, name := range []string{"tea", "teashop-com-count"} {
		popup.Click("input[data-pack=" + name + "]")
	}
	popup.WaitFor("chrome.userScripts?.getScripts().then((all) => all.length === 2)")
	popup.Close()
	page.Reload()
	for _, r := range []struct {
		packTool
		fails string
	}{
		{packTool{pack: "teashop-com-count", tool: "count", input: raw(`{"under":4}`), gives: raw(`{"success":true,"n":2}`)}, ""},
		{packTool{pack: "teashop-com-count", tool: "count", input: raw(`{"under":0}`)}, "nothing is for free"},
		{packTool{pack: "tea", tool: "stock", input: raw(`{"query":"tea"}`), gives: raw(`{"stock":[12,40]}`)}, ""},
		{packTool{pack: "tea", tool: "stock", input: raw(`{"query":"?"}`)}, "HTTP 401: Log in first"},
	} {
		a := r.ask(h, r.name(h, s))
		if got := rawjson.Get(a.result, "structuredContent"); (a.outcome() == "ok") != (r.fails == "") || !has(value(got), value(r.gives)) || !strings.Contains(string(a.result), r.fails) {
			t.Errorf("%s: %s, want %s%s", r.tool, a.result, r.gives, r.fails)
		}
	}
}

// allowUserScripts switches on what Chrome's page of the extension has for scripts.
func allowUserScripts(b *chromium.Browser) {
	settings := b.Open("chrome://extensions/?id=" + b.ExtensionID)
	defer settings.Close()
	settings.Eval(fmt.Sprintf("chrome.developerPrivate.updateExtensionConfiguration({extensionId: %q, userScriptsAccess: true})", b.ExtensionID))
}

// openPopup opens the extension's popup, in a tab, as it is in the tab of a site.
func openPopup(b *chromium.Browser, origin string) *chromium.Page {
	var tab int64
	w := b.Worker()
	defer w.Close()
	w.Into(fmt.Sprintf("chrome.tabs.query({url: %q}).then(([tab]) => tab.id)", origin+"/*"), &tab)
	return b.Open(fmt.Sprintf("chrome-extension://%s/popup.html?tab=%d", b.ExtensionID, tab))
}

// here has patterns be about this computer instead of their sites.
func here(patterns []string) {
	for i, m := range patterns {
		patterns[i] = regexp.MustCompile(`^https://[^/]+`).ReplaceAllString(m, "http://localhost")
	}
}

// A client lists a pack's tools, and uses them, while no tab shows the site: a call opens its start page.
func TestPackOpensItsPage(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	h := p.host()
	b := p.browse()
	s := packpages.New(t)
	text := packpages.Packs(t)["shop.json"]
	p.addPacks(map[string][]byte{"shop.json": bytes.ReplaceAll(text, []byte("http://localhost"), []byte(s.URL))})
	r := packTool{pack: "pages-shop", tool: "add_to_cart", input: raw(`{"id":"mint"}`)}
	a := r.ask(h, r.name(h, s))
	if a.outcome() != "ok" || s.Acts(r.tool) != 1 {
		t.Errorf("without a tab the tool ends with %s and was done %d times: %s", a.outcome(), s.Acts(r.tool), a.result)
	}
	b.AttachURL(s.URL + "/shop/").Close()
}

// Calls of one tab at the same time do not mix their steps: each fills its own value in and submits it, once.
func TestPackCallsDoNotMix(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	h := p.host()
	b := p.browse()
	s := packpages.New(t)
	p.addPacks(packpages.Packs(t))
	defer b.Open(s.URL + "/shop/").Close()
	name := packTool{pack: "pages-shop", tool: "set_quantity"}.name(h, s)
	const calls = 4
	said := make(chan string, calls)
	for n := range calls {
		go func() {
			result, err := h.session.CallTool(p.within(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{"name": "Black tea", "quantity": n}})
			got, _ := json.Marshal(result)
			want := fmt.Sprintf(`{"items":[{"name":"Black tea","quantity":"%d"}]}`, n)
			if err == nil && has(value(rawjson.Get(got, "structuredContent")), value(raw(want))) {
				said <- ""
			} else {
				said <- fmt.Sprintf("quantity %d: %v %s", n, err, got)
			}
		}()
	}
	for range calls {
		if wrong := <-said; wrong != "" {
			t.Error(wrong)
		}
	}
	if n := s.Acts("set_quantity"); n != calls {
		t.Errorf("%d calls have changed the cart %d times", calls, n)
	}
}

// A page that has changed: the tool says what was not found, what there is instead, and what was done;
// nothing half done is told as done.
func TestPackOnAChangedPage(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	h := p.host()
	b := p.browse()
	s := packpages.New(t)
	p.addPacks(packpages.Packs(t))
	for _, test := range []struct {
		change string
		packTool
		says []string
	}{
		{"products", packTool{pack: "pages-shop", tool: "product_table", at: "/shop/"}, []string{"STEP_NOT_FOUND", `no column \"Price\"`, `columnheader \"Cost\"`}},
		{"checkout", packTool{pack: "pages-shop", tool: "checkout", at: "/shop/", input: raw(`{"name":"Ada","street":"High Street 1","country":"Austria"}`)},
			[]string{"STEP_NOT_FOUND", `button \"Order\"`, `button \"Buy now\"`, "3", "done"}},
	} {
		t.Run(test.tool, func(t *testing.T) {
			page := b.Open(s.URL + test.at)
			defer page.Close()
			name := test.name(h, s)
			s.Change(test.change)
			page.Reload()
			a := test.ask(h, name)
			if a.outcome() == "ok" {
				t.Fatalf("%s ends well on a page that has changed: %s", name, a.result)
			}
			for _, says := range test.says {
				if !strings.Contains(string(a.result), says) {
					t.Errorf("%s does not say %s: %s", name, says, a.result)
				}
			}
			if s.Acts(test.tool) != 0 {
				t.Errorf("%s was done %d times, and says that it failed", name, s.Acts(test.tool))
			}
		})
	}
	stdout, stderr, exit := p.run("pack", "test", "pages-shop", "--at", s.URL+"/shop/")
	if exit != 1 || !strings.Contains(stdout+stderr, "Price") {
		t.Errorf("pack test ends with %d on a page that has changed, and says:\n%s%s", exit, stdout, stderr)
	}
}

const userScript = `// ==UserScript==
// @name   Notes
// @match  http://localhost/shop/*
// @grant  none
// ==/UserScript==
document.modelContext.registerTool({
  name: "heading",
  description: "Reads the heading of the page.",
  annotations: { readOnlyHint: true },
  execute: async ({ say }) => {
    if (say === undefined) throw new Error("say what");
    return { heading: document.querySelector("h1, h2")?.textContent ?? document.title, say };
  },
});
`

// A user script that registers tools of WebMCP is a pack: once its owner has added it and allowed it in the browser,
// clients list its tools and call them, and they are the pack's in name and result.
func TestScriptOfAPack(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	h := p.host()
	b := p.browse()
	s := packpages.New(t)
	p.addPacks(map[string][]byte{"notes.user.js": []byte(userScript)})
	page := b.Open(s.URL + "/shop/")
	defer page.Close()
	allowUserScripts(b)
	popup := openPopup(b, s.URL)
	popup.Click("input[data-pack=notes]")
	popup.WaitFor("chrome.userScripts?.getScripts().then((all) => all.length === 1)")
	popup.Close()
	page.Reload()
	r := packTool{pack: "notes", tool: "heading", input: raw(`{"say":"tea"}`)}
	name := r.name(h, s)
	a := r.ask(h, name)
	if got := value(rawjson.Get(a.result, "structuredContent")); a.outcome() != "ok" || !has(got, value(raw(`{"say":"tea"}`))) {
		t.Errorf("%s: %s: %s", name, a.outcome(), a.result)
	}
	if from, _ := rawjson.String(rawjson.Get(a.result, "_meta", "tabhub/source", "pack")); from != "notes" {
		t.Errorf("the result does not say that it is of the pack: %s", a.result)
	}
	r.input = nil
	if a := r.ask(h, name); a.outcome() == "ok" || !strings.Contains(string(a.result), "STEP_SCRIPT: say what") {
		t.Errorf("a script that throws: %s: %s", a.outcome(), a.result)
	}
}
