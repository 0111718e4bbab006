package browsertool

import (
	"slices"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// claimed answers claim.
type claimed struct {
	Success bool      `json:"success"`
	TabID   string    `json:"tabId"`
	URL     string    `json:"url,omitempty"`
	Name    string    `json:"name"`
	Until   time.Time `json:"until"`
}

// claimTab leases a tab: the named one, a new one at url, or else that to which the client's
// calls go first.
func claimTab(c *call) (any, error) {
	terms := agents.Terms{Name: c.args.Name, Reads: c.args.Reads, TTL: agents.DefaultLease}
	if c.args.Minutes > 0 {
		terms.TTL = max(time.Duration(c.args.Minutes*float64(time.Minute)), agents.MinLease)
	}
	var addr spec.TabAddr
	var holder *agents.Holder
	var err error
	url := c.args.URL
	if url != "" && c.args.TabID == "" {
		addr, holder, err = c.hub.Agents.ClaimNew(c.by, url, terms, c.open)
	} else if addr, url, err = c.ownTab(); err == nil {
		holder, err = c.hub.Agents.Claim(c.ctx, c.by, addr, terms, c.object)
	}
	if err != nil {
		return nil, err
	}
	return claimed{true, addr.Public(), url, holder.Name, holder.Until.UTC().Truncate(time.Second)}, nil
}

// open opens a tab at the url of the arguments.
func (c *call) open() (spec.TabAddr, error) {
	b, err := c.choose(c.args.BrowserID, spec.CapOpenTab)
	if err != nil {
		return spec.TabAddr{}, err
	}
	var opened spec.OpenTabResult
	err = c.control(spec.TabAddr{Peer: b.Peer}, &spec.OpenTab{URL: c.args.URL, Active: c.args.Active}, &opened)
	return spec.TabAddr{Peer: b.Peer, Tab: opened.TabID}, err
}

// ownTab returns the tab that the arguments name, or else the one to which the client's calls go
// first, and its address.
func (c *call) ownTab() (addr spec.TabAddr, url string, err error) {
	if c.args.TabID == "" {
		var ok bool
		if addr, ok = c.hub.Agents.Preferred(c.by); !ok {
			return addr, "", invalid("no call has gone to a tab yet: pass tabId, or url to open a tab")
		}
		c.args.TabID = addr.Public()
	} else if c.args.URL != "" {
		return addr, "", invalid("pass tabId or url, not both")
	}
	b, addr, err := c.tab()
	if err != nil {
		return addr, "", err
	}
	at, err := c.page(b, addr)
	return addr, at.URL, err
}

// releaseTab ends the lease of a tab, or of all that the client has.
func releaseTab(c *call) (any, error) {
	var addr spec.TabAddr
	var err error
	if c.args.TabID != "" {
		if _, addr, err = c.tab(); err != nil {
			return nil, err
		}
	}
	released := []string{}
	for _, a := range c.hub.Agents.Release(c.by, addr) {
		released = append(released, a.Public())
	}
	if c.args.TabID != "" && len(released) == 0 {
		return nil, invalid("you have no lease of tab %s; browser_tab list shows which client has", addr.Public())
	}
	slices.Sort(released)
	return map[string]any{"success": true, "released": released}, nil
}

func releaseClass(*args) policy.Class { return policy.Read }

// useTab has the client's calls go to a tab.
func useTab(c *call) (any, error) {
	addr, url, err := c.ownTab()
	if err == nil {
		err = c.hub.Agents.Use(c.ctx, c.by, addr, c.object)
	}
	return map[string]any{"success": true, "tabId": addr.Public(), "url": url}, err
}
