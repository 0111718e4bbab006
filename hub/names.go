package hub

import (
	"errors"
	"slices"

	"tabhub/naming"
	"tabhub/spec"
	"tabhub/storage"
)

// Bounds on the names that pages can make the hub remember by making up ever new
// ones. At a bound, names that nobody has now are forgotten.
const (
	maxNames    = 16 << 10 // of a domain
	maxAllNames = 16 * maxNames
	manyNames   = maxNames / 16 // worth a search for those that can go
)

var errNames = errors.New("this site has used too many different names")

// publicName is a key of Hub.names. Each kind has names of its own.
type publicName struct {
	kind spec.Kind
	name string
}

// binding is what a public name stands for. It is guarded by Hub.mu.
type binding struct {
	id     naming.Identity
	domain *domain
	offer  *offer  // nil: nobody has the item now
	holder *holder // nil for a domain's own name
	made   bool    // for one call, from a template; it is not in Hub.names
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

// bindLocked makes the public name of an identity stand for o, or for hd if that is
// not nil, taking the name if it is new. It returns "" if there is none to take.
func (h *Hub) bindLocked(d *domain, id naming.Identity, o *offer, hd *holder) string {
	public := h.publicLocked(id)
	if public == "" {
		return ""
	}
	key := publicName{id.Kind, public}
	b := h.names[key]
	if b != nil && b.id != id && b.offer == nil {
		h.forgetNameLocked(key, b) // an earlier version gave it to another
		b = nil
	}
	switch {
	case b == nil:
		if !h.roomForNameLocked(d) {
			return ""
		}
		d.names++
		b = &binding{id: id, domain: d}
		h.names[key] = b
		if id.Kind != spec.KindResource { // URIs need no memory: they are never shared
			h.writeLocked(storage.Name{Public: public, Kind: id.Kind, Domain: id.Domain, Tab: id.Tab, Item: id.Item})
		}
	case b.offer == nil:
		d.idle--
	}
	b.offer, b.holder = o, hd
	return public
}

// renamedLocked returns what name, which b stands for and nobody has now, is a former
// name of: the binding of the name that b's identity has now, or b if it has none. An
// earlier version gave the name, or a hub with another limit. The result is nil if the
// form of the name makes it another site's: a call that names a site must not go
// elsewhere, even if that site has never been here.
func (h *Hub) renamedLocked(name string, b *binding) *binding {
	if owner, ok := naming.Owner(name); ok && owner != b.id.Domain {
		return nil
	}
	o := b.domain.offers[b.id.Kind][b.id.Item]
	if o == nil {
		return b
	}
	public := o.public
	if b.id.Tab != 0 {
		i := slices.IndexFunc(o.holders, func(hd *holder) bool { return hd.number == b.id.Tab })
		if i < 0 {
			return b
		}
		public = o.holders[i].public
	}
	return h.names[publicName{b.id.Kind, public}]
}

// unbindLocked says that nobody has what a name stands for. The name stays taken.
func (h *Hub) unbindLocked(kind spec.Kind, public string) {
	key := publicName{kind, public}
	b := h.names[key]
	b.offer, b.holder = nil, nil
	if kind == spec.KindResource {
		delete(h.names, key)
		b.domain.names--
		return
	}
	b.domain.idle++
}

// roomForNameLocked reports whether a domain may take one more name.
func (h *Hub) roomForNameLocked(d *domain) bool {
	switch {
	case len(h.names) >= maxAllNames:
		most := d
		for _, other := range h.domains {
			if other.idle > most.idle {
				most = other
			}
		}
		h.forgetNamesLocked(d, func(of *domain) bool { return of == most || most.idle < manyNames })
	case d.names >= maxNames && d.idle >= manyNames:
		h.forgetNamesLocked(d, func(of *domain) bool { return of == d })
	}
	return d.names < maxNames && len(h.names) < maxAllNames
}

// forgetNamesLocked forgets the names of the domains that match which nobody has,
// and those domains, but asking, of which nothing is left then.
func (h *Hub) forgetNamesLocked(asking *domain, match func(*domain) bool) {
	for key, b := range h.names {
		if b.offer != nil || !match(b.domain) {
			continue
		}
		h.forgetNameLocked(key, b)
	}
	h.order = slices.DeleteFunc(h.order, func(key spec.Domain) bool {
		d := h.domains[key]
		if d == asking || d.names > 0 || len(d.tabs) > 0 || !match(d) {
			return false
		}
		for tab := range d.numbers {
			h.writeLocked(storage.DeleteNumber{Domain: key, Key: tab})
		}
		delete(h.domains, key)
		h.leaveShareLocked(d)
		return true
	})
}

// forgetNameLocked forgets a name that nobody has.
func (h *Hub) forgetNameLocked(key publicName, b *binding) {
	delete(h.names, key)
	b.domain.names--
	b.domain.idle--
	h.writeLocked(storage.DeleteName{Public: key.name})
}
