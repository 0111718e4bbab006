package hub

import (
	"cmp"
	"slices"
	"tabhub/hub/item"
	"time"

	"tabhub/naming"
	"tabhub/spec"
	"tabhub/storage"
)

// domain is all that is known of one domain key. It is guarded by Hub.mu.
type domain struct {
	key     spec.Domain
	share   *share // of its site
	origin  string
	tabs    []*tab                    // that have a part in it, by number
	numbers map[string]storage.Number // by tab key, also of tabs that are gone
	offers  map[spec.Kind]map[string]*offer
	sorted  map[spec.Kind][]*offer // by item name; nil: to be sorted
	blocks  [numLists]*block       // rendered lists; nil: to be rendered
	names   int                    // public names taken
	idle    int                    // of them: nobody has the item now
	kept    int                    // items that closed tabs left

	lastCall string      // URL of the tab that the last call went to
	url      string      // where to open the domain, if a tab of it was kept
	lastPeer spec.PeerID // the browser that last had it
	updated  time.Time   // of what is kept
	opening  *opening    // a tab that is being opened for it
}

// offer is one item name within a domain. It is guarded by Hub.mu.
type offer struct {
	id      naming.Identity
	domain  *domain
	public  string
	holders []*holder  // by tab number
	kept    *item.Item // what a closed tab left; counts while no tab has the item
}

// holder is a tab that has the item. It is guarded by Hub.mu; its fields do not
// change but for item and seq.
type holder struct {
	offer  *offer
	tab    *tab
	number int
	public string
	item   *item.Item
	seq    uint64 // of the registration that brought item
}

func (h *Hub) domainLocked(key spec.Domain) *domain {
	d := h.domains[key]
	if d == nil {
		d = &domain{
			key:     key,
			numbers: map[string]storage.Number{},
			offers:  map[spec.Kind]map[string]*offer{},
			sorted:  map[spec.Kind][]*offer{},
		}
		h.domains[key] = d
		h.joinShareLocked(d)
		at, _ := slices.BinarySearch(h.order, key)
		h.order = slices.Insert(h.order, at, key)
	}
	return d
}

// staleLocked says that the rendered lists of a domain no longer hold.
func (h *Hub) staleLocked(d *domain) {
	d.blocks = [numLists]*block{}
	h.touchLocked()
}

// enterLocked gives a tab its part in a domain, with its number.
func (h *Hub) enterLocked(t *tab, it *item.Item, now time.Time) *part {
	key := it.Domain
	if p := t.domains[key]; p != nil {
		return p
	}
	d := h.domainLocked(key)
	d.origin = it.Origin
	if d.opening != nil && d.opening.addr == t.addr {
		d.openedLocked(d.opening)
	}
	n, ok := d.numbers[t.key]
	if !ok {
		n = storage.Number{Domain: key, Key: t.key, Index: h.freeNumberLocked(d, now)}
	}
	n.LastSeen = now
	d.numbers[t.key] = n
	h.writeLocked(n)
	p := &part{number: n.Index, origin: it.Origin, verified: it.Verified}
	t.domains[key] = p
	at, _ := slices.BinarySearchFunc(d.tabs, p.number, func(t *tab, n int) int { return cmp.Compare(t.domains[key].number, n) })
	d.tabs = slices.Insert(d.tabs, at, t)
	return p
}

// leaveLocked takes a tab out of a domain. Its number stays held for a while.
func (h *Hub) leaveLocked(t *tab, key spec.Domain, p *part, now time.Time) {
	d := h.domains[key]
	d.tabs = slices.DeleteFunc(d.tabs, func(o *tab) bool { return o == t })
	n := d.numbers[t.key]
	n.LastSeen = now
	d.numbers[t.key] = n
	delete(t.domains, key)
	h.writeLocked(n)
	h.writeLocked(storage.DeleteTab{Domain: key, Key: t.key})
	h.staleLocked(d)
}

