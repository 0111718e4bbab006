package state

import (
	"errors"
	"maps"
	"slices"

	"tabhub/describe"
	"tabhub/hub/item"
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
func (c *Change) BeginRegistration(from spec.TabAddr, m *spec.Register) *Registration {
	p := c.peers[from.Peer]
	if p == nil {
		return nil
	}
	r := &Registration{Conn: p.conn, TabURL: m.TabURL, from: from, peer: p, joined: p.joined}
	if t := c.tabs[from]; t != nil && m.TabURL == "" {
		r.TabURL = t.url // an update need not repeat it
	}
	c.reading[from] = r
	return r
}

// Outcome is what a registration has come to.
type Outcome struct {
	Answer   spec.Registered  // for the tab
	Rejected []spec.Rejection // all, while Answer has the first
	Changed  bool             // the tab offered something else before
}

// Register replaces what a tab offers of one kind by items, beside which some were
// rejected (spec/docs/RULES.md, "Registration"). What finds no room is rejected, too.
// The error is an *spec.Error for the tab, or ErrReplaced.
func (c *Change) Register(r *Registration, m *spec.Register, items []*item.Item, rejected []spec.Rejection) (Outcome, error) {
	if c.reading[r.from] == r {
		delete(c.reading, r.from)
	}
	if c.peers[r.from.Peer] != r.peer || r.peer.joined != r.joined {
		return Outcome{}, ErrReplaced
	}
	if r.closed {
		return Outcome{}, spec.Errorf(spec.CodeTabNotFound, "the tab was closed")
	}
	t := c.tab(r.from)
	if t == nil {
		return Outcome{}, spec.Errorf(spec.CodeLimit, "a browser may have at most %d tabs", maxTabs)
	}
	c.confirm(t)
	c.show(t)
	if url := item.TabURL(r.Conn, m.TabURL); url != "" {
		t.url = url
	}
	if title := describe.Clean(m.Title, spec.MaxTitle); title != "" && t.setTitle(title) {
		c.relabel(t)
	}
	changed, over := c.replaceItems(t, m.Kind, items)
	rejected = append(rejected, over...)
	t.rejected[m.Kind] = rejected[:min(len(rejected), maxRejections)]
	return Outcome{
		Answer:   spec.Registered{Accepted: len(items) - len(over), Rejected: t.rejected[m.Kind]},
		Rejected: rejected,
		Changed:  changed,
	}, nil
}

// replaceItems makes items all that a tab has of a kind. It reports whether anything
// changed, and which items were over a limit of the hub.
func (c *Change) replaceItems(t *tab, kind spec.Kind, items []*item.Item) (changed bool, over []spec.Rejection) {
	delete(t.stale, kind)
	old := t.items[kind]
	if slices.EqualFunc(old, items, (*item.Item).Equal) {
		return false, nil
	}
	t.items[kind], over = c.provideAll(t, old, items)
	c.leaveUnused(t)
	t.updated = c.now
	c.saveTab(t)
	return true, over
}

// provideAll makes t a provider of items in place of those that it had. It returns
// those that it provides now.
func (c *Change) provideAll(t *tab, old, items []*item.Item) (provided []*item.Item, over []spec.Rejection) {
	had := make(map[item.Key]*item.Item, len(old))
	for _, it := range old {
		had[it.Key()] = it
	}
	if len(had) > 0 {
		gone := maps.Clone(had)
		for _, it := range items {
			delete(gone, it.Key())
		}
		c.withdraw(t, slices.Collect(maps.Values(gone)))
	}
	provided = make([]*item.Item, 0, len(items))
	for _, it := range items {
		was := had[it.Key()]
		if was != nil && was.Equal(it) {
			provided = append(provided, was)
			continue
		}
		if err := c.provide(t, it); err != nil {
			over = append(over, it.Reject(0, err))
			if was != nil {
				c.withdraw(t, []*item.Item{was})
			}
			continue
		}
		provided = append(provided, it)
		c.relist(c.domains[it.Domain])
	}
	return provided, over
}
