package extension_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// packFor is a pack for pages of a site, with tools that are offered on all of them.
func packFor(name, match string, tools ...string) spec.ActivePack {
	p := spec.ActivePack{PackRef: spec.PackRef{Name: name, Hash: name + "-1"}, Title: "Tools for it", Match: []string{match}}
	for _, tool := range tools {
		p.Tools = append(p.Tools, spec.ActivePackTool{Name: tool})
	}
	return p
}

// A pack's tools are offered on its pages and nowhere else: in pages that were open before it, in those that
// are opened later, in frames, and by the address that a page gives itself. They go with the pack.
func TestPackIsOfferedOnItsPages(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	pages := map[string]string{
		"/":             `<!doctype html><title>Home</title><iframe src="/orders/frame"></iframe>`,
		"/orders/":      `<!doctype html><title>Orders</title>`,
		"/orders/frame": `<!doctype html><title>Frame</title>`,
		"/orders/app":   `<!doctype html><title>App</title>`,
	}
	url := site(t, pages)
	p := b.Open(url + "/orders/")
	other := b.Open(site(t, pages) + "/orders/")
	orders := packFor("orders", url+"/orders/*", "list", "edit")
	orders.Tools[1].On = []string{url + "/orders/app*"}
	h.tellPacks(orders)
	tab := h.tabAt(url+"/orders/", "list")
	if got := h.tool(tab, "list"); got.Pack == nil || *got.Pack != orders.PackRef || got.Origin != url || got.FrameID != 0 || got.Description != "" {
		t.Errorf("offered: %+v", got)
	}
	// What a page becomes without a load counts, and not only for a while.
	p.Eval(`history.pushState(null, "", "/orders/app?1")`)
	h.tabAt(url+"/orders/", "list", "edit")
	h.stopWorker(b)
	h.tabAt(url+"/orders/", "list", "edit")
	p.Eval(`history.pushState(null, "", "/elsewhere")`)
	h.tabAt(url, []string{}...)
	p.Eval(`location.hash = "#x", history.pushState(null, "", "/orders/app")`)
	h.tabAt(url, "list", "edit")

	// A page that was loaded elsewhere, and one with a frame.
	p.Navigate(url + "/")
	h.wait("the frame's", func() bool {
		return h.tabs[tab] != nil && len(h.tabs[tab].tools) == 1 && h.tabs[tab].tools[0].FrameID != 0 && !h.tabs[tab].tools[0].Departed
	})
	p.Eval(`history.pushState(null, "", "/orders/app"), 0`)
	h.wait("the page's, too", func() bool {
		return slices.ContainsFunc(h.tabs[tab].tools, func(it item) bool { return it.Name == "edit" && it.FrameID == 0 })
	})

	other.Eval("1")
	h.tellPacks()
	h.tabAt(url, []string{}...)
	if n := len(h.ids()); n != 1 {
		t.Errorf("the hub knows %d tabs", n)
	}
}

// A browser without packs is as it was before there were any: no script more, and nothing is kept.
func TestWithoutPacks(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	has := `Promise.all([chrome.scripting.getRegisteredContentScripts(), chrome.storage.local.get(), chrome.storage.session.get()]).then(([scripts, local, session]) =>
		[scripts.map(({id}) => id).join(), "packs" in local, "runs" in session].join())`
	// Nor is there a document for clients' scripts.
	b.Worker().WaitFor(fmt.Sprintf(`(%s).then((is) => !is)`, offscreen))
	w := b.Worker()
	w.WaitFor(has + `.then((is) => is === "page,false,false")`)
	// Events that come with each page and frame wake the worker only if there is a use for them.
	const hears = "[chrome.webNavigation.onCommitted, chrome.webNavigation.onHistoryStateUpdated].map((event) => event.hasListeners()).join()"
	w.WaitFor(hears + ` === "false,false"`)
	h.tellPacks(packFor("orders", "https://a.example/*", "list"))
	w.WaitFor(has + `.then((is) => is.startsWith("packs,page,true") || is.startsWith("page,packs,true"))`)
	w.WaitFor(hears + ` === "false,true"`)
	h.tellPacks()
	w.WaitFor(has + `.then((is) => is.startsWith("page,false,"))`)
	w.WaitFor(hears + ` === "false,false"`)
}

