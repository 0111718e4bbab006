package extension_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// scriptPack is a pack with a script for pages of a site.
func (h *hub) scriptPack(name, match, script string) spec.ActivePack {
	text, err := json.Marshal(spec.Pack{Format: spec.PackFormat, Name: name, Match: []string{match}, Script: script})
	if err != nil {
		h.t.Fatal(err)
	}
	p := packFor(name, match)
	p.Hash, p.Script = fmt.Sprintf("%x", sha256.Sum256(text)), true
	h.change(func() {
		if h.documents == nil {
			h.documents = map[string]string{}
		}
		h.documents[p.Hash] = string(text)
	})
	return p
}

// letScripts uses the browser's switch for user scripts of the extension.
func letScripts(b *chromium.Browser, on bool) {
	p := b.Open("chrome://extensions/?id=" + b.ExtensionID)
	p.Eval(fmt.Sprintf("chrome.developerPrivate.updateExtensionConfiguration({extensionId: %q, userScriptsAccess: %v})", b.ExtensionID, on))
	p.Close()
}

// popupOf opens the popup for the tab at an address.
func popupOf(b *chromium.Browser, url string) (tab int64, popup *chromium.Page) {
	w := b.Worker()
	defer w.Close()
	w.Into(fmt.Sprintf("chrome.tabs.query({url: %q}).then(([tab]) => tab.id)", url+"/*"), &tab)
	return tab, b.Open(fmt.Sprintf("chrome-extension://%s/popup.html?tab=%d", b.ExtensionID, tab))
}

// registered is an expression of the worker: how many scripts the browser runs.
const registered = `chrome.userScripts.getScripts().then((all) => all.length)`

// The script of a pack does nothing before the person in front of the browser has allowed it, and says until then
// what it could do. Where Chrome does not let it run, the popup says how. Then its tools are those of the pack.
func TestScriptIsAskedAbout(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, native bool) {
		h := newHub(t)
		// A browser of its own: in one that is shared a test before may have used Chrome's switch.
		b := h.browse(chromium.Options{WebMCP: native, Profile: filepath.Join(t.TempDir(), "profile")})
		url := site(t, map[string]string{"/": `<!doctype html><title>Notes</title>`})
		wild := h.scriptPack("wild", url+"/*", `
			document.title = "changed";
			const out = new AbortController();
			document.modelContext.registerTool({ name: "title", description: "Reads the title", inputSchema: { type: "object" }, execute: () => document.title });
			navigator.modelContext.registerTool({ name: "gone", description: "Is taken back", execute() {} }, { signal: out.signal });
			document.modelContext.registerTool({ name: "title", description: "again", execute() {} }).catch((error) => document.documentElement.dataset.again = error.name);
			out.abort();`)
		h.tellPacks(wild)
		page := b.Open(url)
		tab, popup := popupOf(b, url)
		says := func(texts ...string) {
			t.Helper()
			for _, text := range texts {
				popup.WaitFor("document.querySelector('#sites').innerText.includes(" + strconv.Quote(text) + ")")
			}
		}
		says("It waits for you", "It can do anything on 127.0.0.1: read and change what you see there, and act as you.", wild.Hash[:12])
		picture(t, popup, "popup-script-asks")
		page.Reload()
		if is := page.Eval("document.title"); is != `"Notes"` {
			t.Errorf("before it was allowed, the script has run: %s", is)
		}
		popup.Click("input[data-pack=wild]")
		says("The browser does not let this extension run user scripts yet", "Allow User Scripts")
		picture(t, popup, "popup-script-switch")

		letScripts(b, true)
		popup.WaitFor("!document.querySelector('#sites').innerText.includes('Allow User Scripts')")
		picture(t, popup, "popup-script-runs")
		page.Reload()
		h.wait("the script's tool", func() bool { return slices.Equal(h.dumpTools(), []string{"title"}) })
		got := h.tool(tab, "title")
		if got.Pack == nil || *got.Pack != wild.PackRef || got.Origin != url || got.Description != "Reads the title" || string(got.InputSchema) != `{"type":"object"}` {
			t.Errorf("offered: %+v", got)
		}
		page.WaitFor("document.documentElement.dataset.again === 'InvalidStateError'")
		// What a script offers is no matter of the page's.
		if is := page.Eval("document.modelContext ? document.modelContext.getTools().then((all) => all.length) : 0"); is != "0" {
			t.Errorf("the page sees %s tools", is)
		}
		popup.Close() // which would keep the worker
		h.stopWorker(b)
		h.wait("the tool, from the next worker", func() bool { return slices.Equal(h.dumpTools(), []string{"title"}) })

		// Switched off, removed: it runs no more.
		_, popup = popupOf(b, url)
		popup.Click("input[data-pack=wild]")
		h.wait("nothing", func() bool { return len(h.dumpTools()) == 0 })
		b.Worker().WaitFor(registered + ".then((n) => n === 0)")
	})
}

