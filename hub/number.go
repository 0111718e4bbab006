package hub

import (
	"time"

	"tabhub/spec"
	"tabhub/storage"
)

// maxNumbers bounds the numbers that are remembered of a domain's tabs, those that
// are gone included.
const maxNumbers = 4096

// freeNumberLocked returns the least number that no tab has or had within
// spec.TabNumberHeld.
func (h *Hub) freeNumberLocked(d *domain, now time.Time) int {
	taken := map[int]bool{}
	for _, t := range d.tabs {
		taken[t.domains[d.key].number] = true
	}
	for key, n := range d.numbers {
		if !taken[n.Index] && now.Sub(n.LastSeen) >= spec.TabNumberHeld {
			delete(d.numbers, key)
			h.writeLocked(storage.DeleteNumber{Domain: d.key, Key: key})
			continue
		}
		taken[n.Index] = true
	}
	if len(d.numbers) >= maxNumbers {
		h.evictNumberLocked(d)
	}
	for i := 1; ; i++ {
		if !taken[i] {
			return i
		}
	}
}

// evictNumberLocked forgets the number of the tab that went first.
func (h *Hub) evictNumberLocked(d *domain) {
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
		delete(d.numbers, oldest)
		h.writeLocked(storage.DeleteNumber{Domain: d.key, Key: oldest})
	}
}
