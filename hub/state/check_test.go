package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/offer/item"
	"tabhub/spec"
)

// However tabs come, go, sleep, take another's place and change what they offer, packs are removed, and
// sessions lease and open tabs, the state makes sense after each change.
func TestConsistentAfterEachChange(t *testing.T) {
	for seed := range uint64(2) {
		h := &history{fixture: newFixture(t), Rand: rand.New(rand.NewPCG(seed, 1)), joined: map[spec.PeerID]bool{}}
		for range 1000 {
			h.step()
		}
	}
}

// history is a fixture to which anything happens.
type history struct {
	*fixture
	*rand.Rand
	joined  map[spec.PeerID]bool
	reading []func() // registrations that have begun
}

func (h *history) step() {
	// A tab n of a browser is at site n, and so is page n.
	n := h.IntN(6)
	url := fmt.Sprintf("https://s%d.com", n%3)
	at := spec.TabAddr{Peer: spec.PeerID(fmt.Sprint("browser:b", h.IntN(3))), Tab: int64(1 + n)}
	single := h.IntN(3) == 0
	switch {
	case single:
		at = h.page(url, fmt.Sprint("k", n))
	case !h.joined[at.Peer]:
		h.chrome(string(at.Peer[len("browser:"):]), fmt.Sprint("s", h.IntN(2)), 1)
	}
	h.joined[at.Peer] = true
	by := agent(fmt.Sprint(h.IntN(3)))
	switch h.IntN(15) {
	case 0:
		h.closeTab(at)
	case 1:
		h.tabState(at, &spec.TabState{Active: new(h.IntN(2) == 0), WindowID: new(int64(h.IntN(2))), WindowFocused: new(h.IntN(2) == 0)})
	case 2:
		h.tabState(at, &spec.TabState{Discarded: new(h.IntN(2) == 0)})
	case 3: // that of the other tab at its site
		if !single {
			h.tabState(at, &spec.TabState{Replaces: int64((n+3)%6 + 1), Discarded: new(true)})
		}
	case 4:
		h.disconnect(at)
		h.joined[at.Peer] = false
	case 5:
		h.change(func(tx *Tx) { tx.Forget(at.Peer, spec.CloseGoingAway, "gone") })
		h.joined[at.Peer] = false
	case 6:
		h.pass([]time.Duration{time.Second, spec.BrowserGrace + time.Minute}[h.IntN(2)])
	case 7:
		h.came(by)
		h.lease(by, at, agents.Terms{TTL: time.Minute})
	case 8:
		h.came(by)
		h.change(func(tx *Tx) { tx.Agents().Opened(by, at); tx.Agents().Remember(by, at) })
	case 9:
		h.went(by, h.IntN(2) == 0)
	case 10:
		h.change(func(tx *Tx) { tx.DropItems(func(it *item.Item) bool { return it.Pack.Hash == "h0" }) })
		for addr, t := range h.tabs {
			if slices.ContainsFunc(t.items[spec.KindTool], func(it *item.Item) bool { return it.Pack.Hash == "h0" }) {
				h.t.Errorf("tab %s has a tool of a pack that was removed", addr)
			}
		}
	default:
		h.begin(at, url+fmt.Sprint("/", h.IntN(3)))
	}
	for len(h.reading) > h.IntN(3) {
		h.reading[0]()
		h.reading = h.reading[1:]
	}
}

// begin begins the registration of random tools, of which t0 is cached and some are of packs.
func (h *history) begin(at spec.TabAddr, url string) {
	m := &spec.Register{Kind: spec.KindTool, TabURL: url}
	var r *Registration
	if h.change(func(tx *Tx) { r = tx.BeginRegistration(at, m) }); r == nil {
		return
	}
	var items []*item.Item
	for i, more := range []string{`,"annotations":{"cache":true}`, ``, ``, ``} {
		if h.IntN(4) == 0 {
			continue
		}
		if h.IntN(4) == 0 {
			more += `,"departed":true`
		}
		if h.IntN(4) == 0 {
			more += fmt.Sprintf(`,"pack":{"name":"p","hash":"h%d"}`, h.IntN(2))
		}
		p, err := item.ProvenanceOf(r.Conn, r.TabURL, item.Claim{})
		items = append(items, h.parse(m.Kind, json.RawMessage(fmt.Sprintf(`{"name":"t%d"%s}`, i, more)), p, err))
	}
	h.reading = append(h.reading, func() {
		h.change(func(tx *Tx) { _, _ = tx.Register(r, m, items, nil) })
	})
}

