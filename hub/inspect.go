package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/core"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/storage"
)

// Tabs describes the tabs that a client sees, nil for all, but those that have not come back
// since a restart, by browser and tab.
func (h *Hub) Tabs(by *consent.Caller) []state.TabInfo {
	tabs, waiting := core.View(h.Core, func(s *state.State) []state.TabInfo { return s.Tabs(h.Rules.By(by)) }), h.Calls.Waiting()
	for i := range tabs {
		tabs[i].Waiting = tabs[i].Waiting || waiting[tabs[i].Addr] > 0
	}
	return tabs
}

// Browsers describes the peers that a client sees, nil for all, single tabs included, that are
// connected or in their grace.
func (h *Hub) Browsers(by *consent.Caller) []state.BrowserInfo {
	return core.View(h.Core, func(s *state.State) []state.BrowserInfo { return s.Browsers(h.Rules.By(by), time.Now()) })
}

// Explain says where a call of a tool's name would go now, and why: one of the session, of those
// that match, that was here last or, if there is none or match is nil, of no session;
// then Explanation.By is zero. Of the browsers those are considered that there are for who, nil
// for all. The error is an *UnknownError.
func (h *Hub) Explain(who *policy.Principal, match func(id agents.SessionID, label string) bool, name string) (state.Explanation, error) {
	h.Core.RLock()
	defer h.Core.RUnlock()
	var by agents.By
	if match != nil {
		by = h.Core.State().Agents().Latest(match)
	}
	if who != nil {
		by.Browsers = h.Rules.Policy().Browsers(who, by.Browsers)
	}
	e, ok := h.Core.State().Explain(name, by, time.Now())
	if !ok {
		return e, h.Lists.UnknownLocked(nil, spec.KindTool, name)
	}
	return e, nil
}

// Action is what a call of a tool's name by a client comes to for the rules. The error is an
// *UnknownError.
func (h *Hub) Action(who *policy.Principal, name string) (policy.Action, error) {
	h.Core.RLock()
	defer h.Core.RUnlock()
	l, ok := h.Core.State().Find(agents.By{}, spec.KindTool, name)
	if !ok {
		return policy.Action{}, h.Lists.UnknownLocked(nil, spec.KindTool, name)
	}
	return core.ActionFor(consent.As(who), l.Item, l.Item.Source), nil
}

// Capabilities returns MCP-B's browser capabilities, aggregated over all peers.
func (h *Hub) Capabilities() Capabilities {
	asks := core.View(h.Core, func(s *state.State) bool { return s.Capable(spec.CapAsk) })
	completes := core.View(h.Core, (*state.State).Completes)
	return Capabilities{MultiTabSupport: true, CacheSupported: true, Elicitation: asks, Completions: completes}
}

// Status counts what the hub holds.
func (h *Hub) Status() Status {
	s := Status{
		User: h.opts.User, Counts: core.View(h.Core, (*state.State).Count),
	}
	s.InFlight, s.Calls = h.Calls.Counts()
	if err := h.Core.StoreError(); err != nil {
		s.StoreError = err.Error()
	}
	return s
}

// Sites returns the per-site settings, by domain.
func (h *Hub) Sites() []storage.Site { return core.View(h.Core, (*state.State).Sites) }

// SiteInfos describes the sites of which there is anything, settings apart.
func (h *Hub) SiteInfos() map[spec.Domain]state.SiteInfo {
	return core.View(h.Core, (*state.State).SiteInfos)
}

// ForgetCache forgets what is cached of a site, and reports whether that was anything. It does
// not wait for the store.
func (h *Hub) ForgetCache(site spec.Domain) (forgot bool) {
	h.Core.Update(func(tx *state.Tx) { forgot = tx.ForgetCache(site) })
	return forgot
}

// SetSite replaces the settings of a site. Turning its cache off forgets what is
// cached of it. It does not wait for the store.
func (h *Hub) SetSite(s storage.Site) error {
	if s.Domain == "" {
		return errors.New("a site needs a domain, as `tabhub tools` shows it")
	}
	if s.CallTimeout < 0 || s.CallTimeout > h.opts.CallTimeoutMax {
		return fmt.Errorf("a call timeout must be between 0 and %s", h.opts.CallTimeoutMax)
	}
	switch s.Check {
	case "", storage.CheckStrict, storage.CheckLenient, storage.CheckOff:
	default:
		return fmt.Errorf("the check of arguments is %q; it may be strict, lenient or off", s.Check)
	}
	h.Core.Update(func(tx *state.Tx) { tx.SetSite(s) })
	return nil
}

// AwaitPeer blocks until a browser or tab is connected that match accepts. The error
// is Await's.
func (h *Hub) AwaitPeer(ctx context.Context, match func(state.BrowserInfo) bool) (state.BrowserInfo, error) {
	var found state.BrowserInfo
	err := h.Core.Await(ctx, func() bool {
		infos := h.Browsers(nil)
		i := slices.IndexFunc(infos, func(b state.BrowserInfo) bool { return b.Connected && match(b) })
		if i >= 0 {
			found = infos[i]
		}
		return i >= 0
	})
	return found, err
}

// Revision counts the changes of what its owner is shown of a hub.
type Revision struct {
	Tabs    uint64 // of tabs, browsers, sites and what is offered
	Policy  uint64
	Clients uint64 // that have come and gone
}

// Revision returns how much has changed so far. Options.Changed is fired when that is more.
func (h *Hub) Revision() Revision {
	return Revision{h.Core.Revision(), h.Rules.Edits(), h.Owner.Turnover()}
}