// A site's own tool goes before that of a pack, and the owner learns why the other is left out. No page can say
// that its tool is a pack's.
func TestOwnToolGoesBeforeThatOfAPack(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, map[string]string{"/": `<!doctype html><title>Own</title><script>
		document.modelContext.registerTool({name: "search", description: "own", pack: {name: "orders", hash: "orders-1"}, execute: () => "own"});
	</script>`})
	h.tellPacks(packFor("orders", url+"/*", "search", "list"))
	b.Open(url)
	tab := h.tabWith("search", "list")
	h.wait("the site's own, and why the other is left out", func() bool {
		return !slices.ContainsFunc(h.tabs[tab].tools, func(it item) bool { return it.Name == "search" && it.Pack != nil }) &&
			equal(names(h.tabs[tab].tools), []string{"search", "list"}) && slices.ContainsFunc(h.tabs[tab].rejected, func(r spec.Rejection) bool {
			return r.Name == "search" && strings.Contains(r.Reason, "the pack orders: the site has a tool of that name")
		})
	})
	if got, err := h.call(tab, "search", "{}"); err != nil || !strings.Contains(got, "own") {
		t.Errorf("the site's own: %s, %v", got, err)
	}
	if got, err := h.call(tab, "list", "{}"); err == nil {
		t.Errorf("a pack's tool, called as one of the page: %s", got)
	}
}

// The person in front of the browser sees which packs a page has, and can switch each off there. A script does
// nothing before that person has allowed it.
func TestPopupSwitchesPacks(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, map[string]string{"/": `<!doctype html><title>Orders</title>`})
	script := packFor("wild", url+"/*")
	script.Script = true
	h.tellPacks(packFor("orders", url+"/*", "list"), script)
	b.Open(url)
	tab := h.tabWith("list")
	popup := b.Open(fmt.Sprintf("chrome-extension://%s/popup.html?tab=%d", b.ExtensionID, tab))
	for _, text := range []string{"1 tool", "of the pack orders", "can do anything"} {
		popup.WaitFor("document.querySelector('#sites').innerText.includes(" + strconv.Quote(text) + ")")
	}
	popup.Resize(390, 600)
	for _, dark := range []bool{true, false} {
		popup.Dark(dark)
		picture(t, popup, fmt.Sprintf("popup-packs-dark=%v", dark))
	}
	is := func(pack string, on bool) {
		t.Helper()
		popup.WaitFor(fmt.Sprintf("document.querySelector('input[data-pack=%s]').checked === %v", pack, on))
	}
	is("orders", true)
	is("wild", false)
	off := func(want string) { // the hub's owner learns of it
		t.Helper()
		if got, err := h.ask(0, &spec.ListPacks{}); err != nil || got != want {
			t.Errorf("%s %v, want %s", got, err, want)
		}
	}
	const wild = `{"name":"wild","hash":"wild-1","why":"it is a script: on one of its pages, the extension’s popup has the switch"}`
	off(`{"off":[` + wild + `]}`)
	popup.Click("input[data-pack=orders]")
	h.tabAt(url, []string{}...)
	is("orders", false)
	off(`{"off":[{"name":"orders","hash":"orders-1","why":"it is switched off in the extension’s popup"},` + wild + `]}`)
	popup.WaitFor("chrome.storage.local.get('packs').then(({packs}) => packs.choices['orders-1'] === false)")
	popup.Click("input[data-pack=orders]")
	h.tabAt(url, "list")

	// Another version is another pack, for a script to be allowed anew.
	popup.Click("input[data-pack=wild]")
	is("wild", true)
	script.Hash = "wild-2"
	h.tellPacks(packFor("orders", url+"/*", "list"), script)
	is("wild", false)
}

// A site that is switched off has no tools of packs.
func TestPackOfASiteThatIsOff(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, map[string]string{"/": `<!doctype html><title>Orders</title>`})
	h.tellPacks(packFor("orders", url+"/*", "list"))
	p := b.Open(url)
	h.tabWith("list")
	switchSite(b, url, false)
	h.wait("nothing", func() bool { return len(h.dumpTools()) == 0 })
	p.Reload()
	if got := p.Eval("document.title"); got != `"Orders"` {
		t.Error(got)
	}
	if tools := h.dumpTools(); len(tools) != 0 {
		t.Errorf("of a site that is off the hub has %v", tools)
	}
	switchSite(b, url, true)
	h.wait("the tool again", func() bool { return slices.Equal(h.dumpTools(), []string{"list"}) })
}

// dumpTools returns the names of all tools. h.mu may be held.
func (h *hub) dumpTools() (all []string) {
	for _, tab := range h.tabs {
		all = append(all, names(tab.tools)...)
	}
	return all
}
