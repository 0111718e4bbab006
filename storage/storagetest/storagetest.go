// Package storagetest tests the contract of storage.DomainToolStorage, and has Memory, a store
// for the tests of packages that need one.
package storagetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/storage"
)

// Run tests the stores that open opens. If open called with the directory of a
// store that was closed continues it, durable is true.
func Run(t *testing.T, durable bool, open func(t *testing.T, dir string) storage.DomainToolStorage) {
	s := suite{durable: durable, open: open}
	for name, test := range map[string]func(*testing.T){
		"KeepsAll":          s.keepsAll,
		"Replaces":          s.replaces,
		"SeparatesUsers":    s.separatesUsers,
		"SeparatesKeys":     s.separatesKeys,
		"Prunes":            s.prunes,
		"AllOrNone":         s.allOrNone,
		"Done":              s.done,
		"Concurrent":        s.concurrent,
		"CloseWritesRest":   s.closeWritesRest,
		"OneWriter":         s.oneWriter,
		"EpochsGrow":        s.epochsGrow,
		"TakeoverInFlight":  s.takeoverInFlight,
		"CloseTellsRefused": s.closeTellsRefused,
		"StaleIsAlone":      s.staleIsAlone,
	} {
		t.Run(name, test)
	}
}

type suite struct {
	durable bool
	open    func(t *testing.T, dir string) storage.DomainToolStorage
}

const user = spec.LocalUser

// now is a time that no clock rounds.
var now = time.Date(2026, 11, 20, 9, 30, 15, 123456789, time.UTC)

// start opens a new store, and returns a function that reopens it if it is durable.
func (s suite) start(t *testing.T) (st storage.DomainToolStorage, reopen func() storage.DomainToolStorage) {
	dir := t.TempDir()
	st = s.open(t, dir)
	current := st
	t.Cleanup(func() {
		if err := current.Close(); err != nil {
			t.Error(err)
		}
	})
	return st, func() storage.DomainToolStorage {
		if s.durable {
			if err := current.Close(); err != nil {
				t.Fatal(err)
			}
			current = s.open(t, dir)
		}
		return current
	}
}