// offerLocked returns the domain's offer of an item name, making it if need be;
// nil if the domain has taken too many names.
func (h *Hub) offerLocked(d *domain, kind spec.Kind, source string) *offer {
	if o := d.offers[kind][source]; o != nil {
		return o
	}
	o := &offer{id: naming.Identity{Kind: kind, Domain: d.key, Item: source}, domain: d}
	if o.public = h.bindLocked(d, o.id, o, nil); o.public == "" {
		return nil
	}
	if d.offers[kind] == nil {
		d.offers[kind] = map[string]*offer{}
	}
	d.offers[kind][source] = o
	delete(d.sorted, kind)
	return o
}

// holdLocked makes t a holder of an item, or gives the holder it is a new item. It
// returns why it cannot.
func (h *Hub) holdLocked(t *tab, it *item.Item, now time.Time) error {
	if err := h.bytesLeftLocked(it); err != nil {
		return err
	}
	part := h.enterLocked(t, it, now)
	d := h.domains[it.Domain]
	o := h.offerLocked(d, it.Kind, it.Source)
	if o == nil {
		return errNames
	}
	at, found := slices.BinarySearchFunc(o.holders, part.number, func(hd *holder, n int) int { return cmp.Compare(hd.number, n) })
	if found {
		hd := o.holders[at]
		h.weighLocked(d, len(it.Raw)-len(hd.item.Raw))
		hd.item, hd.seq = it, h.nextLocked()
		return nil
	}
	if err := h.countLeftLocked(d, it.Kind); err != nil {
		h.pruneOfferLocked(o)
		return err
	}
	id := o.id
	id.Tab = part.number
	hd := &holder{offer: o, tab: t, number: part.number, item: it, seq: h.nextLocked()}
	if hd.public = h.bindLocked(d, id, o, hd); hd.public == "" {
		h.pruneOfferLocked(o)
		return errNames
	}
	o.holders = slices.Insert(o.holders, at, hd)
	h.countLocked(d, it.Kind, 1)
	h.weighLocked(d, len(it.Raw))
	return nil
}

// withdrawLocked takes items from a tab. What is to be kept of them stays under
// the domain's name.
func (h *Hub) withdrawLocked(t *tab, kind spec.Kind, items []*item.Item, now time.Time) {
	for _, it := range items {
		d := h.domains[it.Domain]
		o := d.offers[kind][it.Source]
		if o == nil {
			continue
		}
		at := slices.IndexFunc(o.holders, func(hd *holder) bool { return hd.tab == t })
		if at < 0 {
			continue
		}
		h.unbindLocked(kind, o.holders[at].public)
		o.holders = slices.Delete(o.holders, at, at+1)
		h.countLocked(d, kind, -1)
		h.weighLocked(d, -len(it.Raw))
		if h.keepsLocked(t, it) && h.keepLocked(o, it) {
			d.updated, d.lastPeer, d.url = now, t.peer.id, t.url
		}
		h.pruneOfferLocked(o)
		h.staleLocked(d)
	}
}

// pruneOfferLocked forgets an offer that nothing stands behind.
func (h *Hub) pruneOfferLocked(o *offer) {
	if len(o.holders) > 0 || o.kept != nil {
		return
	}
	delete(o.domain.offers[o.id.Kind], o.id.Item)
	delete(o.domain.sorted, o.id.Kind)
	h.unbindLocked(o.id.Kind, o.public)
}

// sortedLocked returns a domain's offers of a kind by item name.
func (d *domain) sortedLocked(kind spec.Kind) []*offer {
	if s, ok := d.sorted[kind]; ok {
		return s
	}
	s := make([]*offer, 0, len(d.offers[kind]))
	for _, o := range d.offers[kind] {
		s = append(s, o)
	}
	slices.SortFunc(s, func(a, b *offer) int { return cmp.Compare(a.id.Item, b.id.Item) })
	d.sorted[kind] = s
	return s
}

// newestLocked returns the holder that was registered last among those that are
// visible (or, with hidden, among all); nil if there is none.
func (o *offer) newestLocked(hidden bool) *holder {
	var newest *holder
	for _, hd := range o.holders {
		if (hidden || !hd.tab.hidden) && (newest == nil || hd.seq > newest.seq) {
			newest = hd
		}
	}
	return newest
}

func kindIndex(k spec.Kind) int {
	switch k {
	case spec.KindResource:
		return 1
	case spec.KindPrompt:
		return 2
	}
	return 0
}
