package hub

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/naming"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport"
)

func resources(items ...string) *spec.Register {
	m := &spec.Register{Kind: spec.KindResource}
	for _, it := range items {
		m.Items = append(m.Items, json.RawMessage(it))
	}
	return m
}

// A site that has used up its names must not be able to bring the hub down, nor to
// keep it from starting again.
func TestSiteOutOfNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/", `first:"annotations":{"cache":true}`))
		const taken = maxNames - 3
		w.hub.update(func() { w.hub.domains["e.com"].names += taken })
		// The domain's own name is the last one; the tab gets none.
		r := w.register(b, 1, tools("https://e.com/", "first", "second"))
		if r.Accepted != 1 || len(r.Rejected) != 1 {
			t.Errorf("registered %+v", r)
		}
		w.hub.update(func() { w.hub.domains["e.com"].names -= taken })
		w.check()
		if _, err := w.hub.ReadResource(t.Context(), "tabhub://e.com/unknown", ""); err == nil {
			t.Error("an unknown resource was read")
		}
		for _, it := range w.hub.List(ListTools).Items {
			if _, err := w.hub.Find(spec.KindTool, it.Name); err != nil {
				t.Error(err)
			}
		}
		w.hub.Find(spec.KindTool, "website_tool_e_com_second")
	})
}

// A hub that is full must take updates of what it holds, and forget a tab wholly
// when it goes.
func TestUpdateInAFullHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/", "x"))
		w.hub.update(func() { w.hub.counts[0] += spec.MaxToolsPerHub })
		m := tools("https://e.com/", `x:"title":"new"`)
		if r := w.register(b, 1, m); r.Accepted != 1 {
			t.Errorf("an update of a tool was refused: %+v", r)
		}
		w.hub.update(func() { w.hub.counts[0] -= spec.MaxToolsPerHub })
		w.check()
		// One that makes it larger than a full hub may be is refused, and the tool is gone.
		w.hub.update(func() { w.hub.bytes += maxBytes })
		if r := w.register(b, 1, tools("https://e.com/", `x:"title":"newer"`)); r.Accepted != 0 {
			t.Errorf("a full hub took %+v", r)
		}
		w.hub.update(func() { w.hub.bytes -= maxBytes })
		w.check()
		w.wantNames("")
		b.Notify(1, &spec.TabClosed{})
		synctest.Wait()
		w.check()
		w.wantNames("")
	})
}

// Of what a site kept in its best days nothing may keep the hub from starting.
func TestRestartOutOfNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, store: &storage.Memory{}}
		var changes []storage.Change
		for i := range maxNames {
			id := naming.Identity{Kind: spec.KindTool, Domain: "e.com", Item: fmt.Sprint("t", i)}
			changes = append(changes, storage.Name{Public: naming.ToolNamer{}.Name(id, nil), Kind: id.Kind, Domain: id.Domain, Item: id.Item})
		}
		changes = append(changes, storage.Tab{
			Domain: "e.com", Key: "browser:b1/s1/1", Addr: spec.TabAddr{Peer: "browser:b1", Tab: 1}, Browser: "b1", Origin: "https://e.com",
			URL: "https://e.com/", LastUpdated: time.Now(), Verified: true, Index: 1,
			Tools: []json.RawMessage{json.RawMessage(`{"name":"other","annotations":{"cache":true}}`)},
		})
		storagetest.Write(t, w.store, spec.LocalUser, changes...)
		w.start(Options{})
		w.check()
	})
}

// A read of a resource must end when the tab that its template names does not come
// back.
func TestTemplateOfATabThatGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, resources(`{"uriTemplate":"shop://item/{id}","name":"item"}`))
		p.Cut()
		synctest.Wait()
		for _, uri := range []string{"tabhub://e.com/shop://item/7", "tabhub://e.com/tab1/shop://item/7"} {
			go func() {
				_, err := w.hub.ReadResource(t.Context(), uri, "")
				if err == nil || !strings.Contains(err.Error(), "NOT_CONNECTED") {
					t.Errorf("%s: %v", uri, err)
				}
			}()
		}
		time.Sleep(spec.TabGrace + time.Second)
		synctest.Wait()
	})
}

// One tab's resource may be another's template.
func TestTemplateAndResourceOfOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		a, b := w.page("https://e.com", "a"), w.page("https://e.com", "b")
		w.register(a, 0, resources(`{"uri":"x{y}"}`))
		w.register(b, 0, resources(`{"uriTemplate":"x{y}"}`))
		if _, err := w.hub.ReadResource(t.Context(), "tabhub://e.com/tab1/xyz", ""); err == nil {
			t.Error("read from a tab that has no such template")
		}
		if _, err := w.hub.Find(spec.KindResource, "tabhub://e.com/tab1/xyz"); err == nil {
			t.Error("found in a tab that has no such template")
		}
	})
}

