package state

import (
	"time"

	"tabhub/hub/agents"
	"tabhub/spec"
)

// Explanation says where a call of a name would go now, and why.
type Explanation struct {
	Name       string           `json:"name"`
	Kind       spec.Kind        `json:"kind"`
	Domain     spec.Domain      `json:"domain"`
	Item       string           `json:"item"`
	Pack       string           `json:"pack,omitempty"`    // whose tool it is; "": the page's own
	Tab        *TabInfo         `json:"tab,omitempty"`     // nil: none is open
	OpenURL    string           `json:"openUrl,omitempty"` // what would be opened
	By         agents.SessionID `json:"-"`                 // whose call it is
	Session    string           `json:"session,omitempty"` // the same, for people
	Reason     string           `json:"reason"`
	Candidates []Considered     `json:"candidates"`
}

// Considered is a tab that was considered for a call.
type Considered struct {
	Tab      TabInfo `json:"tab"`
	Number   int     `json:"number"`
	Departed bool    `json:"departed,omitempty"` // a call would wait for the tab's next page
	Note     string  `json:"note"`
}

// held says which session's lease keeps the call from the tab; "" if none does.
func (c *Candidate) held() string {
	if c.isFree() {
		return ""
	}
	return c.Holder().String()
}

// where says what a call to a tab would have to wait for; "" if for nothing.
func (c *Candidate) where() string {
	switch {
	case c.Present && c.Asleep:
		return "it is asleep, a call would wake it"
	case c.Departed:
		return "its page has gone, a call would wait for the next one to offer the tool"
	case !c.Present:
		return "it is away, a call would wait for it"
	}
	return ""
}

// Explain says where somebody's call of a tool's name would go now, and why; false if the
// name is nobody's.
func (s *State) Explain(name string, by agents.By, now time.Time) (Explanation, bool) {
	r, ok := s.Lookup(by, spec.KindTool, name)
	if !ok {
		return Explanation{}, false
	}
	e := Explanation{Name: name, Kind: r.ID.Kind, Domain: r.ID.Domain, Item: r.ID.Item, Pack: r.ID.Pack, By: by.Session, Session: by.Label, Candidates: []Considered{}}
	snap := s.Snapshot(&r, by, nil, "", nil)
	best, reason := snap.Choose()
	e.Reason = reason
	for i, c := range snap.Candidates {
		note := "not chosen"
		switch {
		case i == best:
			note = "chosen: " + reason
		case c.held() != "":
			note = c.held()
		case c.where() != "":
			note = c.where()
		}
		info := c.tab.tabInfo(s)
		e.Candidates = append(e.Candidates, Considered{Tab: info, Number: c.Number, Departed: c.Departed, Note: note})
		if i == best {
			e.Tab = &info
			if held := c.held(); held != "" {
				e.Reason += "; it is " + held
			}
			if where := c.where(); where != "" {
				e.Reason += "; " + where
			}
		}
	}
	if best < 0 && r.b.entry != nil && r.ID.Tab == 0 {
		switch url, ready, away := s.Opener(&r, by, "", now); {
		case ready:
			e.OpenURL = url
			e.Reason += "; one would be opened"
		case away:
			e.OpenURL = url
			e.Reason += "; a call would wait for the browser, which is away, and open one"
		default:
			e.Reason += ", and no connected browser can open " + url
		}
	}
	return e, true
}
