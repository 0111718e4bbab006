package hub

import (
	"encoding/json"
	"slices"
	"tabhub/hub/item"
	"time"

	"tabhub/spec"
	"tabhub/storage"
)

// keptKey is the key of the stored record that holds what closed tabs left in a
// domain. No tab has it: their keys are never empty.
const keptKey = ""

// restoreLocked makes the state of the last run the present one. Tabs stay hidden
// until they rejoin, but calls to them wait for that; what they cached is listed.
func (h *Hub) restoreLocked(s *storage.State, now time.Time) {
	for _, b := range s.Browsers {
		h.browser[b.ID] = b
	}
	for _, site := range s.Sites {
		h.sites[site.Domain] = site
	}
	for _, n := range s.Names {
		d := h.domainLocked(n.Domain)
		d.names++
		d.idle++
		b := &binding{domain: d}
		b.id.Kind, b.id.Domain, b.id.Tab, b.id.Item = n.Kind, n.Domain, n.Tab, n.Item
		h.names[publicName{n.Kind, n.Public}] = b
	}
	for _, n := range s.Numbers {
		h.domainLocked(n.Domain).numbers[n.Key] = n
	}
	// The newest registration says what a domain's name stands for.
	tabs := slices.Concat(s.Stale, s.Tabs)
	slices.SortFunc(tabs, func(a, b storage.Tab) int { return a.LastUpdated.Compare(b.LastUpdated) })
	for _, t := range tabs {
		d := h.domainLocked(t.Domain)
		d.origin = t.Origin
		switch {
		case t.Key == keptKey:
			h.restoreKeptLocked(d, t)
		case t.LastUpdated.Before(now.Add(-spec.StaleTab)):
			h.restoreStaleLocked(d, t)
		default:
			h.restoreTabLocked(t, now)
		}
	}
	for _, p := range h.peers {
		p.grace.start(p.graceTime(), func(over func() bool) { h.graceOver(p, over) })
	}
	// What is listed now is what clients of this process start from.
	for kind := range numLists {
		h.notices.announced[kind] = h.listLocked(kind).sum
	}
}

// restoreKeptLocked brings back what closed tabs left in a domain.
func (h *Hub) restoreKeptLocked(d *domain, r storage.Tab) {
	d.url, d.updated = r.URL, r.LastUpdated
	if r.Browser != "" {
		d.lastPeer = spec.PeerID("browser:" + string(r.Browser))
	}
	for _, it := range h.restoreItems(r) {
		if o := h.offerLocked(d, it.Kind, it.Source); o != nil && !h.keepLocked(o, it) {
			h.pruneOfferLocked(o)
		}
	}
}

// restoreStaleLocked takes a tab that was open too long ago for one that was closed: it
// leaves what is to be kept.
func (h *Hub) restoreStaleLocked(d *domain, r storage.Tab) {
	t := &tab{url: r.URL}
	for _, it := range h.restoreItems(r) {
		if !h.keepsLocked(t, it) {
			continue
		}
		switch o := h.offerLocked(d, it.Kind, it.Source); {
		case o == nil:
		case h.keepLocked(o, it):
			d.url, d.updated, d.lastPeer = r.URL, r.LastUpdated, r.Addr.Peer
		default:
			h.pruneOfferLocked(o)
		}
	}
}

// restoreTabLocked brings back a tab that was open, to wait for it.
func (h *Hub) restoreTabLocked(r storage.Tab, now time.Time) {
	p := h.peers[r.Addr.Peer]
	if p == nil {
		p = &peer{id: r.Addr.Peer, browser: r.Browser, tabs: map[int64]*tab{}, activeTab: map[int64]*tab{}, lastSeen: r.LastUpdated}
		h.peers[p.id] = p
	}
	t := h.tabLocked(r.Addr, now)
	t.key, t.url, t.title, t.updated, t.hidden = r.Key, r.URL, r.Title, r.LastUpdated, true
	for _, it := range h.restoreItems(r) {
		if err := h.holdLocked(t, it, now); err != nil {
			h.log.Warn("stored item left out", "domain", r.Domain, "tool", it.Source, "err", err)
			continue
		}
		t.items[it.Kind] = append(t.items[it.Kind], it)
		d := h.domains[it.Domain]
		if h.keepsLocked(t, it) && h.keepLocked(d.offers[it.Kind][it.Source], it) && d.url == "" {
			d.url, d.lastPeer, d.updated = t.url, p.id, r.LastUpdated
		}
	}
}

// restoreItems parses the items of a stored record. One that no longer passes the
// checks is left out.
func (h *Hub) restoreItems(r storage.Tab) []*item.Item {
	var items []*item.Item
	for _, of := range []struct {
		kind spec.Kind
		raws []json.RawMessage
	}{{spec.KindTool, r.Tools}, {spec.KindResource, r.Resources}, {spec.KindPrompt, r.Prompts}} {
		for _, raw := range of.raws {
			it, err := item.Parse(of.kind, raw, &h.schemas, func(string) (item.Provenance, error) {
				return item.Provenance{Domain: r.Domain, Origin: r.Origin, Verified: r.Verified}, nil
			})
			if err != nil {
				h.log.Warn("stored item left out", "domain", r.Domain, "tool", it.Source, "err", err)
				continue
			}
			items = append(items, it)
		}
	}
	return items
}

// addItem adds a raw item to a record.
func addItem(r *storage.Tab, kind spec.Kind, raw json.RawMessage) {
	switch kind {
	case spec.KindTool:
		r.Tools = append(r.Tools, raw)
	case spec.KindResource:
		r.Resources = append(r.Resources, raw)
	case spec.KindPrompt:
		r.Prompts = append(r.Prompts, raw)
	}
}