// An update names no URL: it belongs where the tab is.
func TestUpdateWithoutURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		program := w.dial(tabtransport.Conn{Dialect: spec.Subprotocol})
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/", "x"))
		w.register(program, 0, tools("https://p.com/", "x"))
		for _, end := range []struct {
			tab int64
			r   spec.Registered
		}{{1, w.register(b, 1, tools("", "y"))}, {0, w.register(program, 0, tools("", "y"))}} {
			if end.r.Accepted != 1 {
				t.Errorf("tab %d: %+v", end.tab, end.r)
			}
		}
		w.wantNames("e_com_y unverified_p_com_y")
	})
}

// A site whose tabs have had ever new names may go on with new ones: those that
// nobody has any more make room.
func TestNamesOfTheGoneMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		b := w.chrome("b1", "s1")
		for round := range maxNames/spec.MaxToolsPerTab/2 + 2 {
			m := tools("https://e.com/")
			for i := range spec.MaxToolsPerTab {
				m.Items = append(m.Items, json.RawMessage(fmt.Sprintf(`{"name":"t%d_%d"}`, round, i)))
			}
			if r := w.register(b, 1, m); len(r.Rejected) > 0 {
				t.Fatalf("round %d: %+v", round, r.Rejected[0])
			}
		}
		w.check()
		w.hub.Close(t.Context())
		w.start(Options{})
		w.check()
	})
}

// What sites leave behind must not grow without an end.
func TestKeptIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		b := w.chrome("b1", "s1")
		const each = 1000
		for i := range maxAllKept/each + 2 {
			m := &spec.Register{Kind: spec.KindTool, TabURL: fmt.Sprintf("https://s%d.com/", i)}
			for k := range each {
				m.Items = append(m.Items, json.RawMessage(fmt.Sprintf(`{"name":"t%d","annotations":{"cache":true}}`, k)))
			}
			w.register(b, 1, m)
			b.Notify(1, &spec.TabClosed{})
			time.Sleep(time.Second)
		}
		w.check()
		if n := len(w.hub.List(ListTools).Items); n > maxAllKept {
			t.Errorf("%d are kept", n)
		}
		if !strings.Contains(w.names(), "s21_com_t0 ") || strings.Contains(w.names(), "s0_com_t0 ") {
			t.Error("not the oldest went")
		}
	})
}

// One site, whatever number of tabs and subdomains it has, must leave room for others,
// and so must several.
func TestSiteHasAShareOfTheHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		b := w.chrome("b1", "s1")
		var tab int64
		// fill registers from ever new tabs of a site until one is refused.
		fill := func(site string) (accepted int, reason string) {
			for n := 0; reason == ""; n++ {
				tab++
				m := tools(fmt.Sprintf("https://s%d.%s/", n, site))
				for i := range 1000 {
					m.Items = append(m.Items, json.RawMessage(fmt.Sprintf(`{"name":"t%d"}`, i)))
				}
				r := w.register(b, tab, m)
				accepted += r.Accepted
				if len(r.Rejected) > 0 {
					reason = r.Rejected[0].Reason
				}
			}
			return accepted, reason
		}
		for _, end := range []struct {
			site string
			n    int
		}{{"hog.com", 10_000}, {"second.com", 5000}, {"third.com", 2500}} {
			n, reason := fill(end.site)
			if want := fmt.Sprintf("%s has %d already, half of what other sites leave of the hub's 20000", end.site, n); n != end.n || reason != want {
				t.Errorf("%s may have %d: %s", end.site, n, reason)
			}
		}
		w.check()
		if r := w.register(b, tab+1, tools("https://small.org/", "x")); r.Accepted != 1 {
			t.Errorf("a small site: %+v", r)
		}
		// The same of bytes.
		weigh := func(n int) {
			w.hub.update(func() { w.hub.weighLocked(w.hub.domains["s0.hog.com"], n) })
		}
		weigh(maxBytes / 2)
		for url, accepted := range map[string]int{"https://s0.hog.com/": 0, "https://new.hog.com/": 0, "https://small.org/": 1} {
			tab += 2
			m := tools(url, "x")
			m.Kind = spec.KindPrompt
			r := w.register(b, tab, m)
			if r.Accepted != accepted || accepted == 0 && !strings.Contains(r.Rejected[0].Reason, "half of what other sites leave") {
				t.Errorf("%s: %+v", url, r)
			}
		}
		weigh(-maxBytes / 2)
		w.check()
	})
}
