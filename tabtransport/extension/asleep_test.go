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

// background opens a tab that nobody looks at, and no debugger is attached to.
func background(w *chromium.Page, url string) {
	w.Eval(fmt.Sprintf(`void chrome.tabs.create({url: %q, active: false})`, url))
}

func (h *hub) asleep(tab int64) func() bool {
	return func() bool {
		v := h.tabs[tab]
		return v != nil && v.state.Discarded != nil && *v.state.Discarded
	}
}

// A tab that the browser has put to sleep is there, with all that it offered. A call wakes it,
// behind the tab that the user looks at, and runs there once.
func TestTabAsleep(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"browser", "extension", "library"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			s := newPages(t, by == "library", map[string][]string{"first": {"one", "two"}})
			h := newHub(t)
			b := h.browse(chromium.Options{WebMCP: by == "browser"})
			close(s.offers["first"])
			w := b.Worker()
			defer w.Close()
			background(w, s.url+"/first")
			tab := h.discard(w, h.tabShowing("one", "two"))
			if got := names(h.tabs[tab].tools); !equal(got, []string{"one", "two"}) {
				t.Errorf("asleep it has %q", got)
			}
			if list, err := h.ask(0, &spec.ListTabs{}); err != nil || !strings.Contains(list, `"discarded":true`) {
				t.Errorf("the tabs: %s, %v", list, err)
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

// Who is restarted, the extension's worker or the hub, changes nothing of a tab that sleeps.
func TestTabAsleepOverRestarts(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"worker", "hub", "both"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newPages(t, false, map[string][]string{"first": {"one"}})
			h := newHub(t)
			b := h.browse(chromium.Options{WebMCP: true})
			close(s.offers["first"])
			w := b.Worker()
			background(w, s.url+"/first")
			tab := h.tabShowing("one")
			storesSlowly(w)
			tab = h.discard(w, tab)
			w.Close()
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