// Check returns an error that names each way in which the state contradicts itself.
func (s *State) Check() error {
	var c checker
	names := map[*domain]nameCount{}
	for addr, t := range s.tabs {
		if t.addr != addr || t.peer.tabs[addr.Tab] != t || s.peers[addr.Peer] != t.peer {
			c.bad("tab %s is not its peer's", addr)
		}
		c.tab(s, t)
	}
	for key, b := range s.names {
		n := names[b.domain]
		n.taken++
		if b.entry == nil {
			n.idle++
		}
		names[b.domain] = n
		if s.domains[b.domain.key] != b.domain {
			c.bad("name %q belongs to a domain that is gone", key.name)
		}
	}
	if !slices.IsSortedFunc(s.order, func(a, b *domain) int { return compareKey(a, b.key) }) || len(s.order) != len(s.domains) {
		c.bad("the domains are not in order")
	}
	shares, all := map[string]share{}, share{}
	for key, d := range s.domains {
		if n, want := names[d], (nameCount{d.names, d.idle}); n != want {
			c.bad("domain %s has %+v names, remembered %+v", key, n, want)
		}
		c.numbers(s, d)
		of := shares[d.share.site]
		of.site = d.share.site
		of.domains++
		n := c.entries(s, d, &of)
		if of.cached.items += n; n != d.cached {
			c.bad("domain %s has %d cached items, remembered %d", key, n, d.cached)
		}
		shares[of.site] = of
	}
	for site, of := range shares {
		for kind, n := range of.counts {
			all.counts[kind] += n
		}
		all.cached.add(of.cached.items, of.cached.bytes)
		if all.bytes += of.bytes; s.shares[site] == nil || *s.shares[site] != of {
			c.bad("site %s has %+v, remembered %+v", site, of, s.shares[site])
		}
	}
	if len(shares) != len(s.shares) {
		c.bad("%d sites are remembered, there are %d", len(s.shares), len(shares))
	}
	if all != s.all {
		c.bad("in all there is %+v, remembered %+v", all, s.all)
	}
	if s.active != nil && s.tabs[s.active.addr] != s.active {
		c.bad("the active tab is gone")
	}
	return errors.Join(c.errs...)
}

// checker collects contradictions.
type checker struct{ errs []error }

type nameCount struct{ taken, idle int }

func (c *checker) bad(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

// tab checks that a tab provides its items and is a member of its domains.
func (c *checker) tab(s *State, t *tab) {
	for kind, items := range t.items {
		for _, it := range items {
			d := t.domains[it.Domain]
			if d == nil {
				c.bad("tab %s is no member of the domain of its %s %q", t.addr, kind, it.Source)
				continue
			}
			e := d.domain.entries[keyOf(it)]
			if e == nil || !slices.ContainsFunc(e.providers, func(p *provider) bool { return p.tab == t && p.item == it }) {
				c.bad("tab %s does not provide its %s %q", t.addr, kind, it.Source)
			}
		}
	}
	for key, m := range t.domains {
		if s.domains[key] != m.domain || !slices.Contains(m.domain.tabs, t) {
			c.bad("tab %s is not in its domain %s", t.addr, key)
		}
	}
}

// numbers checks that a domain's tabs are there, each with a number of its own.
func (c *checker) numbers(s *State, d *domain) {
	numbers := map[int]bool{}
	for _, t := range d.tabs {
		m := t.domains[d.key]
		if m == nil || numbers[m.number] || s.tabs[t.addr] != t {
			c.bad("domain %s has a tab that is gone, or two with one number", d.key)
			continue
		}
		numbers[m.number] = true
	}
}

// entries checks a domain's catalog. It adds what is in it to its share, and returns
// how many items are cached.
func (c *checker) entries(s *State, d *domain, of *share) (cached int) {
	left := map[*cache]int{}
	for key, e := range d.entries {
		of.counts[kindIndex(key.kind)] += len(e.providers)
		for _, p := range e.providers {
			of.bytes += p.item.Weight()
		}
		for i, l := range e.cached {
			cached++
			of.bytes += l.item.Weight()
			of.cached.bytes += l.item.Weight()
			left[l.of]++
			if l.of.domain != d || slices.ContainsFunc(e.cached[:i], func(o leftover) bool { return o.of == l.of }) {
				c.bad("%s %q is cached twice of a browser, or for another domain", key.kind, key.source)
			}
		}
		if len(e.providers) == 0 && len(e.cached) == 0 && e.start == nil {
			c.bad("nothing stands behind %s %q", key.kind, key.source)
		}
		if b := s.names[publicName{key.kind, e.public}]; b == nil || b.entry != e || b.provider != nil || b.id != e.id || e.key() != key {
			c.bad("name %q is not bound to its %s", e.public, key.kind)
		}
		for i, p := range e.providers {
			if i > 0 && e.providers[i-1].number >= p.number {
				c.bad("the providers of %q are not in order", key.source)
			}
			if s.tabs[p.tab.addr] != p.tab || !slices.Contains(p.tab.items[key.kind], p.item) {
				c.bad("%s %q is provided by tab %s, which does not have it", key.kind, key.source, p.tab.addr)
			}
			if b := s.names[publicName{key.kind, p.public}]; b == nil || b.entry != e || b.provider != p {
				c.bad("name %q is not bound to tab %s", p.public, p.tab.addr)
			}
		}
	}
	for _, l := range d.caches {
		if left[l] != l.items || l.items == 0 && s.tx.State == nil {
			c.bad("domain %s has %d cached items of browser %q, remembered %d", d.key, left[l], l.browser, l.items)
		}
		delete(left, l)
	}
	if len(left) > 0 {
		c.bad("domain %s has cached items of a browser that it does not know", d.key)
	}
	return cached
}
