package hub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"tabhub/describe"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// maxRejections bounds the rejections that are kept and told of one registration.
const maxRejections = 100

// maxParse bounds the time that a registration takes to check: patterns in schemas
// can make it long. 1,024 tools without any take a hundredth of it.
const maxParse = time.Second

// minSave is the least time between two records of a tab that has only moved.
const minSave = 5 * time.Second

// Message implements tabtransport.Handler.
func (hd *handler) Message(from spec.TabAddr, id json.RawMessage, msg spec.Inbound) {
	h := (*Hub)(hd)
	switch m := msg.(type) {
	case *spec.Register:
		h.register(from, id, m)
		return
	case *spec.TabState:
		h.tabState(from, m)
	case *spec.TabClosed:
		h.tabClosed(from)
	case *spec.ResourceUpdated:
		h.resourceUpdated(from, m.URI)
	}
	if id != nil {
		h.transport.Respond(from, id, struct{}{}, nil)
	}
}

// reading is a registration that is being read. It is guarded by Hub.mu until it has
// been taken in.
type reading struct {
	closed bool // the tab was closed meanwhile
}

// register replaces what a tab offers of one kind (spec/docs/RULES.md,
// "Registration"). Items that cannot be served are quarantined; the others live.
func (h *Hub) register(from spec.TabAddr, id json.RawMessage, m *spec.Register) {
	start := time.Now()
	h.mu.Lock()
	p, at := h.peers[from.Peer], m.TabURL
	if t := h.tabs[from]; t != nil && at == "" {
		at = t.url // an update need not repeat it
	}
	if p == nil {
		h.mu.Unlock()
		return // given up while its message was under way
	}
	conn, joined := p.conn, p.joined
	read := &reading{}
	h.reading[from] = read
	h.mu.Unlock()
	if len(m.Items) == 0 {
		h.log.Info("empty registration", "tab", from, "kind", m.Kind)
	}
	items, rejected := h.parseItems(conn, m, at)
	url := tabURL(conn, m.TabURL)
	var changed, full bool
	h.update(func() {
		if h.reading[from] == read {
			delete(h.reading, from)
		}
		if h.peers[from.Peer] != p || p.joined != joined || read.closed {
			return // its connection was replaced or the tab closed meanwhile
		}
		now := time.Now()
		t := h.tabLocked(from, now)
		if t == nil {
			full = true
			return
		}
		t.confirmed = true
		h.confirmLocked(t.peer)
		h.showLocked(t)
		if url != "" {
			t.url = url
		}
		if title := describe.Clean(m.Title, spec.MaxTitle); title != "" && title != t.title {
			t.title = title
			h.relabelLocked(t)
		}
		var over []spec.Rejection
		changed, over = h.registerLocked(t, m.Kind, items, now)
		rejected = append(rejected, over...)
		t.rejected[m.Kind] = rejected[:min(len(rejected), maxRejections)]
		if id != nil {
			answer := spec.Registered{Accepted: len(items) - len(over), Rejected: t.rejected[m.Kind]}
			h.acks = append(h.acks, func(err error) {
				if err != nil {
					h.transport.Respond(from, id, nil, spec.Errorf(spec.CodeInternal, "registered, but not stored: %v", err))
					return
				}
				h.transport.Respond(from, id, answer, nil)
			})
		}
	})
	if read.closed {
		if id != nil {
			h.transport.Respond(from, id, nil, spec.Errorf(spec.CodeTabNotFound, "the tab was closed"))
		}
		return
	}
	if full && id != nil {
		h.transport.Respond(from, id, nil, spec.Errorf(spec.CodeLimit, "a browser may have at most %d tabs", maxTabs))
	}
	if m.Kind == spec.KindResource {
		h.resubscribe(from)
	}
	if changed || len(rejected) > 0 {
		h.recordRegistration(from, m, items, rejected, time.Since(start))
	}
}

// parseItems checks the items of a registration, outside of any lock. url is where
// the tab is.
func (h *Hub) parseItems(conn tabtransport.Conn, m *spec.Register, url string) ([]*item, []spec.Rejection) {
	items := make([]*item, 0, len(m.Items))
	where := func(it *item) error { return it.place(conn, url) }
	rejected := []spec.Rejection{}
	type place struct {
		domain spec.Domain
		source string
	}
	seen := make(map[place]bool, len(m.Items))
	start := time.Now()
	for i, raw := range m.Items {
		if time.Since(start) > maxParse {
			rejected = append(rejected, spec.Rejection{Name: "*", Reason: fmt.Sprintf("the schemas take too long to check; the last %d are left out", len(m.Items)-i)})
			break
		}
		if i >= spec.MaxToolsPerTab {
			rejected = append(rejected, spec.Rejection{Name: "*", Reason: fmt.Sprintf("a tab may offer at most %d of a kind; the other %d are left out", spec.MaxToolsPerTab, len(m.Items)-i)})
			break
		}
		it, err := parseItem(m.Kind, raw, &h.schemas, where)
		if err == nil && seen[place{it.domain, it.source}] {
			err = fmt.Errorf("%q is registered twice; the first counts", it.source)
		}
		if err != nil {
			rejected = append(rejected, spec.Rejection{Name: rejectedName(it, i), Reason: err.Error()})
			continue
		}
		seen[place{it.domain, it.source}] = true
		items = append(items, it)
	}
	return items, rejected
}

