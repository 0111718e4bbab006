package state

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"tabhub/hub/agents"
	"tabhub/spec"
	"tabhub/storage"
)

// TabInfo describes one tab.
type TabInfo struct {
	Addr        spec.TabAddr     `json:"addr"`
	Key         string           `json:"key"`
	Browser     spec.BrowserID   `json:"browserId,omitempty"`
	BrowserName string           `json:"browser,omitempty"`
	Label       string           `json:"label,omitempty"` // the name that the browser has from its owner
	URL         string           `json:"url"`
	Title       string           `json:"title"`
	Active      bool             `json:"active"`   // the active tab of its window
	Focused     bool             `json:"focused"`  // what routing calls active: of the last focused window of the last focused browser
	Attested    bool             `json:"attested"` // its origin is the browser's word
	Connected   bool             `json:"connected"`
	Waiting     bool             `json:"waiting,omitempty"`   // a call waits for the person in front of it, or for the owner, who uses it
	Discarded   bool             `json:"discarded,omitempty"` // its page is not loaded; a call has it loaded
	Dialog      *spec.Dialog     `json:"dialog,omitempty"`    // that blocks its page
	LastUpdated time.Time        `json:"lastUpdated"`
	Domains     []TabDomain      `json:"domains"`
	InFlight    int              `json:"inFlight"`
	HeldBy      *agents.Holder   `json:"heldBy,omitempty"`   // who has leased it
	InUse       bool             `json:"inUse,omitempty"`    // the owner uses it while it is leased
	OpenedBy    string           `json:"openedBy,omitempty"` // the session that has opened it, for people
	Rejected    []spec.Rejection `json:"rejected,omitempty"` // quarantined, by its latest registrations
	Warnings    []spec.Rejection `json:"warnings,omitempty"` // about parts of items that were left out
}

// TabDomain is a tab's membership in one domain.
type TabDomain struct {
	Domain    spec.Domain `json:"domain"`
	Number    int         `json:"number"`
	Tools     int         `json:"tools"`
	Resources int         `json:"resources"`
	Prompts   int         `json:"prompts"`
	// Departed are those of the tools whose document has gone; the next one may offer
	// them, and calls wait for that.
	Departed int `json:"departed,omitempty"`
}

// BrowserInfo describes one browser, or the peer of a single tab.
type BrowserInfo struct {
	Peer         spec.PeerID       `json:"peer"`
	ID           spec.BrowserID    `json:"id,omitempty"`
	Name         string            `json:"name"`
	Label        string            `json:"label,omitempty"` // the name that it has from its owner
	Connected    bool              `json:"connected"`
	Attested     bool              `json:"attested"`
	Single       bool              `json:"single"` // carries one tab
	Focused      bool              `json:"focused"`
	Dialect      string            `json:"dialect"`
	Pairing      spec.PairingID    `json:"pairing,omitempty"` // that it has proved
	Capabilities []spec.Capability `json:"capabilities"`
	WebMCP       spec.WebMCP       `json:"webmcp,omitempty"` // who gives its pages the API, if that is known
	Tabs         int               `json:"tabs"`
	ConnectedAt  time.Time         `json:"connectedAt"`
	LastSeen     time.Time         `json:"lastSeen"`
}

// Counts says how much there is.
type Counts struct {
	Browsers  int `json:"browsers"` // connected ones
	Pages     int `json:"pages"`    // connected pages and programs that have joined by themselves
	Tabs      int `json:"tabs"`     // without hidden ones
	Domains   int `json:"domains"`  // that these tabs are members of
	Tools     int `json:"tools"`
	Resources int `json:"resources"`
	Prompts   int `json:"prompts"`
	Cached    int `json:"cached"`   // tools that no tab has now
	Rejected  int `json:"rejected"` // items, by the latest registrations
}

// Tabs describes all tabs that by sees, but hidden ones: the active one first, then those that were active
// before it, the last first, then the others by browser and tab; and those that are away last.
func (s *State) Tabs(by agents.By) []TabInfo {
	tabs := make([]*tab, 0, len(s.tabs))
	for _, t := range s.tabs {
		if !t.hidden && t.seenBy(s, &by) {
			tabs = append(tabs, t)
		}
	}
	away := func(t *tab) int {
		if t.peer.connected {
			return 0
		}
		return 1
	}
	slices.SortFunc(tabs, func(a, b *tab) int {
		return cmp.Or(away(a)-away(b), cmp.Compare(b.focused, a.focused), cmp.Compare(a.addr.Peer, b.addr.Peer), cmp.Compare(a.addr.Tab, b.addr.Tab))
	})
	infos := make([]TabInfo, len(tabs))
	active := s.activeOf(by)
	for i, t := range tabs {
		infos[i] = t.tabInfo(s)
		infos[i].Focused = t == active
	}
	return infos
}

