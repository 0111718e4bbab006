package agents

import (
	"cmp"
	"slices"
	"time"

	"tabhub/spec"
)

// SessionInfo describes a session that has tabs, or is connected.
type SessionInfo struct {
	Session   SessionID    `json:"-"`
	Name      string       `json:"session"` // for people and logs; the ID itself stays secret
	Client    string       `json:"client"`  // the ID of its credential
	Label     string       `json:"label"`
	Connected bool         `json:"connected"`
	LastUsed  time.Time    `json:"lastUsed"`
	Tabs      []SessionTab `json:"tabs"` // those that it prefers first
}

// SessionTab is what a session has of a tab.
type SessionTab struct {
	Addr   spec.TabAddr `json:"addr"`
	Tab    string       `json:"tab"` // the same, as clients know it
	URL    string       `json:"url,omitempty"`
	Title  string       `json:"title,omitempty"`
	Keeps  bool         `json:"keeps"`           // its calls go there
	Opened bool         `json:"opened"`          // by the session
	Holds  *Holder      `json:"holds,omitempty"` // the session's lease of it
	InUse  bool         `json:"inUse,omitempty"` // by the owner, while the session has leased it
	// Waiting says that a call waits for the owner, who uses the tab.
	Waiting bool `json:"waiting,omitempty"`
}

// Sessions describes the sessions that have tabs or are connected, by client, the last used
// first: of a client, unless that is "", and of a name, unless that is "", those from offset on,
// at most limit; all if that is negative. It says, too, how many there are.
func (a *Agents) Sessions(client, name string, offset, limit int) (shown []SessionInfo, found int) {
	type entry struct {
		*Session
		used int64 // which changes meanwhile
	}
	all := make([]entry, 0, len(a.sessions))
	for id, ses := range a.sessions {
		if (client == "" || client == id.Client) && (name == "" || name == id.Short()) {
			all = append(all, entry{ses, ses.used.Load()})
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.id.Client, b.id.Client), cmp.Compare(b.used, a.used), cmp.Compare(a.id.ID, b.id.ID))
	})
	found = len(all)
	all = all[min(offset, found):]
	if limit >= 0 {
		all = all[:min(limit, len(all))]
	}
	for _, e := range all {
		shown = append(shown, a.describe(e.Session))
	}
	return shown, found
}

func (a *Agents) describe(ses *Session) SessionInfo {
	info := SessionInfo{
		Session: ses.id, Name: ses.id.Short(), Client: ses.id.Client, Label: ses.label,
		Connected: ses.connections > 0, LastUsed: time.Unix(0, ses.used.Load()), Tabs: []SessionTab{},
	}
	for _, addr := range ses.tabs() {
		st := a.Standing(ses, addr)
		t := SessionTab{Addr: addr, Tab: addr.Public(), Keeps: st.Preferred != 0, Opened: st.Group == GroupMine, InUse: st.InUse}
		t.URL, t.Title = a.tabs.Shows(addr)
		if st.Lease == LeaseMine {
			t.Holds = st.Holder()
		}
		info.Tabs = append(info.Tabs, t)
	}
	return info
}

// tabs returns the tabs of which a session has anything, those that it prefers first.
func (ses *Session) tabs() []spec.TabAddr {
	rest := map[spec.TabAddr]bool{}
	for addr := range ses.group {
		rest[addr] = true
	}
	for l := range ses.leases {
		rest[l.addr] = true
	}
	for addr := range ses.preferred {
		delete(rest, addr)
	}
	return append(ses.ranked(), sorted(rest)...)
}
