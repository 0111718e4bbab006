package extension_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// openIn opens a tab in a room, and returns its id.
func (h *hub) openIn(room spec.Room, url string) int64 {
	h.t.Helper()
	answer, err := h.ask(0, &spec.OpenTab{URL: url, Room: &room})
	var opened spec.OpenTabResult
	if err == nil {
		err = json.Unmarshal([]byte(answer), &opened)
	}
	if err != nil || opened.TabID == 0 {
		h.t.Fatalf("opening %s in %s: %s, %v", url, room.Title, answer, err)
	}
	return opened.TabID
}

// endRoom ends a room, and returns how many tabs were closed and kept.
func (h *hub) endRoom(id string, shut bool) (closed, kept int) {
	h.t.Helper()
	answer, err := h.ask(0, &spec.EndRoom{Room: id, Close: shut})
	var result spec.EndRoomResult
	if err == nil {
		err = json.Unmarshal([]byte(answer), &result)
	}
	if err != nil {
		h.t.Fatalf("ending %s: %s, %v", id, answer, err)
	}
	return result.Closed, result.Kept
}

// group is a tab group, or for no title the tabs that are in none.
type group struct {
	Title  string
	Colour string
	Tabs   []int64
}

// strip returns the tab groups of the browser by title, and under "" the other tabs.
func strip(b *chromium.Browser) map[string]group {
	w := b.Worker()
	defer w.Close()
	var tabs []struct{ ID, GroupID int64 }
	w.Into("chrome.tabs.query({})", &tabs)
	var groups []struct {
		ID           int64
		Title, Color string
	}
	w.Into("chrome.tabGroups.query({})", &groups)
	all := map[string]group{}
	for _, tab := range tabs {
		var at group
		for _, g := range groups {
			if g.ID == tab.GroupID {
				at.Title, at.Colour = g.Title, g.Color
			}
		}
		at.Tabs = append(all[at.Title].Tabs, tab.ID)
		all[at.Title] = at
	}
	return all
}

func (g group) has(t *testing.T, tabs ...int64) {
	t.Helper()
	if slices.Sort(g.Tabs); !slices.Equal(g.Tabs, slices.Sorted(slices.Values(tabs))) {
		t.Errorf("the group %q has the tabs %v, want %v", g.Title, g.Tabs, tabs)
	}
}

// byOwner does what the owner could with a browser's tabs, in JavaScript.
func byOwner(b *chromium.Browser, script string, args ...any) string {
	w := b.Worker()
	defer w.Close()
	return w.Eval(fmt.Sprintf(script, args...))
}

// nextWorker has another worker take the place of the extension's. A page wakes it, as nothing else does.
func (h *hub) nextWorker(b *chromium.Browser, page *chromium.Page) {
	h.t.Helper()
	h.change(func() { h.hello = nil })
	b.StopWorker()
	page.Reload()
	h.wait("the extension is back", func() bool { return h.hello != nil })
}

var (
	claudes = spec.Room{ID: "a1", Title: "Claude Code"}
	codexs  = spec.Room{ID: "b2", Title: "Codex"}
)