func (t *tab) tabInfo(s *State) TabInfo {
	p := t.peer
	info := TabInfo{
		Addr: t.addr, Key: t.key, Browser: p.browser, BrowserName: p.name, Label: s.label(p.browser), URL: t.url, Title: t.title,
		Active: p.activeTab[t.window] == t, Focused: s.active == t, Attested: p.conn.Attested,
		Connected: p.connected && !t.hidden, Waiting: t.waiting, Discarded: t.discarded, Dialog: t.dialog, LastUpdated: t.updated, InFlight: int(t.calls.Load()),
		Domains: []TabDomain{},
	}
	if p.browser == "" && p.conn.Origin != "" && p.conn.ClaimedOrigin == "" {
		info.Attested = true // the Origin header is the browser's word
	}
	if info.HeldBy = s.agents.Holder(t.addr); info.HeldBy != nil {
		info.InUse = s.agents.InUse(t.addr, info.HeldBy.Session)
	}
	info.OpenedBy = s.agents.OpenedBy(t.addr)
	for key, m := range t.domains {
		count := func(kind spec.Kind) (n int) {
			for _, it := range t.items[kind] {
				if it.Domain == key {
					n++
				}
			}
			return n
		}
		departed := 0
		for _, it := range t.items[spec.KindTool] {
			if it.Domain == key && t.departed(it) {
				departed++
			}
		}
		info.Domains = append(info.Domains, TabDomain{
			Domain: key, Number: m.number,
			Tools: count(spec.KindTool), Resources: count(spec.KindResource), Prompts: count(spec.KindPrompt),
			Departed: departed,
		})
	}
	slices.SortFunc(info.Domains, func(a, b TabDomain) int { return cmp.Compare(a.Domain, b.Domain) })
	for _, kind := range kinds {
		info.Rejected = append(info.Rejected, t.rejected[kind]...)
		info.Warnings = append(info.Warnings, t.warnings(kind)...)
	}
	return info
}

// Browsers describes all peers that by sees, single tabs included, that are connected or
// in their grace. Those that are connected were seen now.
func (s *State) Browsers(by agents.By, now time.Time) []BrowserInfo {
	active := s.activeOf(by)
	infos := make([]BrowserInfo, 0, len(s.peers))
	for _, p := range s.peers {
		if p.connectedAt.IsZero() || !s.sees(&by, p.browser) {
			continue // restored, has not come back; or of nobody
		}
		info := BrowserInfo{
			Peer: p.id, ID: p.browser, Name: p.name, Label: s.label(p.browser), Connected: p.connected, Attested: p.conn.Attested,
			Single: p.browser == "", Focused: active != nil && active.peer == p, Dialect: p.conn.Dialect,
			Capabilities: slices.Sorted(maps.Keys(p.caps)), Tabs: len(p.tabs),
			WebMCP: p.webmcp, ConnectedAt: p.connectedAt, LastSeen: p.lastSeen, Pairing: p.conn.Pairing,
		}
		if p.connected {
			info.LastSeen = now
		}
		infos = append(infos, info)
	}
	slices.SortFunc(infos, func(a, b BrowserInfo) int { return cmp.Compare(a.Peer, b.Peer) })
	return infos
}

// Peers returns the ids of all peers.
func (s *State) Peers() []spec.PeerID { return slices.Collect(maps.Keys(s.peers)) }

// Connected reports whether a peer has a connection.
func (s *State) Connected(id spec.PeerID) bool {
	p := s.peers[id]
	return p != nil && p.connected
}

// Controllable reports whether there is a browser, or a tab of one, at addr that can be
// sent control requests, and whether it has a capability. A single tab is the whole of
// its peer, with Tab 0.
func (s *State) Controllable(addr spec.TabAddr, need spec.Capability) (there, capable bool) {
	p := s.peers[addr.Peer]
	there = p != nil && p.connected && (addr.Tab == 0 || p.browser != "")
	return there, there && p.caps[need]
}

// Asker returns the browser in which the owner is asked: a paired one that can, and is the
// owner's; the one that was focused last. Without own all that are paired are.
func (s *State) Asker(own func(spec.PairingID) bool) (best spec.PeerID, ok bool) {
	var chosen *peer
	for _, p := range s.peers {
		if !p.connected || !p.caps[spec.CapAsk] || p.conn.Pairing == "" || own != nil && !own(p.conn.Pairing) {
			continue
		}
		if chosen == nil || p.focused > chosen.focused || p.focused == chosen.focused && p.id < chosen.id {
			chosen, best, ok = p, p.id, true
		}
	}
	return best, ok
}

// Capable reports whether any connected peer has a capability.
func (s *State) Capable(capability spec.Capability) bool {
	for _, p := range s.peers {
		if p.connected && p.caps[capability] {
			return true
		}
	}
	return false
}

// Completes reports whether any tab has an item whose arguments it completes.
func (s *State) Completes() bool {
	for _, d := range s.order {
		for _, e := range d.entries {
			if slices.ContainsFunc(e.providers, func(p *provider) bool { return p.item.Completes }) {
				return true
			}
		}
	}
	return false
}

// Count counts what there is.
func (s *State) Count() Counts {
	n := Counts{
		Tools: s.all.counts[kindIndex(spec.KindTool)], Resources: s.all.counts[kindIndex(spec.KindResource)],
		Prompts: s.all.counts[kindIndex(spec.KindPrompt)],
	}
	for _, p := range s.peers {
		switch {
		case !p.connected:
		case p.browser != "":
			n.Browsers++
		default:
			n.Pages++
		}
	}
	for _, t := range s.tabs {
		if !t.hidden {
			n.Tabs++
		}
		for _, r := range t.rejected {
			n.Rejected += len(r)
		}
	}
	for _, d := range s.domains {
		if slices.ContainsFunc(d.tabs, func(t *tab) bool { return !t.hidden }) {
			n.Domains++
		}
		for key, e := range d.entries {
			if key.kind == spec.KindTool && len(e.cached) > 0 && e.newest(s, agents.By{}, false) == nil {
				n.Cached++
			}
		}
	}
	return n
}

// Sites returns the user's settings for sites, by domain.
func (s *State) Sites() []storage.Site {
	sites := slices.Collect(maps.Values(s.sites))
	slices.SortFunc(sites, func(a, b storage.Site) int { return cmp.Compare(a.Domain, b.Domain) })
	return sites
}
