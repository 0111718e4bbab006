package hub

import (
	"cmp"
	"slices"
	"time"

	"tabhub/naming"
	"tabhub/spec"
	"tabhub/storage"
)

// Bounds on what pages can make the hub remember by making up ever new names.
const (
	maxNames    = 16 << 10 // that a domain may ever take
	maxAllNames = 16 * maxNames
	maxNumbers  = 4096                // of a domain's tabs, those that are gone included
	maxKept     = spec.MaxToolsPerTab // of a domain's closed tabs
)

// domain is all that is known of one domain key. It is guarded by Hub.mu.
type domain struct {
	key     spec.Domain
	origin  string
	tabs    []*tab                    // that have a part in it, by number
	numbers map[string]storage.Number // by tab key, also of tabs that are gone
	offers  map[spec.Kind]map[string]*offer
	sorted  map[spec.Kind][]*offer // by item name; nil: to be sorted
	blocks  [numLists]*block       // rendered lists; nil: to be rendered
	names   int                    // public names taken

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
	holders []*holder // by tab number
	kept    *item     // what a closed tab left; counts while no tab has the item
}

// holder is a tab that has the item. It is guarded by Hub.mu; its fields do not
// change but for item and seq.
type holder struct {
	offer  *offer
	tab    *tab
	number int
	public string
	item   *item
	seq    uint64 // of the registration that brought item
}

// publicName is a key of Hub.names. Each kind has names of its own.
type publicName struct {
	kind spec.Kind
	name string
}

// binding is what a public name stands for, for good. It is guarded by Hub.mu.
type binding struct {
	id     naming.Identity
	domain *domain
	offer  *offer  // nil: nobody has the item now
	holder *holder // nil for a domain's own name
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
func (h *Hub) enterLocked(t *tab, it *item, now time.Time) *part {
	key := it.domain
	if p := t.domains[key]; p != nil {
		return p
	}
	d := h.domainLocked(key)
	d.origin = it.origin
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
	p := &part{number: n.Index, origin: it.origin, verified: it.verified}
	t.domains[key] = p
	at, _ := slices.BinarySearchFunc(d.tabs, p.number, func(t *tab, n int) int { return cmp.Compare(t.domains[key].number, n) })
	d.tabs = slices.Insert(d.tabs, at, t)
	return p
}

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
	delete(d.numbers, oldest)
	h.writeLocked(storage.DeleteNumber{Domain: d.key, Key: oldest})
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
	b := h.bindLocked(d, o.id)
	if b == nil {
		return nil
	}
	b.offer, o.public = o, h.publicLocked(o.id)
	if d.offers[kind] == nil {
		d.offers[kind] = map[string]*offer{}
	}
	d.offers[kind][source] = o
	delete(d.sorted, kind)
	return o
}

// publicLocked returns the public name of an identity.
func (h *Hub) publicLocked(id naming.Identity) string {
	if id.Kind == spec.KindResource {
		return h.namer.URI(id)
	}
	return h.namer.Name(id, func(public string) (naming.Identity, bool) {
		b := h.names[publicName{id.Kind, public}]
		if b == nil {
			return naming.Identity{}, false
		}
		return b.id, true
	})
}

// bindLocked returns the binding of an identity's public name, taking the name if
// it is new; nil if the domain may not take more.
func (h *Hub) bindLocked(d *domain, id naming.Identity) *binding {
	public := h.publicLocked(id)
	key := publicName{id.Kind, public}
	if b := h.names[key]; b != nil {
		return b
	}
	if d.names >= maxNames || len(h.names) >= maxAllNames {
		return nil
	}
	d.names++
	b := &binding{id: id, domain: d}
	h.names[key] = b
	if id.Kind != spec.KindResource { // URIs need no memory: they are never shared
		h.writeLocked(storage.Name{Public: public, Kind: id.Kind, Domain: id.Domain, Tab: id.Tab, Item: id.Item})
	}
	return b
}

// holdLocked makes t a holder of an item, or gives the holder it is a new item.
func (h *Hub) holdLocked(t *tab, it *item, now time.Time) bool {
	part := h.enterLocked(t, it, now)
	d := h.domains[it.domain]
	o := h.offerLocked(d, it.kind, it.source)
	if o == nil {
		return false
	}
	at, found := slices.BinarySearchFunc(o.holders, part.number, func(hd *holder, n int) int { return cmp.Compare(hd.number, n) })
	if found {
		o.holders[at].item, o.holders[at].seq = it, h.nextLocked()
		return true
	}
	id := o.id
	id.Tab = part.number
	b := h.bindLocked(d, id)
	if b == nil {
		return false
	}
	hd := &holder{offer: o, tab: t, number: part.number, public: h.publicLocked(id), item: it, seq: h.nextLocked()}
	b.offer, b.holder = o, hd
	o.holders = slices.Insert(o.holders, at, hd)
	h.counts[kindIndex(it.kind)]++
	return true
}

// withdrawLocked takes items from a tab. What is to be kept of them stays under
// the domain's name.
func (h *Hub) withdrawLocked(t *tab, kind spec.Kind, items []*item, now time.Time) {
	for _, it := range items {
		d := h.domains[it.domain]
		o := d.offers[kind][it.source]
		if o == nil {
			continue
		}
		at := slices.IndexFunc(o.holders, func(hd *holder) bool { return hd.tab == t })
		if at < 0 {
			continue
		}
		h.unbindLocked(kind, o.holders[at].public)
		o.holders = slices.Delete(o.holders, at, at+1)
		h.counts[kindIndex(kind)]--
		if h.keepsLocked(t, it) && (o.kept != nil || d.keptCount() < maxKept) {
			o.kept, d.updated, d.lastPeer, d.url = it, now, t.peer.id, t.url
			h.keptLocked(d)
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

// unbindLocked says that nobody has what a name stands for. The name stays taken.
func (h *Hub) unbindLocked(kind spec.Kind, public string) {
	key := publicName{kind, public}
	b := h.names[key]
	b.offer, b.holder = nil, nil
	if kind == spec.KindResource {
		delete(h.names, key)
		h.domains[b.id.Domain].names--
	}
}

// keptCount returns how many items are kept of the domain's tabs.
func (d *domain) keptCount() int {
	n := 0
	for _, offers := range d.offers {
		for _, o := range offers {
			if o.kept != nil {
				n++
			}
		}
	}
	return n
}

// keepsLocked reports whether an item stays when its tab goes.
func (h *Hub) keepsLocked(t *tab, it *item) bool {
	if !it.verified || t.url == "" {
		return false
	}
	if s, ok := h.sites[it.domain]; ok && s.Cache != nil {
		return *s.Cache
	}
	return it.cached || t.keep
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
