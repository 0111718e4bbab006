package hub

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/offer/item"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/storage"
)

// Tabs describes the tabs that a client knows of, nil for all, but those that have not come back
// since a restart, by browser and tab.
func (h *Hub) Tabs(by *consent.Caller) []state.TabInfo {
	tabs, waiting := view(h, func(s *state.State) []state.TabInfo { return s.Tabs(h.by(by)) }), h.yields.in()
	for i := range tabs {
		tabs[i].Waiting = tabs[i].Waiting || waiting[tabs[i].Addr] > 0
	}
	return tabs
}

// Browsers describes the peers that a client knows of, nil for all, single tabs included, that are
// connected or in their grace.
func (h *Hub) Browsers(by *consent.Caller) []state.BrowserInfo {
	return view(h, func(s *state.State) []state.BrowserInfo { return s.Browsers(h.by(by), time.Now()) })
}

// Explain says where a call of a tool's name would go now, and why: one of the session, of those
// that match, that was here last or, if there is none or match is nil, of nobody in particular;
// then Explanation.By is zero. Of the browsers those are considered that there are for who, nil
// for nobody in particular. The error is an *UnknownError.
func (h *Hub) Explain(who *policy.Principal, match func(id agents.SessionID, label string) bool, name string) (state.Explanation, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var by agents.By
	if match != nil {
		by = h.state.Agents().Latest(match)
	}
	if who != nil {
		by.Browsers = h.Policy().Browsers(who, by.Browsers)
	}
	e, ok := h.state.Explain(name, by, time.Now())
	if !ok {
		return e, h.unknownLocked(nil, spec.KindTool, name)
	}
	return e, nil
}

// Action is what a call of a tool's name by a client comes to for the rules. The error is an
// *UnknownError.
func (h *Hub) Action(who *policy.Principal, name string) (policy.Action, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	l, ok := h.state.Find(agents.By{}, spec.KindTool, name)
	if !ok {
		return policy.Action{}, h.unknownLocked(nil, spec.KindTool, name)
	}
	return actionFor(consent.As(who), l.Item, l.Item.Source), nil
}

// unknownLocked makes the error for a name that is nobody's. It names only what the client
// is to know of. The caller holds h.mu.
func (h *Hub) unknownLocked(by *consent.Caller, kind spec.Kind, name string) error {
	of := h.by(by)
	near := slices.DeleteFunc(h.state.Nearest(of, kind, name), func(name string) bool {
		l, ok := h.state.Find(of, kind, name)
		return !ok || by != nil && !h.showsItem(by, l.Item)
	})
	return &UnknownError{Kind: kind, Name: name, Nearest: near, Why: h.boundWordsLocked(by)}
}

// showsItem reports whether a client is to know of an item.
func (h *Hub) showsItem(by *consent.Caller, it *item.Item) bool {
	a := actionFor(by, it, it.Source)
	return h.gate.shows(&a)
}

// Capabilities returns MCP-B's browser capabilities, aggregated over all peers.
func (h *Hub) Capabilities() Capabilities {
	asks := view(h, func(s *state.State) bool { return s.Capable(spec.CapAsk) })
	completes := view(h, (*state.State).Completes)
	return Capabilities{MultiTabSupport: true, CacheSupported: true, Elicitation: asks, Completions: completes}
}

// Status counts what the hub holds.
func (h *Hub) Status() Status {
	s := Status{
		User: h.opts.User, Counts: view(h, (*state.State).Count),
		InFlight: int(h.inFlight.Load()), Calls: h.calls.Load(),
	}
	if err := h.storeErr.Load(); err != nil {
		s.StoreError = (*err).Error()
	}
	return s
}

// Sites returns the per-site settings, by domain.
func (h *Hub) Sites() []storage.Site { return view(h, (*state.State).Sites) }

// SiteInfos describes the sites of which there is anything, settings apart.
func (h *Hub) SiteInfos() map[spec.Domain]state.SiteInfo {
	return view(h, (*state.State).SiteInfos)
}

// ForgetCache forgets what is cached of a site, and reports whether that was anything. It does
// not wait for the store.
func (h *Hub) ForgetCache(site spec.Domain) (forgot bool) {
	h.update(func(tx *state.Tx) { forgot = tx.ForgetCache(site) })
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
	h.update(func(tx *state.Tx) { tx.SetSite(s) })
	return nil
}
