package state

import "tabhub/hub/offer/item"

// Start is an item of a pack that is offered while no tab has it: a call of it opens URL.
type Start struct {
	Item *item.Item
	URL  string
}

// SetStarts makes starts all that is offered so.
func (tx *Tx) SetStarts(starts []Start) {
	for _, d := range tx.domains {
		for _, e := range d.entries {
			if e.start != nil {
				e.start = nil
				e.prune(tx)
				d.relist(tx)
			}
		}
	}
	for i := range starts {
		d := tx.domain(starts[i].Item.Domain)
		d.origin = starts[i].Item.Origin
		if e := d.entry(tx, starts[i].Item); e != nil {
			e.start = &starts[i]
			d.relist(tx)
		}
	}
}
