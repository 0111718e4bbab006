package hub

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"tabhub/spec"
	"tabhub/storage"
)

// Tabs returns all tabs but those that have not rejoined since a restart, by
// browser and tab.
func (h *Hub) Tabs() []TabInfo {
	h.mu.RLock()
	defer h.mu.RUnlock()
	infos := make([]TabInfo, 0, len(h.tabs))
	for _, t := range h.tabs {
		if !t.hidden {
			infos = append(infos, h.tabInfoLocked(t))
		}
	}
	slices.SortFunc(infos, func(a, b TabInfo) int {
		return cmp.Or(cmp.Compare(a.Addr.Peer, b.Addr.Peer), cmp.Compare(a.Addr.Tab, b.Addr.Tab))
	})
	return infos
}

func (h *Hub) tabInfoLocked(t *tab) TabInfo {
	p := t.peer
	info := TabInfo{
		Addr: t.addr, Key: t.key, Browser: p.browser, BrowserName: p.name, URL: t.url, Title: t.title,
		Active: p.activeTab[t.window] == t, Focused: h.active == t, Attested: p.conn.Attested,
		Connected: p.connected && !t.hidden, LastUpdated: t.updated, InFlight: int(t.inFlight.Load()),
		Domains: []TabDomain{},
	}
	if p.browser == "" && p.conn.Origin != "" && p.conn.ClaimedOrigin == "" {
		info.Attested = true // the Origin header is the browser's word
	}
	for key, part := range t.domains {
		td := TabDomain{Domain: key, Number: part.number}
		for kind, items := range t.items {
			for _, it := range items {
				if it.Domain != key {
					continue
				}
				switch kind {
				case spec.KindTool:
					td.Tools++
				case spec.KindResource:
					td.Resources++
				case spec.KindPrompt:
					td.Prompts++
				}
			}
		}
		info.Domains = append(info.Domains, td)
	}
	slices.SortFunc(info.Domains, func(a, b TabDomain) int { return cmp.Compare(a.Domain, b.Domain) })
	for _, kind := range []spec.Kind{spec.KindTool, spec.KindResource, spec.KindPrompt} {
		info.Rejected = append(info.Rejected, t.rejected[kind]...)
	}
	return info
}

// Browsers returns all peers, single tabs included, that are connected or in their
// grace.
func (h *Hub) Browsers() []BrowserInfo {
	h.mu.RLock()
	defer h.mu.RUnlock()
	infos := make([]BrowserInfo, 0, len(h.peers))
	for _, p := range h.peers {
		if p.connectedAt.IsZero() {
			continue // restored, has not rejoined
		}
		info := BrowserInfo{
			Peer: p.id, ID: p.browser, Name: p.name, Connected: p.connected, Attested: p.conn.Attested,
			Single: p.browser == "", Focused: h.active != nil && h.active.peer == p, Dialect: p.conn.Dialect,
			Capabilities: slices.Sorted(maps.Keys(p.caps)), Tabs: len(p.tabs),
			ConnectedAt: p.connectedAt, LastSeen: p.lastSeen, Pairing: p.conn.Pairing,
		}
		if p.connected {
			info.LastSeen = time.Now()
		}
		infos = append(infos, info)
	}
	slices.SortFunc(infos, func(a, b BrowserInfo) int { return cmp.Compare(a.Peer, b.Peer) })
	return infos
}

// Explain says where a call of a tool's name would go now, and why. The error is
// an *UnknownError.
func (h *Hub) Explain(name string) (Explanation, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	r := run{h: h, kind: spec.KindTool, name: name}
	b := h.lookupLocked(&r)
	if b == nil {
		return Explanation{}, h.unknownLocked(spec.KindTool, name)
	}
	e := Explanation{Name: name, Kind: b.id.Kind, Domain: b.id.Domain, Item: b.id.Item, Candidates: []Candidate{}}
	s := h.snapshotLocked(b, nil, nil)
	best, reason := choose(s)
	e.Reason = reason
	for i, c := range s.candidates {
		note := "not chosen"
		switch {
		case i == best:
			note = "chosen: " + reason
		case !c.present:
			note = "away"
		}
		info := h.tabInfoLocked(c.tab)
		e.Candidates = append(e.Candidates, Candidate{Tab: info, Number: c.number, Note: note})
		if i == best {
			e.Tab = &info
			if !c.present {
				e.Reason += "; it is away, a call would wait for it"
			}
		}
	}
	if best < 0 && b.offer != nil && b.id.Tab == 0 {
		e.OpenURL = b.domain.openURL()
		switch {
		case h.openerLocked(b.domain, "") != nil:
			e.Reason += "; one would be opened"
		case h.openerAwayLocked(""):
			e.Reason += "; a call would wait for the browser, which is away, and open one"
		default:
			e.Reason += ", and no connected browser can open one"
		}
	}
	return e, nil
}

// Capabilities returns MCP-B's browser capabilities, aggregated over all peers.
func (h *Hub) Capabilities() Capabilities {
	h.mu.RLock()
	defer h.mu.RUnlock()
	c := Capabilities{MultiTabSupport: true, CacheSupported: true}
	for _, p := range h.peers {
		if p.connected && p.caps[spec.CapElicit] {
			c.Elicitation = true
		}
	}
	return c
}

// Status counts what the hub holds.
func (h *Hub) Status() Status {
	h.mu.RLock()
	defer h.mu.RUnlock()
	s := Status{
		User: h.opts.User, Tools: h.counts[0], Resources: h.counts[1], Prompts: h.counts[2],
		InFlight: int(h.inFlight.Load()), Calls: h.calls.Load(),
	}
	for _, p := range h.peers {
		if p.connected && p.browser != "" {
			s.Browsers++
		}
	}
	for _, t := range h.tabs {
		if !t.hidden {
			s.Tabs++
		}
		for _, r := range t.rejected {
			s.Rejected += len(r)
		}
	}
	for _, d := range h.domains {
		if slices.ContainsFunc(d.tabs, func(t *tab) bool { return !t.hidden }) {
			s.Domains++
		}
	}
	if err := h.storeErr.Load(); err != nil {
		s.StoreError = (*err).Error()
	}
	return s
}

// Sites returns the per-site settings, by domain.
func (h *Hub) Sites() []storage.Site {
	h.mu.RLock()
	defer h.mu.RUnlock()
	sites := slices.Collect(maps.Values(h.sites))
	slices.SortFunc(sites, func(a, b storage.Site) int { return cmp.Compare(a.Domain, b.Domain) })
	return sites
}

// SetSite replaces the settings of a site. Turning its cache off forgets what is
// kept of it. It does not wait for the store.
func (h *Hub) SetSite(s storage.Site) error {
	if s.Domain == "" {
		return errors.New("a site needs a domain, as `tabhub tools` shows it")
	}
	if s.CallTimeout < 0 || s.CallTimeout > h.opts.CallTimeoutMax {
		return fmt.Errorf("a call timeout must be between 0 and %s", h.opts.CallTimeoutMax)
	}
	h.update(func() {
		h.sites[s.Domain] = s
		h.writeLocked(s)
		d := h.domains[s.Domain]
		if d == nil || s.Cache == nil || *s.Cache {
			return
		}
		h.dropKeptLocked(d)
	})
	return nil
}
