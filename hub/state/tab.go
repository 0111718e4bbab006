package state

import (
	"sync/atomic"
	"time"

	"tabhub/describe"
	"tabhub/hub/offer/item"
	"tabhub/spec"
	"tabhub/storage"
)

// tab is one tab of a peer.
type tab struct {
	addr      spec.TabAddr
	key       string // names the tab over reconnects and restarts
	peer      *peer
	url       string
	title     string
	window    int64
	focused   uint64       // when it became the active one last, as a sequence number
	keepTools bool         // the user wants its site's items cached
	hidden    bool         // restored from the store, has not come back yet
	confirmed bool         // heard of since its peer connected last
	reloaded  bool         // its peer came back with another document
	dialog    *spec.Dialog // that its page has open; nil: none
	waiting   bool         // a call waits for the person in front of it
	discarded bool         // its page is not loaded; a call has its browser load it
	updated   time.Time
	saved     time.Time // when its URL was stored last
	items     map[spec.Kind][]*item.Item
	stale     map[spec.Kind]bool              // items that were not registered again since its peer came back
	left      map[spec.Kind]map[item.Key]bool // items whose document has gone; the next one may offer them
	rejected  map[spec.Kind][]spec.Rejection
	domains   map[spec.Domain]*membership
	born      uint64 // when it was made, as a sequence number

	// calls counts the calls to the tab that are in flight. It is not guarded with
	// the state: a Candidate counts.
	calls atomic.Int64
}

// membership is a tab's part in a domain.
type membership struct {
	domain   *domain
	number   int
	origin   string
	verified bool
}

// maxTabs bounds the tabs of one peer.
const maxTabs = 10_000

// minSave is the least time between two records of a tab that has only moved.
const minSave = 5 * time.Second

// tabKey names a tab for good. Tab ids of a browser are void after a restart.
func tabKey(p *peer, session string, n int64) string {
	if p.browser == "" {
		return string(p.id)
	}
	return string(p.id) + "/" + session + "/" + spec.TabAddr{Tab: n}.String()[1:]
}

// tab returns the tab at addr, making it if need be; nil if its peer is not there, or
// has too many.
func (tx *Tx) tab(addr spec.TabAddr) *tab {
	if t := tx.tabs[addr]; t != nil {
		return t
	}
	p := tx.peers[addr.Peer]
	if p == nil || len(p.tabs) >= maxTabs {
		return nil
	}
	t := &tab{
		addr: addr, key: tabKey(p, p.session, addr.Tab), peer: p, updated: tx.now,
		items:    map[spec.Kind][]*item.Item{},
		stale:    map[spec.Kind]bool{},
		left:     map[spec.Kind]map[item.Key]bool{},
		rejected: map[spec.Kind][]spec.Rejection{},
		domains:  map[spec.Domain]*membership{},
	}
	t.born = tx.next()
	tx.tabs[addr] = t
	p.tabs[addr.Tab] = t
	return t
}

// markStale marks what the tab is to register again.
func (t *tab) markStale() {
	for kind, items := range t.items {
		if len(items) > 0 {
			t.stale[kind] = true
		}
	}
}

// departed reports whether the document of an item of the tab has gone, and calls wait for the
// next one. In a tab that sleeps a call has it loaded.
func (t *tab) departed(it *item.Item) bool { return !t.discarded && t.left[it.Kind][it.Key()] }

// confirm says that a tab has been heard of.
func (t *tab) confirm(tx *Tx) {
	t.confirmed = true
	t.peer.confirmBrowser(tx)
}

// show lists what was restored of a tab, which has come back.
func (t *tab) show(tx *Tx) {
	if t.hidden {
		t.hidden = false
		t.relabel(tx)
	}
}

// relabel says that what the lists say of a tab has changed.
func (t *tab) relabel(tx *Tx) {
	for _, m := range t.domains {
		m.domain.relist(tx)
	}
}

// setTitle reports whether a tab has another title now.
func (t *tab) setTitle(title string) bool {
	changed := title != t.title
	t.title = title
	return changed
}

