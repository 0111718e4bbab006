package state

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/offer/item"
	"tabhub/hub/offer/schema"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport"
)

// fixture is a State at a time that the test chooses, and a store that outlives it.
// After each change it is written, and at the end checked for contradictions, as it is
// after each change while there is not much in it.
type fixture struct {
	*State
	t       *testing.T
	now     time.Time
	store   storagetest.Memory
	epoch   spec.Epoch
	schemas schema.Cache
	due     map[Timer]time.Time
	gone    []Disconnect
	// inconsistent is set while a test pretends that there is more than there is.
	inconsistent bool
}

func newFixture(t *testing.T, stored ...storage.Change) *fixture {
	f := &fixture{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	f.load()
	f.write(stored)
	f.restart()
	t.Cleanup(f.check)
	return f
}

func (f *fixture) load() *storage.State {
	f.t.Helper()
	stored, err := f.store.Load(f.t.Context(), spec.LocalUser, f.now.Add(-spec.StaleTab))
	if err != nil {
		f.t.Fatal(err)
	}
	f.epoch = stored.Epoch
	return stored
}

func (f *fixture) write(changes []storage.Change) {
	f.store.Write(spec.LocalUser, f.epoch, changes, func(err error) {
		if err != nil {
			f.t.Error(err)
		}
	})
}

// restart makes a State of what is stored, as a new process would.
func (f *fixture) restart() {
	f.t.Helper()
	f.State, f.due = New(naming.ToolNamer{}), map[Timer]time.Time{}
	stored := f.load()
	f.change(func(tx *Tx) {
		tx.Restore(stored, func(r storage.Tab) (items []*item.Item) {
			for kind, raws := range map[spec.Kind][]json.RawMessage{spec.KindTool: r.Tools, spec.KindResource: r.Resources, spec.KindPrompt: r.Prompts} {
				for _, raw := range raws {
					items = append(items, f.parse(kind, raw, item.Provenance{Domain: r.Domain, Origin: r.Origin, Verified: r.Verified}, nil))
				}
			}
			return items
		})
	})
}

func (f *fixture) parse(kind spec.Kind, raw json.RawMessage, p item.Provenance, err error) *item.Item {
	f.t.Helper()
	it, err := item.Parse(kind, raw, &f.schemas, func(claimed item.Claim) (item.Provenance, error) {
		p.Pack = claimed.Pack
		return p, err
	})
	if err != nil {
		f.t.Fatalf("%s: %v", raw, err)
	}
	return it
}

func (f *fixture) change(change func(*Tx)) {
	f.t.Helper()
	c := f.Begin(f.now)
	change(c)
	work := c.End()
	f.write(work.Writes)
	f.gone = append(f.gone, work.Disconnects...)
	for _, t := range work.Timers {
		f.due[t] = f.now.Add(t.After)
	}
	if len(f.names) < 1000 { // it takes its time
		f.check()
	}
}

func (f *fixture) check() {
	f.t.Helper()
	if err := f.Check(); err != nil && !f.inconsistent {
		f.t.Fatalf("inconsistent: %v", err)
	}
}

// pretend runs test while pretend has changed the state to something that is not so,
// and undone undoes it.
func (f *fixture) pretend(pretend, test, undone func()) {
	f.t.Helper()
	f.inconsistent = true
	pretend()
	test()
	undone()
	f.inconsistent = false
	f.check()
}

// pass lets time pass, and timers run out.
func (f *fixture) pass(d time.Duration) {
	f.t.Helper()
	until := f.now.Add(d)
	for {
		var next Timer
		for t, at := range f.due {
			if !at.After(until) && (next == (Timer{}) || at.Before(f.due[next])) {
				next = t
			}
		}
		if next == (Timer{}) {
			f.now = until
			return
		}
		f.now = f.due[next]
		delete(f.due, next)
		f.change(func(tx *Tx) { tx.TimerOver(next) })
	}
}

// close stores what is open as seen, as the end of a process does.
func (f *fixture) close() { f.change((*Tx).SaveSeen) }

var fresh = Fresh{Secret: rand.Text, ID: rand.Text}

func (f *fixture) connect(conn tabtransport.Conn) spec.PeerID {
	f.t.Helper()
	var id spec.PeerID
	var err error
	f.change(func(tx *Tx) {
		id, _, err = tx.Connect(conn, fresh)
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return id
}

// page connects a single tab of an origin.
func (f *fixture) page(origin, key string) spec.TabAddr {
	f.t.Helper()
	return spec.TabAddr{Peer: f.connect(tabtransport.Conn{Origin: origin, Dialect: spec.Subprotocol, Hello: &spec.Hello{TabKey: key}})}
}

// chrome connects a browser with the extension, and returns the address of one of its
// tabs.
func (f *fixture) chrome(id, session string, tab int64, more ...spec.Capability) spec.TabAddr {
	f.t.Helper()
	peer := f.connect(tabtransport.Conn{
		Origin: "chrome-extension://x", Attested: true, Pairing: "p1", Dialect: spec.Subprotocol,
		Hello: &spec.Hello{BrowserID: spec.BrowserID(id), Session: session, BrowserName: "Chrome", Capabilities: append(more, spec.CapOpenTab)},
	})
	return spec.TabAddr{Peer: peer, Tab: tab}
}

func (f *fixture) disconnect(tab spec.TabAddr) {
	f.t.Helper()
	f.change(func(tx *Tx) { tx.Disconnected(tab.Peer) })
}

func (f *fixture) closeTab(tab spec.TabAddr) {
	f.t.Helper()
	f.change(func(tx *Tx) { tx.TabClosed(tab) })
}

func (f *fixture) tabState(tab spec.TabAddr, m *spec.TabState) {
	f.t.Helper()
	f.change(func(tx *Tx) { tx.TabState(tab, m) })
}

// register registers items of a kind for a tab at a URL.
func (f *fixture) register(tab spec.TabAddr, kind spec.Kind, url string, raws ...string) Outcome {
	f.t.Helper()
	m := &spec.Register{Kind: kind, TabURL: url}
	var r *Registration
	f.change(func(tx *Tx) { r = tx.BeginRegistration(tab, m) })
	var items []*item.Item
	for _, raw := range raws {
		p, err := item.ProvenanceOf(r.Conn, r.TabURL, item.Claim{})
		items = append(items, f.parse(kind, json.RawMessage(raw), p, err))
	}
	var out Outcome
	var err error
	f.change(func(tx *Tx) { out, err = tx.Register(r, m, items, nil) })
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}

// tools registers simple tools. A name may carry extra members after a colon:
// `name:"annotations":{…}`.
func (f *fixture) tools(tab spec.TabAddr, url string, names ...string) Outcome {
	f.t.Helper()
	var raws []string
	for _, n := range names {
		name, extra, ok := strings.Cut(n, ":")
		if ok {
			extra = "," + extra
		}
		raws = append(raws, fmt.Sprintf(`{"name":%q%s}`, name, extra))
	}
	return f.register(tab, spec.KindTool, url, raws...)
}

// listed returns the listed public names of a kind.
func (f *fixture) listed(kind spec.Kind, template bool) string {
	var names []string
	for domain := range f.Domains() {
		for _, l := range f.List(nil, agents.By{}, domain, kind, template) {
			if !l.Alone {
				names = append(names, strings.TrimPrefix(l.Public, "website_tool_"))
			}
		}
	}
	return strings.Join(names, " ")
}

func (f *fixture) wantTools(want string) {
	f.t.Helper()
	if got := f.listed(spec.KindTool, false); got != want {
		f.t.Errorf("listed %q, want %q", got, want)
	}
}

// target returns the tab that a call of a tool would go to, and the page's name of it.
func (f *fixture) target(name string) (tab spec.TabAddr, tool string) {
	r, ok := f.Lookup(agents.By{}, spec.KindTool, "website_tool_"+name)
	if !ok {
		return tab, "unknown"
	}
	s := f.Snapshot(&r, agents.By{}, nil, "", nil)
	if best, _ := s.Choose(); best >= 0 {
		tab = s.Candidates[best].Addr
	}
	return tab, r.Page
}

func (f *fixture) wantTarget(name string, tab spec.TabAddr, tool string) {
	f.t.Helper()
	if gotTab, gotTool := f.target(name); gotTab != tab || gotTool != tool {
		f.t.Errorf("%s is %q of %s, want %q of %s", name, gotTool, gotTab, tool, tab)
	}
}

func (f *fixture) wantUnknown(name string) {
	f.t.Helper()
	f.wantTarget(name, spec.TabAddr{}, "unknown")
	if _, ok := f.Find(agents.By{}, spec.KindTool, "website_tool_"+name); ok {
		f.t.Errorf("%s is found", name)
	}
}

// Two transactions at once, or one that goes on when its work is done, would lose writes.
func TestOneTxAtATime(t *testing.T) {
	panics := func(f func()) (panicked bool) {
		defer func() { panicked = recover() != nil }()
		f()
		return
	}
	s := New(naming.ToolNamer{})
	tx := s.Begin(time.Now())
	if !panics(func() { s.Begin(time.Now()) }) {
		t.Error("a second one begins")
	}
	tx.End()
	if !panics(func() { tx.SaveSeen() }) {
		t.Error("it goes on after its end")
	}
	s.Begin(time.Now()).End()
}
