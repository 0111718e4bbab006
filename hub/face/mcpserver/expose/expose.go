// Package expose chooses which sites one of the hub's lists shows, so that what clients read of it
// costs a model no more than a budget.
package expose

import (
	"cmp"
	"iter"
	"slices"
	"sync"

	"tabhub/hub/lists"
	"tabhub/naming"
)

// Mode says which of the pages' tools, resources and prompts the lists hold. All can
// be called and read in any case, by name or through the proxy tool.
type Mode string

// The choices for Mode.
const (
	All   Mode = "all"
	Proxy Mode = "proxy" // of tools the builtin ones alone
	// Auto lists the sites that fit the budget, each with all it has, see
	// Chooser. For clients that are known to ignore changes of the list it is
	// Proxy.
	Auto Mode = "auto"
)

// Chooser chooses which sites one of the hub's lists shows. A site is listed with all
// its elements or not at all.
//
// The budget is shared as fairly as that allows: a site that costs no more than an
// equal share is always listed, and what such sites leave of theirs makes the shares
// of the others larger. Sites above their share are listed as long as there is room:
// those that were listed before come first, so that a new one never takes the place of
// another that costs as much. One that was left out has to fall by a fifth below what
// it could have, so that a list that hovers about the budget does not flap.
//
// The choice depends on the hub alone, not on the client.
type Chooser struct {
	mu       sync.Mutex
	from     *lists.Listing // that was chosen from last; nil before the first time
	last     *Choice
	notified uint64 // the sum at the latest notification
}

// Choice is what is listed of a list.
type Choice struct {
	sites map[string]bool // false if it was left out
	sum   uint64          // differs when a client would have to list again
}

// Has reports whether an element is listed.
func (c *Choice) Has(it *lists.Item) bool { return c.sites[naming.SiteOf(it.Domain)] }

// Of yields what is listed of l: all if there is no choice.
func (c *Choice) Of(l *lists.Listing) iter.Seq[*lists.Item] {
	return func(yield func(*lists.Item) bool) {
		var site siteOf
		for i := range l.Items {
			if it := &l.Items[i]; (c == nil || c.sites[site.of(it)]) && !yield(it) {
				return
			}
		}
	}
}

// Choose returns what is listed of l.
func (e *Chooser) Choose(l *lists.Listing, budget int) *Choice {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.chooseLocked(l, budget)
}

// Changed reports whether l has changed what clients are listed. They are to be
// notified if so.
func (e *Chooser) Changed(l *lists.Listing, budget int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	sum := e.chooseLocked(l, budget).sum
	was := e.notified
	e.notified = sum
	return sum != was
}

// chooseLocked returns the same until l is another.
func (e *Chooser) chooseLocked(l *lists.Listing, budget int) *Choice {
	if e.from != l {
		var was map[string]bool
		if e.last != nil {
			was = e.last.sites
		}
		c := &Choice{sites: chooseSites(costs(l), bytesPerToken*budget, was)}
		for it := range c.Of(l) {
			c.sum = c.sum*31 + it.Sum
		}
		e.from, e.last = l, c
	}
	return e.last
}

// bytesPerToken is a rough estimate, for English and JSON.
const bytesPerToken = 4

// Tokens estimates what bytes of JSON cost a model.
func Tokens(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }

// siteOf returns the sites of items. Those of one domain follow each other.
type siteOf struct {
	domain *lists.Item
	site   string
}

func (s *siteOf) of(it *lists.Item) string {
	if s.domain == nil || s.domain.Domain != it.Domain {
		s.domain, s.site = it, naming.SiteOf(it.Domain)
	}
	return s.site
}

// cost is what a site's elements cost in a list.
type cost struct {
	site  string
	bytes int
}

func costs(l *lists.Listing) []cost {
	var all []cost
	at := map[string]int{}
	var site siteOf
	for i := range l.Items {
		name := site.of(&l.Items[i])
		k, ok := at[name]
		if !ok {
			k = len(all)
			at[name] = k
			all = append(all, cost{site: name})
		}
		all[k].bytes += len(l.Items[i].JSON) + len(",")
	}
	return all
}

// chooseSites says for each site whether it is listed. was is what it said last, for
// the sites that there were.
func chooseSites(sites []cost, budget int, was map[string]bool) map[string]bool {
	listed := make(map[string]bool, len(sites))
	// needs is the room that a site has to find.
	needs := func(c cost) int {
		if listed, known := was[c.site]; known && !listed {
			return c.bytes + c.bytes/4
		}
		return c.bytes
	}
	slices.SortFunc(sites, func(a, b cost) int {
		return cmp.Or(cmp.Compare(needs(a), needs(b)), cmp.Compare(a.site, b.site))
	})
	left, rest := budget, sites
	for len(rest) > 0 && needs(rest[0]) <= left/len(rest) {
		listed[rest[0].site] = true
		left -= rest[0].bytes
		rest = rest[1:]
	}
	for _, before := range []bool{true, false} {
		for _, c := range rest {
			if was[c.site] != before {
				continue
			}
			fits := needs(c) <= left
			if listed[c.site] = fits; fits {
				left -= c.bytes
			}
		}
	}
	return listed
}
