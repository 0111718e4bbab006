package hub

import (
	"maps"
	"slices"
	"sync"

	"tabhub/hub/consent"
	"tabhub/hub/state"
)

// boundLists are the lists of clients that are bound to browsers: those who are bound to the
// same share theirs. They are made when such a client asks, and a domain of them anew only when
// its generation is another, so that who is not bound pays nothing. The zero value is ready.
type boundLists struct {
	mu   sync.Mutex
	made map[string]*[numLists]listCache // by state.By.Bound
}

// maxBound bounds the bindings whose lists are kept.
const maxBound = 64

// listsOf returns where one of the lists is kept for those who are bound as of is.
func (h *Hub) listsOf(of state.By, kind ListKind) *listCache {
	bound := of.Bound()
	if bound == "" {
		return &h.lists[kind]
	}
	b := &h.bound
	b.mu.Lock()
	defer b.mu.Unlock()
	lists := b.made[bound]
	if lists == nil {
		if b.made == nil || len(b.made) >= maxBound {
			b.made = map[string]*[numLists]listCache{}
		}
		lists = new([numLists]listCache)
		b.made[bound] = lists
	}
	return &lists[kind]
}

// boundWatch is the clients that are connected and bound to browsers, and what those who are
// bound to the same were told of last. The zero value is ready.
type boundWatch struct {
	mu        sync.Mutex
	clients   map[*consent.Caller]struct{}
	announced map[string][numLists]uint64 // by state.By.Bound
}

// sumsFor returns what differs when somebody would have to list again.
func (h *Hub) sumsFor(of state.By) (sums [numLists]uint64) {
	for kind := range numLists {
		sums[kind] = h.BoundList(of, kind).sum
	}
	return sums
}

// watchBound has a client told of changes until leave is called, if it is bound to browsers: of
// those from now on.
func (h *Hub) watchBound(by *consent.Caller) (leave func()) {
	w, of := &h.boundTo, h.by(by)
	var sums [numLists]uint64
	if of.Bound() != "" {
		sums = h.sumsFor(of)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.clients == nil {
		w.clients, w.announced = map[*consent.Caller]struct{}{}, map[string][numLists]uint64{}
	}
	w.clients[by] = struct{}{} // also without a bound: it may get one
	if _, known := w.announced[of.Bound()]; !known && of.Bound() != "" {
		w.announced[of.Bound()] = sums
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.clients, by)
	}
}

// boundChanges returns what has changed in the lists of those who are bound to browsers and
// connected.
func (h *Hub) boundChanges() (changed map[string]Change) {
	w := &h.boundTo
	w.mu.Lock()
	clients := slices.Collect(maps.Keys(w.clients))
	w.mu.Unlock()
	sums := map[string][numLists]uint64{}
	for _, by := range clients {
		of := h.by(by)
		if _, done := sums[of.Bound()]; !done && of.Bound() != "" {
			sums[of.Bound()] = h.sumsFor(of)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for bound, now := range sums {
		was, known := w.announced[bound]
		var c Change
		for kind := range numLists {
			if known && now[kind] != was[kind] {
				c.add(kind)
			}
		}
		if w.announced[bound] = now; c.lists() {
			if changed == nil {
				changed = map[string]Change{}
			}
			changed[bound] = c
		}
	}
	maps.DeleteFunc(w.announced, func(bound string, _ [numLists]uint64) bool {
		_, is := sums[bound]
		return !is && len(w.announced) > maxBound
	})
	return changed
}

// add notes that a list has changed.
func (c *Change) add(kind ListKind) {
	switch kind {
	case ListTools:
		c.Tools = true
	case ListPrompts:
		c.Prompts = true
	default:
		c.Resources = true
	}
}

// update notes that the content of a resource has changed.
func (c *Change) update(u state.Updated) {
	if u.Bound == "" {
		c.Updated = append(c.Updated, u.URI)
		return
	}
	if c.bound == nil {
		c.bound = map[string]Change{}
	}
	of := c.bound[u.Bound]
	of.Updated = append(of.Updated, u.URI)
	c.bound[u.Bound] = of
}

// lists reports whether any list has changed.
func (c *Change) lists() bool { return c.Tools || c.Resources || c.Prompts }

// IsBound reports whether a client is bound to browsers.
func (h *Hub) IsBound(by *consent.Caller) bool { return h.by(by).Browsers != nil }

// ChangeFor returns what a client is to know of a change, nothing if it has none of it: of one
// that is bound to browsers, what has changed there.
func (h *Hub) ChangeFor(by *consent.Caller, c Change) Change {
	bound := h.by(by).Bound()
	if bound == "" {
		return c
	}
	of := c.bound[bound]
	if c.Policy {
		of.Policy, of.Tools, of.Resources, of.Prompts = true, true, true, true
	}
	return of
}