// Write becomes the user's writer, writes changes and waits until they are synced.
func Write(t testing.TB, st storage.DomainToolStorage, user spec.UserID, changes ...storage.Change) {
	t.Helper()
	state, err := st.Load(t.Context(), user, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if err := write(st, user, state.Epoch, changes...); err != nil {
		t.Fatal(err)
	}
}

// Registration returns what the hub writes when tab i registers ten tools.
func Registration(i int) []storage.Change {
	domain := spec.Domain(fmt.Sprintf("shop%d_example_com", i%100))
	key := fmt.Sprintf("peer%d/7", i)
	tab := storage.Tab{
		Domain: domain, Key: key, Index: i/100 + 1, LastUpdated: time.Now(),
		Origin: "https://shop.example.com", URL: "https://shop.example.com/cart?id=1", Title: "Cart",
	}
	changes := []storage.Change{storage.Number{Domain: domain, Key: key, Index: i/100 + 1, LastSeen: time.Now()}}
	for j := range 10 {
		tool := fmt.Sprintf("tool_%d", j)
		tab.Tools = append(tab.Tools, fmt.Appendf(nil, `{"name":%q,"description":%q,"inputSchema":{"type":"object","properties":{"q":{"type":"string"}}}}`,
			tool, strings.Repeat("What it does. ", 20)))
		for _, n := range []int{0, tab.Index} {
			changes = append(changes, storage.Name{
				Public: fmt.Sprintf("website_tool_%s_tab%d_%s", domain, n, tool), Kind: spec.KindTool, Domain: domain, Tab: n, Item: tool,
			})
		}
	}
	return append(changes, tab)
}

// write writes changes and waits until they are synced or have failed.
func write(st storage.DomainToolStorage, user spec.UserID, epoch spec.Epoch, changes ...storage.Change) error {
	done := make(chan error, 1)
	st.Write(user, epoch, changes, func(err error) { done <- err })
	return <-done
}

func load(t *testing.T, st storage.DomainToolStorage, user spec.UserID) *storage.State {
	t.Helper()
	state, err := st.Load(t.Context(), user, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// same fails if got does not print as want does.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

// raw makes items.
func raw(items ...string) []json.RawMessage {
	var out []json.RawMessage
	for _, it := range items {
		out = append(out, json.RawMessage(it))
	}
	return out
}

func texts(items []json.RawMessage) []string {
	var out []string
	for _, it := range items {
		out = append(out, string(it))
	}
	return out
}

// keepsAll: a field that is lost is a tool that changes over a restart.
func (s suite) keepsAll(t *testing.T) {
	st, reopen := s.start(t)
	tab := storage.Tab{
		Domain: "example_com", Key: "k:1", Addr: spec.TabAddr{Peer: "p", Tab: -7}, Origin: "https://example.com", URL: "https://example.com/a?b=<c>", Title: "Ünïcode \x00 & more",
		Index: 3, Browser: "b1", LastUpdated: now, Cached: true,
		// Spaces, escapes, big numbers, duplicate keys: what the page wrote, as bytes.
		Tools:     raw(`{ "name":"a<b>&\u2028", "n": 12345678901234567890.0e+1 ,"n":1}`, `{"name":"b"}`),
		Resources: raw(`{"uri":"x:/y"}`),
		Prompts:   raw(`{"name":"p"}`, `{}`),
	}
	bare := storage.Tab{Domain: "other", Key: ""}
	name := storage.Name{Public: "website_tool_example_com_a", Kind: spec.KindTool, Domain: "example_com", Tab: 2, Item: "a.b/c"}
	ofPack := storage.Name{Public: "pack_shop_example_com_a", Kind: spec.KindTool, Domain: "example_com", Item: "a", Pack: "shop"}
	number := storage.Number{Domain: "example_com", Key: "k:1", Index: 3, LastSeen: now}
	browser := storage.Browser{ID: "b1", SecretHash: []byte{0, 255, 1}, Name: "Chromium", Confirmed: true, LastSeen: now}
	site := storage.Site{Domain: "example_com", Cache: new(false), CallTimeout: time.Minute}
	unset := storage.Site{Domain: "other"}
	settings := storage.Settings{Name: "policy", Body: json.RawMessage(`{ "rules":[1] }`)}
	document := storage.Document{Kind: "session", ID: "a b", Body: json.RawMessage(`{ "tabs":[1] }`)}
	Write(t, st, user, tab, bare, name, ofPack, number, browser, site, unset, settings, document)

	for round, st := range []storage.DomainToolStorage{st, reopen()} {
		if round == 0 && s.durable {
			continue // closed by reopen
		}
		got := load(t, st, user)
		slices.SortFunc(got.Tabs, func(a, b storage.Tab) int { return strings.Compare(string(a.Domain), string(b.Domain)) })
		slices.SortFunc(got.Sites, func(a, b storage.Site) int { return strings.Compare(string(a.Domain), string(b.Domain)) })
		if len(got.Tabs) != 2 || len(got.Sites) != 2 {
			t.Fatalf("loaded %d tabs and %d sites, want 2 of each", len(got.Tabs), len(got.Sites))
		}
		same(t, "tools", texts(got.Tabs[0].Tools), texts(tab.Tools))
		same(t, "resources", texts(got.Tabs[0].Resources), texts(tab.Resources))
		same(t, "prompts", texts(got.Tabs[0].Prompts), texts(tab.Prompts))
		same(t, "tabs", got.Tabs, []storage.Tab{tab, bare})
		slices.SortFunc(got.Names, func(a, b storage.Name) int { return strings.Compare(b.Public, a.Public) })
		same(t, "names", got.Names, []storage.Name{name, ofPack})
		same(t, "numbers", got.Numbers, []storage.Number{number})
		same(t, "browsers", got.Browsers, []storage.Browser{browser})
		same(t, "settings", got.Settings, []storage.Settings{settings})
		same(t, "documents", got.Documents, []storage.Document{document})
		if c := got.Sites[0].Cache; c == nil || *c || got.Sites[0].CallTimeout != time.Minute {
			t.Errorf("site: got %+v", got.Sites[0])
		}
		if got.Sites[1].Cache != nil {
			t.Error("a setting that is not set became one")
		}
	}
}

// replaces: the last word on a tab counts, within one Write and over several.
func (s suite) replaces(t *testing.T) {
	st, reopen := s.start(t)
	epoch := load(t, st, user).Epoch
	tab := func(title string) storage.Tab {
		return storage.Tab{Domain: "d", Key: "k", Title: title, LastUpdated: now}
	}
	st.Write(user, epoch, []storage.Change{tab("1"), tab("2"), storage.Number{Domain: "d", Key: "k", Index: 1}}, nil)
	st.Write(user, epoch, []storage.Change{tab("3"), storage.DeleteNumber{Domain: "d", Key: "k"}}, nil)
	st.Write(user, epoch, []storage.Change{storage.DeleteTab{Domain: "d", Key: "gone"}, storage.DeleteTab{Domain: "d", Key: "k"}, tab("4")}, nil)
	st.Write(user, epoch, []storage.Change{storage.Document{Kind: "k", ID: "a"}, storage.Document{Kind: "k", ID: "b"}, storage.DeleteDocument{Kind: "k", ID: "a"}}, nil)
	st.Write(user, epoch, []storage.Change{storage.Name{Public: "a"}, storage.Name{Public: "b"}, storage.DeleteName{Public: "a"}}, nil)
	if err := write(st, user, epoch); err != nil {
		t.Fatal(err)
	}
	got := load(t, st, user)
	if len(got.Tabs) != 1 || got.Tabs[0].Title != "4" || len(got.Numbers) != 0 || len(got.Names) != 1 || len(got.Documents) != 1 || got.Documents[0].ID != "b" {
		t.Errorf("got tabs %+v, numbers %+v, names %+v, documents %+v", got.Tabs, got.Numbers, got.Names, got.Documents)
	}
	Write(t, st, user, storage.DeleteTab{Domain: "d", Key: "k"}, storage.DeleteName{Public: "b"})
	if got := load(t, reopen(), user); len(got.Tabs) != 0 || len(got.Names) != 0 {
		t.Errorf("what was deleted is back: %+v, %+v", got.Tabs, got.Names)
	}
}

// separatesUsers: one user must never see what another one's tabs offer.
func (s suite) separatesUsers(t *testing.T) {
	st, _ := s.start(t)
	for _, u := range []spec.UserID{"ann", "bob"} {
		Write(t, st, u, storage.Tab{Domain: "d", Key: "k", Title: string(u)})
	}
	for _, u := range []spec.UserID{"ann", "bob"} {
		got := load(t, st, u)
		if len(got.Tabs) != 1 || got.Tabs[0].Title != string(u) {
			t.Errorf("%s sees %+v", u, got.Tabs)
		}
	}
	if got := load(t, st, "eve"); len(got.Tabs) != 0 {
		t.Errorf("eve sees %+v", got.Tabs)
	}
}

// separatesKeys: a domain and key that run together another way are another tab.
func (s suite) separatesKeys(t *testing.T) {
	st, _ := s.start(t)
	Write(t, st, user,
		storage.Tab{Domain: "a", Key: "bc"}, storage.Tab{Domain: "ab", Key: "c"}, storage.Tab{Domain: "abc", Key: ""},
		storage.Tab{Domain: "a\x00", Key: "b"}, storage.Tab{Domain: "a", Key: "\x00b"})
	if got := load(t, st, user); len(got.Tabs) != 5 {
		t.Errorf("5 tabs became %d", len(got.Tabs))
	}
}

// prunes: tabs of yesterday do not come back, and do not stay in the file. What closed
// ones have left for good does.
func (s suite) prunes(t *testing.T) {
	st, reopen := s.start(t)
	Write(t, st, user,
		storage.Tab{Domain: "d", Key: "old", LastUpdated: now.Add(-time.Nanosecond)},
		storage.Tab{Domain: "d", Key: "new", LastUpdated: now},
		storage.Tab{Domain: "d", Key: "left", LastUpdated: now.Add(-time.Hour), Cached: true},
		storage.Number{Domain: "d", Key: "old", LastSeen: now.Add(-time.Hour)})
	st = reopen()
	got, err := st.Load(t.Context(), user, now)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got.Tabs, func(a, b storage.Tab) int { return strings.Compare(a.Key, b.Key) })
	if len(got.Tabs) != 2 || got.Tabs[0].Key != "left" || got.Tabs[1].Key != "new" || len(got.Numbers) != 1 {
		t.Errorf("got tabs %+v, numbers %+v", got.Tabs, got.Numbers)
	}
	if len(got.Stale) != 1 || got.Stale[0].Key != "old" {
		t.Errorf("got as stale %+v", got.Stale)
	}
	st = reopen()
	if got := load(t, st, user); len(got.Tabs) != 2 || len(got.Stale) != 0 {
		t.Errorf("a pruned tab is back: %+v", got.Tabs)
	}
	// One that comes back right after is new.
	Write(t, st, user, storage.Tab{Domain: "d", Key: "old", LastUpdated: now})
	if got := load(t, reopen(), user); len(got.Tabs) != 3 {
		t.Errorf("got %+v", got.Tabs)
	}
}

// allOrNone: a change that cannot be stored takes its own Write with it, no other.
func (s suite) allOrNone(t *testing.T) {
	st, reopen := s.start(t)
	epoch := load(t, st, user).Epoch
	for name, bad := range map[string]storage.Change{
		"empty key": storage.Name{},
		"long key":  storage.Name{Public: strings.Repeat("x", 40_000)},
		"pointer":   &storage.Name{Public: "x"},
	} {
		if err := write(st, user, epoch, storage.Tab{Domain: "half", Key: name}, bad); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	if err := write(st, "", epoch, storage.Tab{Domain: "d", Key: "k"}); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("no user: got %v, want ErrInvalid", err)
	}
	Write(t, st, user, storage.Tab{Domain: "whole", Key: "k"})
	if got := load(t, reopen(), user); len(got.Tabs) != 1 || got.Tabs[0].Domain != "whole" {
		t.Errorf("got %+v", got.Tabs)
	}
}

// done: it is called once, and never on the goroutine of Write, which may hold a lock
// that done takes.
func (s suite) done(t *testing.T) {
	st, _ := s.start(t)
	epoch := load(t, st, user).Epoch
	var mu sync.Mutex
	var wg sync.WaitGroup
	calls := make([]int, 100)
	for i := range calls {
		wg.Add(1)
		mu.Lock()
		st.Write(user, epoch, []storage.Change{storage.Tab{Domain: "d", Key: fmt.Sprint(i)}}, func(err error) {
			mu.Lock()
			defer mu.Unlock()
			defer wg.Done() // panics if called twice
			if err != nil {
				t.Error(err)
			}
			calls[i]++
		})
		mu.Unlock()
	}
	wg.Wait()
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	for i, n := range calls {
		if n != 1 {
			t.Errorf("done %d was called %d times", i, n)
		}
	}
}

// concurrent: tabs of several browsers register at once; none is lost.
func (s suite) concurrent(t *testing.T) {
	st, reopen := s.start(t)
	const writers, each = 8, 100
	epochs := map[spec.UserID]spec.Epoch{}
	for _, u := range []spec.UserID{"u0", "u1"} {
		epochs[u] = load(t, st, u).Epoch
	}
	var wg, done sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			u := spec.UserID(fmt.Sprint("u", w%2))
			for i := range each {
				done.Add(1)
				st.Write(u, epochs[u], []storage.Change{
					storage.Tab{Domain: "d", Key: fmt.Sprint(w, "/", i), Tools: raw(`{"name":"x"}`)},
				}, func(err error) {
					defer done.Done()
					if err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
	wg.Wait()
	done.Wait()
	st = reopen()
	for _, u := range []spec.UserID{"u0", "u1"} {
		if got := load(t, st, u); len(got.Tabs) != writers/2*each {
			t.Errorf("%s has %d tabs, want %d", u, len(got.Tabs), writers/2*each)
		}
	}
}

// closeWritesRest: what was queued when the hub stops is there when it starts again.
func (s suite) closeWritesRest(t *testing.T) {
	st, reopen := s.start(t)
	epoch := load(t, st, user).Epoch
	var mu sync.Mutex
	called := 0
	for i := range 50 {
		st.Write(user, epoch, []storage.Change{storage.Tab{Domain: "d", Key: fmt.Sprint(i)}}, func(error) {
			mu.Lock()
			called++
			mu.Unlock()
		})
		st.Write(user, epoch, []storage.Change{storage.Tab{Domain: "silent", Key: fmt.Sprint(i)}}, nil)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if called != 50 {
		t.Errorf("%d of 50 done functions were called before Close returned", called)
	}
	if err := write(st, user, epoch, storage.Tab{Domain: "late", Key: "k"}); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("Write after Close: got %v, want ErrClosed", err)
	}
	st.Write(user, epoch, []storage.Change{storage.Tab{Domain: "late", Key: "k"}}, nil)
	if _, err := st.Load(t.Context(), user, time.Time{}); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("Load after Close: got %v, want ErrClosed", err)
	}
	if !s.durable {
		return
	}
	if got := load(t, reopen(), user); len(got.Tabs) != 100 {
		t.Errorf("%d of 100 tabs are there after Close", len(got.Tabs))
	}
}
