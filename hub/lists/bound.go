package lists

import (
	"maps"
	"sync"

	"tabhub/hub/agents"
	"tabhub/hub/trust/consent"
)

// boundLists are the lists of clients that are bound to browsers: clients that are bound to the
// same browsers share theirs. They are made when such a client asks, and a domain of them anew only when
// its generation is another, so that a client that is not bound pays nothing. The zero value is ready.
type boundLists struct {
	mu   sync.Mutex
	made map[string]*boundList // by agents.By.Bound
}

type boundList struct {
	of    agents.By
	lists [numLists]listCache
}

// maxBound bounds the bindings whose lists are kept, and told the changes of.
const maxBound = 256

// listsOf returns the cache of one of the lists for clients with a binding.
func (ls *Lists) listsOf(of agents.By, kind ListKind) *listCache {
	bound := of.Bound()
	if bound == "" {
		return &ls.lists[kind]
	}
	b := &ls.bound
	b.mu.Lock()
	list := b.made[bound]
	fresh := list == nil
	if fresh {
		if b.made == nil || len(b.made) >= maxBound {
			b.made = map[string]*boundList{}
		}
		list = &boundList{of: agents.By{Browsers: of.Browsers}}
		b.made[bound] = list
	}
	b.mu.Unlock()
	if fresh {
		ls.changedLists(of) // changes are told from now on
	}
	return &list.lists[kind]
}

// changedLists returns which lists of a binding are others than when it was called last.
func (ls *Lists) changedLists(of agents.By) (c Change) {
	for kind := range numLists {
		cache, now := ls.listsOf(of, kind), ls.BoundList(of, kind)
		cache.mu.Lock()
		if cache.told != nil && *cache.told != now.sum {
			c.add(kind)
		}
		cache.told = new(now.sum) // of its own: it is not to keep the list
		cache.mu.Unlock()
	}
	return c
}

// boundChanges returns what has changed in the lists of clients that are bound to browsers.
func (ls *Lists) boundChanges() (changed map[string]Change) {
	ls.bound.mu.Lock()
	made := maps.Clone(ls.bound.made)
	ls.bound.mu.Unlock()
	for bound, list := range made {
		if c := ls.changedLists(list.of); c.lists() {
			if changed == nil {
				changed = map[string]Change{}
			}
			changed[bound] = c
		}
	}
	return changed
}

// IsBound reports whether a client is bound to browsers.
func (ls *Lists) IsBound(by *consent.Caller) bool { return ls.rules.By(by).Browsers != nil }

// ChangeFor returns what a client is to know of a change, nothing if it has none of it: of one
// that is bound to browsers, what has changed there.
func (ls *Lists) ChangeFor(by *consent.Caller, c Change) Change {
	bound := ls.rules.By(by).Bound()
	if bound == "" {
		return c
	}
	of := c.bound[bound]
	if c.Policy {
		of.Policy, of.Tools, of.Resources, of.Prompts = true, true, true, true
	}
	return of
}