func rejectedName(it *item, i int) string {
	if it.source != "" {
		return describe.Clean(it.source, spec.MaxName)
	}
	return fmt.Sprintf("#%d", i)
}

// registerLocked makes items all that a tab has of a kind. Results are those of
// setItemsLocked.
func (h *Hub) registerLocked(t *tab, kind spec.Kind, items []*item, now time.Time) (changed bool, over []spec.Rejection) {
	if t.stale[kind] {
		delete(t.stale, kind)
		h.touchLocked() // calls may wait for it
	}
	if changed, over = h.setItemsLocked(t, kind, items, now); changed {
		t.updated = now
		h.saveTabLocked(t, now)
	}
	return changed, over
}

// showLocked lists what was restored of a tab, which has rejoined.
func (h *Hub) showLocked(t *tab) {
	if t.hidden {
		t.hidden = false
		h.relabelLocked(t)
	}
}

// setItemsLocked replaces a tab's items of a kind. It reports whether anything
// changed, and which items were over a limit of the hub.
func (h *Hub) setItemsLocked(t *tab, kind spec.Kind, items []*item, now time.Time) (changed bool, over []spec.Rejection) {
	old := t.items[kind]
	if slices.EqualFunc(old, items, sameItem) {
		return false, nil
	}
	var gone, added []*item
	had := make(map[itemKey]*item, len(old))
	for _, it := range old {
		had[it.key()] = it
	}
	replaced := map[itemKey]*item{}
	set := make([]*item, 0, len(items))
	for _, it := range items {
		if was := had[it.key()]; was != nil {
			delete(had, it.key())
			if sameItem(was, it) {
				set = append(set, was)
				continue
			}
			replaced[it.key()] = was
		}
		added = append(added, it)
	}
	for _, it := range old {
		if had[it.key()] != nil {
			gone = append(gone, it)
		}
	}
	h.withdrawLocked(t, kind, gone, now)
	for _, it := range added {
		if err := h.holdLocked(t, it, now); err != nil {
			over = append(over, spec.Rejection{Name: rejectedName(it, 0), Reason: err.Error()})
			if was := replaced[it.key()]; was != nil {
				h.withdrawLocked(t, kind, []*item{was}, now)
			}
			continue
		}
		set = append(set, it)
		h.staleLocked(h.domains[it.domain])
	}
	t.items[kind] = set
	h.pruneDomainsLocked(t, now)
	return true, over
}

// pruneDomainsLocked takes the tab out of domains in which it has nothing left.
func (h *Hub) pruneDomainsLocked(t *tab, now time.Time) {
	has := map[spec.Domain]bool{}
	for _, items := range t.items {
		for _, it := range items {
			has[it.domain] = true
		}
	}
	for key, part := range t.domains {
		if !has[key] {
			h.leaveLocked(t, key, part, now)
		}
	}
}

type itemKey struct {
	domain spec.Domain
	source string
}

func (it *item) key() itemKey { return itemKey{it.domain, it.source} }

func sameItem(a, b *item) bool {
	return a.domain == b.domain && a.origin == b.origin && bytes.Equal(a.raw, b.raw)
}

// saveTabLocked queues the tab's records, one for each of its domains, as seen now.
func (h *Hub) saveTabLocked(t *tab, now time.Time) {
	for key, part := range t.domains {
		r := storage.Tab{
			Domain: key, Key: t.key, Addr: t.addr, Origin: part.origin, URL: t.url, Title: t.title,
			Index: part.number, Browser: t.peer.browser, LastUpdated: now, Verified: part.verified,
		}
		for kind, items := range t.items {
			for _, it := range items {
				if it.domain == key {
					addItem(&r, kind, it.raw)
				}
			}
		}
		h.writeLocked(r)
	}
}

// tabState takes in what a tab or browser says of a tab's state.
func (h *Hub) tabState(from spec.TabAddr, m *spec.TabState) {
	h.update(func() {
		now := time.Now()
		t := h.tabLocked(from, now)
		if t == nil {
			return
		}
		t.confirmed = true
		h.confirmLocked(t.peer)
		relabel := false
		if m.Title != nil {
			if title := describe.Clean(*m.Title, spec.MaxTitle); title != t.title {
				t.title, relabel = title, true
			}
		}
		if m.URL != nil && *m.URL != t.url {
			if url := tabURL(t.peer.conn, *m.URL); url != "" {
				t.url, t.updated = url, now
				// The record holds all that the tab offers. A page that changes its URL
				// all the time is stored when something else is, or at the end.
				if now.Sub(t.saved) > minSave {
					t.saved = now
					h.saveTabLocked(t, now)
				}
			}
		}
		if m.KeepTools != nil {
			t.keep = *m.KeepTools
		}
		if h.focusLocked(t, m) || relabel {
			h.relabelLocked(t)
		}
	})
}

// relabelLocked renders anew the domains that a tab has a part in.
func (h *Hub) relabelLocked(t *tab) {
	for key := range t.domains {
		h.staleLocked(h.domains[key])
	}
}

// tabClosed forgets a tab that its browser says is closed.
func (h *Hub) tabClosed(from spec.TabAddr) {
	h.update(func() {
		if read := h.reading[from]; read != nil {
			read.closed = true
		}
		if t := h.tabs[from]; t != nil {
			h.dropTabLocked(t, time.Now())
		}
	})
	if from.Tab != 0 {
		h.transport.Disconnect(from, spec.CloseGoingAway, "the tab was closed")
	}
}
