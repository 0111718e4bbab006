package extension_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// discard has the browser put a tab to sleep, and returns the number that it has when h knows that.
func (h *hub) discard(w *chromium.Page, tab int64) int64 {
	h.t.Helper()
	var id int64
	w.Into(fmt.Sprintf(`chrome.tabs.discard(%d).then(({id}) => id)`, tab), &id)
	h.wait("the tab asleep", h.asleep(id))
	return id
}

// storesSlowly has the worker write what the next one will know 200 ms late.
func storesSlowly(w *chromium.Page) {
	w.Eval(`void (set => {
		const slowly = (...given) => new Promise(done => setTimeout(done, 200)).then(() => set(...given));
		Object.defineProperty(chrome.storage.session, 'set', {value: slowly});
	})(chrome.storage.session.set.bind(chrome.storage.session))`)
}

// background opens a tab that is not in front, and no debugger is attached to.
func background(w *chromium.Page, url string) {
	w.Eval(fmt.Sprintf(`void chrome.tabs.create({url: %q, active: false})`, url))
}

// clock gives a worker elapse, which has done at once what is due within so many ms.
const clock = `void (({setTimeout, clearTimeout}) => {
	const due = new Map();
	let time;
	globalThis.setTimeout = (f, ms = 0, ...args) => {
		const run = () => { due.delete(id); f(...args); };
		const id = setTimeout(run, ms);
		due.set(id, {at: (time ?? Date.now()) + ms, run});
		return id;
	};
	globalThis.clearTimeout = id => { due.delete(id); clearTimeout(id); };
	globalThis.elapse = ms => {
		for (const until = Date.now() + ms;;) {
			const [id, next] = [...due].sort(([, a], [, b]) => a.at - b.at)[0] ?? [];
			if (!next || next.at > until) break;
			clearTimeout(id);
			time = next.at;
			next.run();
		}
		time = undefined;
	};
})(globalThis)`

// writeWithClock writes a copy of the extension whose workers have the clock.
func (h *hub) writeWithClock() string {
	h.t.Helper()
	dir := h.write()
	addToWorker(h.t, dir, clock)
	return dir
}

// stillAsleep returns when so much time has passed for a worker that no document is waited for any
// more, and what the extension makes of that is at h.
func (h *hub) stillAsleep(w *chromium.Page) {
	h.t.Helper()
	w.Eval("elapse(20_000)")
	if list, err := h.ask(0, &spec.ListTabs{}); err != nil || !strings.Contains(list, `"discarded":true`) {
		h.t.Errorf("the tabs: %s, %v", list, err)
	}
}

func (h *hub) asleep(tab int64) func() bool {
	return func() bool {
		v := h.tabs[tab]
		return v != nil && v.state.Discarded != nil && *v.state.Discarded
	}
}

// A tab that the browser has put to sleep is there, however long, with all that it offered. A call wakes it,
// behind the tab that the user looks at, and runs there once.
func TestTabAsleep(t *testing.T) {
	t.Parallel()
	for _, by := range chromium.Rows(1, "extension", "browser", "library") {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			s := newPages(t, by == "library", map[string][]string{"first": {"one", "two"}})
			h := newHub(t)
			b := h.browse(chromium.Options{WebMCP: by == "browser", Extension: h.writeWithClock()})
			close(s.offers["first"])
			w := b.Worker()
			defer w.Close()
			background(w, s.url+"/first")
			tab := h.discard(w, h.tabShowing("one", "two"))
			fewest := h.fewest(tab)
			h.stillAsleep(w)
			if n := fewest(); n != 2 {
				t.Errorf("asleep it has %d tools", n)
			}
			first, second, third := h.begin(tab, 0, "one", "{}"), h.begin(tab, 0, "one", "{}"), h.begin(tab, 0, "one", "{}")
			ran := []string{<-first, <-second, <-third}
			slices.Sort(ran)
			for i, result := range ran {
				if !strings.Contains(result, fmt.Sprintf("first ran it %d", i+1)) {
					t.Errorf("call %d: %s", i, result)
				}
			}
			var front bool
			w.Into(fmt.Sprintf(`chrome.tabs.get(%d).then(({active}) => active)`, tab), &front)
			if front {
				t.Error("the call has brought the tab to the front")
			}
			h.tabShowing("one", "two")
		})
	}
}

// A restart of the extension's worker or of the hub changes nothing of a tab that sleeps.
func TestTabAsleepOverRestarts(t *testing.T) {
	t.Parallel()
	for _, what := range chromium.Rows(1, "both", "worker", "hub") {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newPages(t, false, map[string][]string{"first": {"one"}})
			h := newHub(t)
			b := h.browse(chromium.Options{WebMCP: true, Extension: h.writeWithClock()})
			close(s.offers["first"])
			w := b.Worker()
			background(w, s.url+"/first")
			tab := h.tabShowing("one")
			storesSlowly(w)
			tab = h.discard(w, tab)
			w.Close()
			fewest := h.fewest(tab)
			if what != "worker" {
				h.restart()
				h.change(func() { h.tabs[tab] = &tabView{} }) // a hub remembers its tabs
			}
			if what != "hub" {
				h.change(func() { h.tabs[tab].state = spec.TabState{} })
				b.StopWorker()
				p := b.Open(site(t, map[string]string{"/": shop})) // which wakes it
				defer p.Close()
			}
			h.wait("the tab asleep still", h.asleep(tab))
			w = b.Worker()
			h.stillAsleep(w)
			w.Close()
			if n := fewest(); what == "worker" && n != 1 {
				t.Errorf("asleep it has %d tools", n)
			}
			got, err := h.callFrame(t.Context(), tab, 0, "one", "{}", tabtransport.Wait{Timeout: chromium.Timeout})
			if err != nil || !strings.Contains(got, "first ran it 1") {
				t.Errorf("the call: %s, %v", got, err)
			}
			h.tabShowing("one")
		})
	}
}

// The tools of a tab that the user wakes stay listed while it loads.
func TestTabWokenByItsUser(t *testing.T) {
	t.Parallel()
	s := newPages(t, false, map[string][]string{"first": {"one"}})
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	close(s.offers["first"])
	w := b.Worker()
	defer w.Close()
	background(w, s.url+"/first")
	tab := h.discard(w, h.tabShowing("one"))
	fewest := h.fewest(tab)
	w.Eval(fmt.Sprintf(`void chrome.tabs.update(%d, {active: true})`, tab))
	h.tabShowing("one")
	if n := fewest(); n != 1 {
		t.Errorf("while the tab woke the hub saw %d tools", n)
	}
}

// A tab that sleeps at the address is woken rather than another opened beside it.
func TestOpenTabWakes(t *testing.T) {
	t.Parallel()
	s := newPages(t, false, map[string][]string{"first": {"one"}, "second": {"two"}})
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	close(s.offers["first"])
	w := b.Worker()
	defer w.Close()
	background(w, s.url+"/first#top")
	tab := h.discard(w, h.tabShowing("one"))
	for _, c := range []struct {
		req   spec.OpenTab
		wakes bool
	}{
		{spec.OpenTab{URL: s.url + "/first"}, false},
		{spec.OpenTab{URL: s.url + "/second", Wake: true}, false},
		{spec.OpenTab{URL: s.url + "/first", Wake: true}, true},
		{spec.OpenTab{URL: s.url + "/first", Wake: true}, false}, // it is awake
	} {
		got, err := h.ask(0, &c.req)
		if woken := got == fmt.Sprintf(`{"tabId":%d}`, tab); err != nil || woken != c.wakes {
			t.Errorf("%+v: %s, %v", c.req, got, err)
		}
	}
}
