package state

import (
	"slices"

	"tabhub/spec"
	"tabhub/storage"
)

// maxClosed bounds the closed tabs of a domain whose numbers are remembered, each for
// spec.TabNumberHeld. There may be a quarter more: forgetting searches all names.
const maxClosed = 64

// forgottenKey is, in place of a tab's key, that of the highest number which is no more
// remembered and not free yet. The lower ones are not free either.
const forgottenKey = ""

// saveNumber stores the number that a tab has in a domain as seen now, and returns it.
func (d *domain) saveNumber(tx *Tx, t *tab) int {
	n := d.numbers[t.key]
	n.LastSeen = tx.now
	d.numbers[t.key], d.seen = n, tx.now
	tx.write(n)
	return n.Index
}

// freeNumber returns the least number that no tab of a domain has or had within
// spec.TabNumberHeld.
func (d *domain) freeNumber(tx *Tx) int {
	taken := map[int]bool{}
	for _, t := range d.tabs {
		taken[t.domains[d.key].number] = true
	}
	for key, n := range d.numbers {
		if !taken[n.Index] && tx.now.Sub(n.LastSeen) >= spec.TabNumberHeld {
			d.forgetNumber(tx, key)
			continue
		}
		taken[n.Index] = true
	}
	for i := d.numbers[forgottenKey].Index + 1; ; i++ {
		if !taken[i] {
			return i
		}
	}
}

// boundNumbers forgets the numbers of the tabs that went first, and the names with them, if too
// many are remembered. They stay taken.
func (d *domain) boundNumbers(tx *Tx) {
	if len(d.numbers)-len(d.tabs) <= maxClosed+maxClosed/4 {
		return
	}
	open := map[string]bool{forgottenKey: true}
	for _, t := range d.tabs {
		open[t.key] = true
	}
	var closed []storage.Number
	for key, n := range d.numbers {
		if !open[key] {
			closed = append(closed, n)
		}
	}
	slices.SortFunc(closed, func(a, b storage.Number) int { return b.LastSeen.Compare(a.LastSeen) })
	top := d.numbers[forgottenKey]
	top.Domain = d.key
	gone := map[int]bool{}
	for _, n := range closed[min(maxClosed, len(closed)):] {
		d.forgetNumber(tx, n.Key)
		gone[n.Index] = true
		top.Index = max(top.Index, n.Index)
		if n.LastSeen.After(top.LastSeen) {
			top.LastSeen = n.LastSeen
		}
	}
	d.numbers[forgottenKey] = top
	tx.write(top)
	for key, b := range tx.names {
		if b.domain == d && b.entry == nil && gone[b.id.Tab] {
			tx.forgetName(key, b)
		}
	}
}

func (d *domain) forgetNumber(tx *Tx, tabKey string) {
	delete(d.numbers, tabKey)
	tx.write(storage.DeleteNumber{Domain: d.key, Key: tabKey})
}
