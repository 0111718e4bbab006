package lists

import (
	"maps"
	"slices"
	"sync"
	"time"

	"tabhub/hub/agents"
	"tabhub/spec"
)

// maxCoalesced is how long changes are collected while they do not cease: a page
// that changes its tools all the time must not make every client list all the time.
const maxCoalesced = time.Second

// notifier tells watchers of changes, those within spec.NotifyCoalesced at once, and
// ever more at once, up to maxCoalesced, the more follow. It has one goroutine, which
// ends with the Hub.
type notifier struct {
	h    *Lists
	wake chan struct{} // capacity 1
	done chan struct{} // closed when the goroutine has ended

	mu       sync.Mutex
	watchers map[int]func(Change)
	next     int
	uris     []updated // of resources that changed
	policy   bool      // the policy has changed
}

func newNotifier(h *Lists) *notifier {
	return &notifier{h: h, wake: make(chan struct{}, 1), done: make(chan struct{}), watchers: map[int]func(Change){}}
}

// start begins to tell of what changes from now on: what is listed now is what clients
// of this process start from.
func (n *notifier) start() {
	n.h.changedLists(agents.By{})
	go n.run()
}

// Watch calls f for each change until stop is called or the Hub ends. f must not block;
// calls come one at a time.
func (ls *Lists) Watch(f func(Change)) (stop func()) {
	n := ls.notices
	n.mu.Lock()
	id := n.next
	n.next++
	n.watchers[id] = f
	n.mu.Unlock()
	return func() {
		n.mu.Lock()
		delete(n.watchers, id)
		n.mu.Unlock()
	}
}

// dirty says that a list may have changed. It does not block.
func (n *notifier) dirty() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// allChanged says that what a client is listed may be anything else: what holds for it has
// changed.
func (n *notifier) allChanged() {
	n.mu.Lock()
	n.policy = true
	n.mu.Unlock()
	n.dirty()
}

// updated says that resources have changed.
func (n *notifier) updated(uris []updated) {
	if len(uris) == 0 {
		return
	}
	n.mu.Lock()
	for _, u := range uris {
		if !slices.Contains(n.uris, u) {
			n.uris = append(n.uris, u)
		}
	}
	n.mu.Unlock()
	n.dirty()
}

// run tells of changes until the Hub ends.
func (n *notifier) run() {
	defer close(n.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	var last time.Time // of the last notice
	delay := spec.NotifyCoalesced
	for {
		select {
		case <-n.wake:
		case <-n.h.core.Context().Done():
			return
		}
		if time.Since(last) > maxCoalesced {
			delay = spec.NotifyCoalesced
		}
		timer.Reset(delay)
		select {
		case <-timer.C:
		case <-n.h.core.Context().Done():
			return
		}
		if n.announce() {
			last, delay = time.Now(), min(2*delay, maxCoalesced)
		}
	}
}

// announce tells the watchers what is other than at the last time, if anything is.
// Labels are not.
func (n *notifier) announce() bool {
	c := n.h.changedLists(agents.By{})
	c.bound = n.h.boundChanges()
	n.mu.Lock()
	uris := n.uris
	n.uris = nil
	c.Policy, n.policy = n.policy, false
	watchers := slices.Collect(maps.Values(n.watchers))
	n.mu.Unlock()
	for _, u := range uris {
		c.update(u)
	}
	if c.Policy {
		c.Tools, c.Resources, c.Prompts = true, true, true
	}
	if !c.lists() && len(c.Updated) == 0 && len(c.bound) == 0 {
		return false
	}
	for _, f := range watchers {
		f(c)
	}
	return true
}

// Change says what has changed since the last Change. Changes within
// spec.NotifyCoalesced are one.
type Change struct {
	Tools, Resources, Prompts bool     // names, schemas or set changed: list_changed
	Policy                    bool     // because the policy has
	Updated                   []string // public URIs of resources whose content changed
	Tasks                     []string // ids of tasks; a Hub's Tasks say so, not its Watch

	bound map[string]Change // of clients that are bound to browsers, by agents.By.Bound; see ChangeFor
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
func (c *Change) update(u updated) {
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
