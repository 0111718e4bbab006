package state

import (
	"errors"
	"maps"
	"slices"

	"tabhub/describe"
	"tabhub/hub/offer/item"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// maxRejections bounds the rejections that are remembered and told of one registration.
const maxRejections = 100

// ErrReplaced says that a message came over a connection that has been replaced, or
// whose peer is gone: there is nobody to answer.
var ErrReplaced = errors.New("the connection was replaced")

// Registration is one that has begun: its items are being parsed.
type Registration struct {
	Conn   tabtransport.Conn // that it came over
	TabURL string            // where its tab is, as far as it is known

	from   spec.TabAddr
	peer   *peer
	joined uint64 // of the connection
	closed bool   // the tab was closed meanwhile
}

// BeginRegistration says that a tab's registration has come and will be parsed; nil if
// the tab's peer is gone. It must end with Register.
func (tx *Tx) BeginRegistration(from spec.TabAddr, m *spec.Register) *Registration {
	p := tx.peers[from.Peer]
	if p == nil {
		return nil
	}
	r := &Registration{Conn: p.conn, TabURL: m.TabURL, from: from, peer: p, joined: p.joined}
	if t := tx.tabs[from]; t != nil && m.TabURL == "" {
		r.TabURL = t.url // an update need not repeat it
	}
	tx.reading[from] = r
	return r
}

// Outcome is what a registration has come to.
type Outcome struct {
	Answer   spec.Registered  // for the tab
	Rejected []spec.Rejection // all, while Answer has the first
	Changed  bool             // the tab offered something else before
}

// Register replaces what a tab offers of one kind by items, beside which some were
// rejected (spec/PROTOCOL.md, "Registration"). What finds no room is rejected, too.
// The error is an *spec.Error for the tab, or ErrReplaced.
func (tx *Tx) Register(r *Registration, m *spec.Register, items []*item.Item, rejected []spec.Rejection) (Outcome, error) {
	if tx.reading[r.from] == r {
		delete(tx.reading, r.from)
	}
	if tx.peers[r.from.Peer] != r.peer || r.peer.joined != r.joined {
		return Outcome{}, ErrReplaced
	}
	if r.closed {
		return Outcome{}, spec.Errorf(spec.CodeTabNotFound, "the tab was closed")
	}
	t := tx.tab(r.from)
	if t == nil {
		return Outcome{}, spec.Errorf(spec.CodeLimit, "a browser may have at most %d tabs", maxTabs)
	}
	t.confirm(tx)
	t.show(tx)
	if url := item.TabURL(r.Conn, m.TabURL); url != "" {
		t.url = url
	}
	if title := describe.Clean(m.Title, spec.MaxTitle); title != "" && t.setTitle(title) {
		t.relabel(tx)
	}
	changed, over := t.replaceItems(tx, m.Kind, items)
	rejected = append(rejected, over...)
	answered := rejected[:min(len(rejected), maxRejections)]
	t.rejected[m.Kind] = answered[:len(answered):len(answered)]
	for _, no := range m.Rejected[:min(len(m.Rejected), maxRejections)] {
		t.rejected[m.Kind] = append(t.rejected[m.Kind], spec.Rejection{Name: describe.Clean(no.Name, spec.MaxName), Reason: describe.Clean(no.Reason, spec.MaxDescription)})
	}
	return Outcome{
		Answer:   spec.Registered{Accepted: len(items) - len(over), Rejected: answered, Warnings: t.warnings(m.Kind)},
		Rejected: rejected,
		Changed:  changed,
	}, nil
}

// departed returns which of the items have departed.
func departed(items []*item.Item) map[item.Key]bool {
	var keys map[item.Key]bool
	for _, it := range items {
		if it.Departed {
			if keys == nil {
				keys = map[item.Key]bool{}
			}
			keys[it.Key()] = true
		}
	}
	return keys
}

// warnings are about parts of a tab's items of a kind that were left out.
func (t *tab) warnings(kind spec.Kind) (all []spec.Rejection) {
	for _, it := range t.items[kind] {
		if all = it.Warn(all); len(all) >= maxRejections {
			return all[:maxRejections]
		}
	}
	return all
}

// replaceItems makes items all that a tab has of a kind. It reports whether anything
// changed, and which items were over a limit of the hub.
func (t *tab) replaceItems(tx *Tx, kind spec.Kind, items []*item.Item) (changed bool, over []spec.Rejection) {
	delete(t.stale, kind)
	t.left[kind] = departed(items)
	old := t.items[kind]
	if slices.EqualFunc(old, items, (*item.Item).Equal) {
		return false, nil
	}
	t.items[kind], over = t.provideAll(tx, old, items)
	t.leaveUnused(tx)
	t.updated = tx.now
	t.saveTab(tx)
	return true, over
}

// DropItems takes the items that drop reports from all tabs, and from what closed tabs have left.
func (tx *Tx) DropItems(drop func(*item.Item) bool) {
	for _, t := range tx.tabs {
		for kind, items := range t.items {
			if !slices.ContainsFunc(items, drop) {
				continue
			}
			t.items[kind] = slices.DeleteFunc(slices.Clone(items), drop)
			t.withdraw(tx, slices.DeleteFunc(slices.Clone(items), func(it *item.Item) bool { return !drop(it) }))
			t.leaveUnused(tx)
			t.saveTab(tx)
		}
	}
	for _, d := range tx.domains {
		d.dropCache(tx, nil, drop)
	}
}

// provideAll makes t a provider of items in place of those that it had. It returns
// those that it provides now.
func (t *tab) provideAll(tx *Tx, old, items []*item.Item) (provided []*item.Item, over []spec.Rejection) {
	had := make(map[item.Key]*item.Item, len(old))
	for _, it := range old {
		had[it.Key()] = it
	}
	if len(had) > 0 {
		gone := maps.Clone(had)
		for _, it := range items {
			delete(gone, it.Key())
		}
		t.withdraw(tx, slices.Collect(maps.Values(gone)))
	}
	provided = make([]*item.Item, 0, len(items))
	for _, it := range items {
		was := had[it.Key()]
		if was != nil && was.Equal(it) {
			provided = append(provided, was)
			continue
		}
		if err := t.provide(tx, it); err != nil {
			over = append(over, it.Reject(0, err))
			if was != nil {
				t.withdraw(tx, []*item.Item{was})
			}
			continue
		}
		provided = append(provided, it)
		tx.domains[it.Domain].relist(tx)
	}
	return provided, over
}