// TabState takes in what a tab or browser says of a tab's state.
func (tx *Tx) TabState(from spec.TabAddr, m *spec.TabState) {
	if m.InUse != nil {
		tx.ofAgents.SetInUse(from, *m.InUse && tx.TellsUse(from.Peer))
		if (*m == spec.TabState{InUse: m.InUse}) {
			return // the tab need not offer anything
		}
	}
	if m.Replaces != 0 {
		was := spec.TabAddr{Peer: from.Peer, Tab: m.Replaces}
		if before := tx.tabs[was]; before != nil {
			before.readdress(tx, from)
		}
		tx.ofAgents.Readdress(was, from)
	}
	t := tx.tab(from)
	if t == nil {
		return
	}
	t.confirm(tx)
	relabel := m.Title != nil && t.setTitle(describe.Clean(*m.Title, spec.MaxTitle))
	if m.URL != nil && *m.URL != t.url {
		t.moveTab(tx, item.TabURL(t.peer.conn, *m.URL))
	}
	if m.KeepTools != nil {
		t.keepTools = *m.KeepTools
	}
	if m.Waiting != nil {
		t.waiting = *m.Waiting
	}
	if m.Dialog != nil {
		switch m.Dialog.Type {
		case "":
			t.dialog = nil
		case "alert", "confirm", "prompt":
			t.dialog = &spec.Dialog{Type: m.Dialog.Type, Message: describe.Clean(m.Dialog.Message, spec.MaxDescription)}
		default:
			t.dialog = &spec.Dialog{Type: spec.DialogUnknown}
		}
	}
	if m.Discarded != nil && *m.Discarded != t.discarded {
		t.discarded, relabel = *m.Discarded, true
	}
	if t.discarded {
		t.show(tx) // it has nothing to register before it is loaded
	}
	if t.focus(tx, m) || relabel {
		t.relabel(tx)
	}
}

// readdress says that a tab is at another address, if no other tab is there. It keeps all else,
// its numbers in domains included.
func (t *tab) readdress(tx *Tx, to spec.TabAddr) {
	if tx.tabs[to] != nil || to.Tab == 0 {
		return
	}
	if r := tx.reading[t.addr]; r != nil {
		r.closed = true
	}
	delete(tx.tabs, t.addr)
	delete(t.peer.tabs, t.addr.Tab)
	was := t.key
	t.addr, t.key = to, tabKey(t.peer, t.peer.session, to.Tab)
	tx.tabs[to], t.peer.tabs[to.Tab] = t, t
	for _, m := range t.domains {
		n := m.domain.numbers[was]
		n.Key = t.key
		m.domain.numbers[t.key] = n
		m.domain.saveNumber(tx, t)
		m.domain.forgetNumber(tx, was)
		tx.write(storage.DeleteTab{Domain: m.domain.key, Key: was})
	}
	t.saveTab(tx)
}

// moveTab says that a tab shows another URL; "" is none that can be believed.
func (t *tab) moveTab(tx *Tx, url string) {
	if url == "" {
		return
	}
	t.url, t.updated = url, tx.now
	// The record holds all that the tab offers. A page that changes its URL all the
	// time is stored when something else is, or at the end.
	if tx.now.Sub(t.saved) > minSave {
		t.saved = tx.now
		t.saveTab(tx)
	}
}

// TabClosed forgets a tab that its browser says is closed.
func (tx *Tx) TabClosed(from spec.TabAddr) {
	if r := tx.reading[from]; r != nil {
		r.closed = true
	}
	if t := tx.tabs[from]; t != nil {
		t.dropTab(tx)
	}
	tx.ofAgents.Forget(func(a spec.TabAddr) bool { return a == from })
	if from.Tab != 0 {
		tx.disconnect(from, spec.CloseGoingAway, "the tab was closed")
	}
}

// dropTab forgets a tab that is gone for good, but for what is cached of it.
func (t *tab) dropTab(tx *Tx) {
	t.blur(tx)
	for key := range t.domains {
		gone := Gone{Addr: t.addr, Domain: key}
		for _, items := range t.items {
			for _, it := range items {
				if it.Domain == key {
					gone.Items++
				}
			}
		}
		tx.work.Gone = append(tx.work.Gone, gone)
	}
	for _, items := range t.items {
		t.withdraw(tx, items)
	}
	for _, m := range t.domains {
		t.leave(tx, m)
	}
	delete(t.peer.tabs, t.addr.Tab)
	delete(tx.tabs, t.addr)
}

// saveTab stores the tab as seen now, one record for each of its domains.
func (t *tab) saveTab(tx *Tx) {
	for key, m := range t.domains {
		r := storage.Tab{
			Domain: key, Key: t.key, Addr: t.addr, Origin: m.origin, URL: t.url, Title: t.title,
			Index: m.number, Browser: t.peer.browser, LastUpdated: tx.now, Verified: m.verified,
		}
		for _, items := range t.items {
			for _, it := range items {
				if it.Domain == key {
					r.Add(it.Kind, it.Raw)
				}
			}
		}
		tx.write(r)
	}
}