// allowScripts has the person in front of the browser allow scripts in the popup for the page at an address,
// and Chrome run them.
func allowScripts(b *chromium.Browser, url string, packs ...spec.ActivePack) {
	letScripts(b, true)
	_, popup := popupOf(b, url)
	popup.Click("input[data-pack=" + packs[0].Name + "]") // a click: Chrome gives the permission for nothing less
	for _, p := range packs[1:] {
		popup.Eval(fmt.Sprintf(`chrome.runtime.sendMessage({ask: "pack", hash: %q, on: true})`, p.Hash))
	}
	w := b.Worker()
	w.WaitFor(fmt.Sprintf("%s.then((n) => n === %d)", registered, min(len(packs), 9)))
	w.Close()
	popup.Close()
}

// A call of a script's tool reaches the script of that pack once, and what came of it is said as it was, whatever
// becomes of the worker and the page meanwhile.
func TestScriptIsCalled(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, native bool) {
		h := newHub(t)
		b := h.browse(chromium.Options{WebMCP: native})
		url := site(t, map[string]string{"/cart": `<!doctype html><title>Notes</title>`, "/away": "away"})
		tools := func(who string) string {
			return fmt.Sprintf(`
			const calls = (what) => (document.documentElement.dataset[what] = Number(document.documentElement.dataset[what] ?? 0) + 1);
			const add = (name, execute) => document.modelContext.registerTool({ name, description: name, execute });
			add("text", ({ say }) => %q + " says " + say);
			add("json", () => ({ words: 3 }));
			add("content", () => ({ content: [{ type: "text", text: "mine" }], isError: true }));
			add("throws", () => { throw new Error("no such note"); });
			add("slow", async (_, { signal }) => { calls("slow"); await new Promise((go, stop) => { addEventListener("go", go); signal.addEventListener("abort", () => { calls("stopped"); stop(signal.reason); }); }); return "went"; });
			add("leaves", () => { location.href = "/away"; return new Promise(() => {}); });`, who)
		}
		one, two := h.scriptPack("one", url+"/cart*", tools("one")), h.scriptPack("two", url+"/cart*", tools("two"))
		h.tellPacks(one, two)
		page := b.Open(url + "/cart")
		allowScripts(b, url, one, two)
		page.Reload()
		var tab int64
		h.wait("the tools of both", func() bool {
			for id, v := range h.tabs {
				tab = id
				return len(v.tools) == 12
			}
			return false
		})
		call := func(p spec.ActivePack, tool, args string) string {
			p.Tools = []spec.ActivePackTool{{Name: tool}}
			return h.run(t.Context(), tab, p, "", args, tabtransport.Wait{Timeout: chromium.Timeout})
		}
		begin := func(tool string) <-chan string {
			p := one
			p.Tools = []spec.ActivePackTool{{Name: tool}}
			return h.beginRun(t.Context(), tab, p, "", "{}")
		}
		for _, c := range []struct {
			pack             spec.ActivePack
			tool, args, want string
		}{
			{one, "text", `{"say":"a"}`, `{"content":[{"type":"text","text":"one says a"}]} []`},
			{two, "text", `{"say":"b"}`, `{"content":[{"type":"text","text":"two says b"}]} []`},
			{one, "json", `{}`, `{"content":[{"type":"text","text":"{\"words\":3}"}],"structuredContent":{"words":3}} []`},
			{one, "content", `{}`, `{"content":[{"type":"text","text":"mine"}],"isError":true} []`},
			{two, "throws", `{}`, `0 STEP_SCRIPT no such note []`},
		} {
			if got := call(c.pack, c.tool, c.args); got != c.want {
				t.Errorf("%s of %s: got %s, want %s", c.tool, c.pack.Name, got, c.want)
			}
		}
		// The worker is stopped while a call runs.
		slow := begin("slow")
		page.WaitFor("document.documentElement.dataset.slow === '1'")
		h.stopWorker(b)
		page.Eval("dispatchEvent(new Event('go'))")
		if got := <-slow; got != `{"content":[{"type":"text","text":"went"}]} []` {
			t.Errorf("over a restart of the worker: %s", got)
		}
		// The pack is switched off while a call runs; another one is as it was.
		slow = begin("slow")
		page.WaitFor("document.documentElement.dataset.slow === '2'")
		h.tellPacks(two)
		if got := <-slow; got != `0 STEP_STOPPED the pack one has been removed []` {
			t.Errorf("of a pack that is removed: %s", got)
		}
		page.WaitFor("document.documentElement.dataset.stopped === '1'")
		if got := call(two, "text", `{"say":"c"}`); got != `{"content":[{"type":"text","text":"two says c"}]} []` {
			t.Errorf("of the other: %s", got)
		}
		if got := call(two, "leaves", `{}`); got != `0 STEP_LOST the page went away before the script had answered []` {
			t.Errorf("of a page that goes: %s", got)
		}
	})
}

