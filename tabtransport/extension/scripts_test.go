package extension_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"tabhub/spec"
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
		b := h.browse(chromium.Options{WebMCP: native})
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
		says("Chrome does not let this extension run user scripts yet", "Allow User Scripts")
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