// Each client has its tabs in a group of its own, behind what the owner looks at, whatever becomes of
// the extension's worker, and with what the owner does to the group.
func TestTabGroups(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, map[string]string{"/": "<!doctype html><title>Page</title>Text"})
	owners := b.Open(url + "/?owner")
	inFront := front(b)
	a := []int64{h.openIn(claudes, url), h.openIn(claudes, url), h.openIn(claudes, url)}
	c := []int64{h.openIn(codexs, url)}
	all := strip(b)
	all["Claude Code"].has(t, a...)
	all["Codex"].has(t, c...)
	if len(all) != 3 || all["Claude Code"].Colour == all["Codex"].Colour {
		t.Errorf("%+v", all)
	}
	if got := owners.Eval("document.visibilityState"); got != `"visible"` || front(b) != inFront {
		t.Errorf("the owner's tab is %s", got)
	}

	h.nextWorker(b, owners)
	a = append(a, h.openIn(claudes, url))
	all = strip(b)
	all["Claude Code"].has(t, a...)
	if len(all) != 3 {
		t.Errorf("after the worker was stopped: %+v", all)
	}

	// The owner gives it another name, and takes it to another window.
	byOwner(b, `(async () => {
		const {groupId} = await chrome.tabs.get(%d);
		await chrome.tabGroups.update(groupId, {title: "Mine"});
		const {id} = await chrome.windows.create({focused: false});
		await chrome.tabGroups.move(groupId, {windowId: id, index: -1});
	})()`, a[0])
	a = append(a, h.openIn(claudes, url))
	strip(b)["Mine"].has(t, a...)

	// The owner dissolves the other one: it is not made again while a tab of it is open.
	byOwner(b, `chrome.tabs.ungroup(%d)`, c[0])
	c = append(c, h.openIn(codexs, url))
	h.nextWorker(b, owners)
	c = append(c, h.openIn(codexs, url))
	if all = strip(b); len(all) != 2 {
		t.Errorf("a dissolved group is back: %+v", all)
	}
	byOwner(b, `chrome.tabs.remove([%d, %d, %d])`, c[0], c[1], c[2])
	c = []int64{h.openIn(codexs, url)}
	strip(b)["Codex"].has(t, c...)

	// Their clients end.
	if closed, kept := h.endRoom(codexs.ID, false); closed != 0 || kept != 1 {
		t.Errorf("%d closed, %d kept", closed, kept)
	}
	all = strip(b)
	all["Codex (ended)"].has(t, c...)
	if all["Codex (ended)"].Colour != "grey" {
		t.Errorf("%+v", all)
	}
	if closed, kept := h.endRoom(claudes.ID, false); closed != 0 || kept != len(a) {
		t.Errorf("%d closed, %d kept", closed, kept)
	}
	strip(b)["Mine"].has(t, a...)
	if closed, kept := h.endRoom("unknown", true); closed+kept != 0 {
		t.Errorf("a group that is not known: %d closed, %d kept", closed, kept)
	}
	if got := owners.Eval("document.visibilityState"); got != `"visible"` {
		t.Errorf("the owner's tab is %s at the end", got)
	}
}

// A room that is closed with its client leaves what the owner has made theirs.
func TestTabGroupIsClosed(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, map[string]string{"/": "<!doctype html><title>Page</title><input autofocus>"})
	b.Open(url + "/?owner")
	plain, typed, taken, pinned := h.openIn(claudes, url), h.openIn(claudes, url+"/?typed"), h.openIn(claudes, url), h.openIn(claudes, url)
	off := site(t, map[string]string{"/": "<!doctype html><title>Off</title>"})
	unseen := h.openIn(claudes, off)
	switchSite(b, off, false)
	byOwner(b, `chrome.tabs.ungroup(%d)`, taken)
	byOwner(b, `chrome.tabs.update(%d, {pinned: true})`, pinned)
	page := b.AttachURL(url + "/?typed")
	page.Front()
	byOwner(b, `new Promise((done) => (async function look() {
		const [{result}] = await chrome.scripting.executeScript({target: {tabId: %d}, func: () => globalThis.tabhubUserInput !== undefined});
		result ? done() : setTimeout(look, 20);
	})())`, typed)
	page.Keys("x")
	byOwner(b, `new Promise((done) => (async function look() {
		const {rooms} = await chrome.storage.session.get("rooms");
		rooms.a1.byHand.includes(%d) ? done() : setTimeout(look, 20);
	})())`, typed)
	h.nextWorker(b, page)
	ownersTab := b.Open(url + "/?owners-too")
	byOwner(b, `(async () => {
		const [tab] = await chrome.tabs.query({url: "%s/?owners-too"});
		const {groupId} = await chrome.tabs.get(%d);
		await chrome.tabs.group({groupId, tabIds: tab.id});
	})()`, url, plain)
	if closed, kept := h.endRoom(claudes.ID, true); closed != 1 || kept != 4 {
		t.Errorf("%d closed, %d kept", closed, kept)
	}
	all := strip(b)
	if g := all["Claude Code (ended)"]; len(g.Tabs) != 3 || !slices.Contains(g.Tabs, typed) || !slices.Contains(g.Tabs, unseen) || slices.Contains(all[""].Tabs, plain) ||
		!slices.Contains(all[""].Tabs, taken) || !slices.Contains(all[""].Tabs, pinned) {
		t.Errorf("%+v", all)
	}
	ownersTab.Close()
}
