package state

import (
	"tabhub/spec"
	"tabhub/storage"
)

// maxNumbers bounds the numbers that are remembered of a domain's tabs, those that
// are gone included.
const maxNumbers = 4096

// saveNumber stores the number that a tab has in a domain as seen now, and returns it.
func (c *Change) saveNumber(d *domain, t *tab) int {
	n := d.numbers[t.key]
	n.LastSeen = c.now
	d.numbers[t.key] = n
	c.write(n)
	return n.Index
}

// freeNumber returns the least number that no tab of a domain has or had within
// spec.TabNumberHeld.
func (c *Change) freeNumber(d *domain) int {
	taken := map[int]bool{}
	for _, t := range d.tabs {
		taken[t.domains[d.key].number] = true
	}
	for key, n := range d.numbers {
		if !taken[n.Index] && c.now.Sub(n.LastSeen) >= spec.TabNumberHeld {
			c.forgetNumber(d, key)
			continue
		}
		taken[n.Index] = true
	}
	if len(d.numbers) >= maxNumbers {
		c.evictNumber(d)
	}
	for i := 1; ; i++ {
		if !taken[i] {
			return i
		}
	}
}

// evictNumber forgets the number of the tab that went first.
func (c *Change) evictNumber(d *domain) {
	open := map[string]bool{}
	for _, t := range d.tabs {
		open[t.key] = true
	}
	oldest := ""
	for key, n := range d.numbers {
		if !open[key] && (oldest == "" || n.LastSeen.Before(d.numbers[oldest].LastSeen)) {
			oldest = key
		}
	}
	if oldest != "" {
		c.forgetNumber(d, oldest)
	}
}

func (c *Change) forgetNumber(d *domain, tabKey string) {
	delete(d.numbers, tabKey)
	c.write(storage.DeleteNumber{Domain: d.key, Key: tabKey})
}