// A script runs where its owner shares the site, its pack is there and the browser keeps it apart from others, and
// nowhere else.
func TestScriptRunsNowhereElse(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, map[string]string{"/": `<!doctype html><title>Notes</title>`})
	var packs []spec.ActivePack
	for i := range 10 {
		packs = append(packs, h.scriptPack(fmt.Sprintf("p%d", i), url+"/*", `
			const mine = { isOwn: globalThis.world === undefined, secret: globalThis.tabhubScript };
			globalThis.world = true;
			document.documentElement.dataset.ran = Number(document.documentElement.dataset.ran ?? 0) + 1;
			// What it says of itself makes it no other pack.
			try { chrome.runtime.connect({ name: "frame" }); chrome.runtime.sendMessage({ ask: "status" }, () => void chrome.runtime.lastError); } catch {}
			document.modelContext.registerTool({ name: "world", description: JSON.stringify(mine), pack: { name: "p0", hash: "x" }, execute() {} });`))
	}
	h.tellPacks(packs...)
	page := b.Open(url)
	allowScripts(b, url, packs...)
	page.Reload()
	h.wait("the tools of nine", func() bool { return len(h.dumpTools()) == 9 })
	of := map[string]bool{}
	for _, id := range h.ids() {
		for _, it := range h.tabs[id].tools {
			of[it.Pack.Name] = true
			if it.Description != `{"isOwn":true}` {
				t.Errorf("the world of %s: %s", it.Pack.Name, it.Description)
			}
		}
	}
	if len(of) != 9 || of["p9"] {
		t.Errorf("the tools are of %v", of)
	}
	tab, popup := popupOf(b, url)
	popup.WaitFor("document.querySelector('#sites').innerText.includes('at most 9 scripts')")
	popup.Close()
	off, err := h.wire.SendRequest(t.Context(), spec.TabAddr{Peer: browserPeer}, &spec.ListPacks{}, tabtransport.Wait{Timeout: chromium.Timeout})
	if err != nil || !strings.Contains(string(off.Result), `"name":"p9"`) || strings.Contains(string(off.Result), `"name":"p0"`) {
		t.Errorf("not offered are %s, %v", off.Result, err)
	}

	ran := func() string {
		page.Reload()
		return page.Eval("new Promise((done) => setTimeout(() => done(document.documentElement.dataset.ran ?? '0'), 300))")
	}
	switchSite(b, url, false)
	w := b.Worker()
	w.WaitFor("chrome.userScripts.getScripts().then((all) => all.every(({ excludeMatches }) => excludeMatches?.length))")
	if n := ran(); n != `"0"` {
		t.Errorf("in a site that is off %s scripts have run", n)
	}
	switchSite(b, url, true)
	w.WaitFor("chrome.userScripts.getScripts().then((all) => all.every(({ excludeMatches }) => !excludeMatches?.length))")
	if n := ran(); n != `"9"` {
		t.Errorf("in a site that is on again %s scripts have run", n)
	}
	h.wait("the tools again", func() bool { return h.tabs[tab] != nil && len(h.tabs[tab].here()) > 0 })
	h.tellPacks(packs[0])
	w.WaitFor(registered + ".then((n) => n === 1)")
	h.tellPacks()
	w.WaitFor(registered + ".then((n) => n === 0)")
	w.WaitFor("chrome.storage.local.get().then((all) => !('scripts' in all) && !('packs' in all))")
	if n := ran(); n != `"0"` {
		t.Errorf("of packs that are removed %s scripts have run", n)
	}
}
