package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/naming"
	"tabhub/spec"
)

// session returns the session that somebody's tabs go by. The owner's own commands and pages
// have none.
func (h *Hub) session(by *consent.Caller) agents.SessionID {
	switch {
	case by.Session != "":
		return agents.SessionID{Client: by.Who.ID, ID: by.Session}
	case by.Agent != "":
		return agents.SessionID{Client: by.Who.ID, ID: by.Agent}
	}
	return agents.SessionID{}
}

// by returns on whose behalf the state is asked, and changed.
func (h *Hub) by(by *consent.Caller) agents.By {
	if by == nil { // who is to know of everything
		return agents.By{}
	}
	return agents.By{Session: h.session(by), Label: by.Label(), Browsers: h.Policy().Browsers(by.Who, by.Bound)}
}

// connected has a session stay while it has a connection, until gone is called.
func (h *Hub) connected(by *consent.Caller) (gone func(final bool)) {
	who := h.by(by)
	if who.Session == (agents.SessionID{}) {
		return func(bool) {}
	}
	h.update(func(tx *state.Tx) { tx.Agents().Connect(who) })
	return func(final bool) { h.update(func(tx *state.Tx) { tx.Agents().Disconnect(who.Session, final) }) }
}

// isOwn reports whether somebody is the hub's owner, by a command or page of the hub's: no lease
// stops the owner.
func (h *Hub) isOwn(by *consent.Caller) bool {
	return by.Who == policy.Owner && h.session(by) == agents.SessionID{}
}

// free returns why a client may not use a tab: a *Failure that says who has leased it. reads is
// for what only reads the tab.
func (h *Hub) free(by *consent.Caller, addr spec.TabAddr, reads bool) error {
	holder := view(h, func(s *state.State) *agents.Holder { return s.Agents().Bars(addr, h.session(by), reads) })
	if holder == nil || h.isOwn(by) {
		return nil
	}
	return leasedFailure(addr, holder)
}

// FreeBrowser returns why a client may not close a browser: a *Failure that says who has leased
// one of its tabs.
func (h *Hub) FreeBrowser(by *consent.Caller, browser spec.PeerID) error {
	h.mu.RLock()
	defer h.mu.RUnlock()
	leased := h.state.Agents().LeasedIn(browser, h.session(by))
	if len(leased) == 0 || h.isOwn(by) {
		return nil
	}
	return &Failure{spec.FailTabLeased, fmt.Sprintf("tab %s of this browser is %s: nobody else closes it meanwhile; nothing was done. Close your own tabs, or wait", leased[0].Public(), h.state.Agents().Holder(leased[0]))}
}

func leasedFailure(addr spec.TabAddr, by *agents.Holder) *Failure {
	what := "uses"
	if by.Reads {
		what = "changes anything in"
	}
	return &Failure{spec.FailTabLeased, fmt.Sprintf("tab %s is %s: nobody else %s it meanwhile; nothing was sent. Work in another tab (browser_tab claim with url opens one), or wait", addr.Public(), by, what)}
}

// opened takes in a browser's answer to a client that had it open a tab.
func (h *Hub) opened(by *consent.Caller, peer spec.PeerID, answer json.RawMessage) {
	var result spec.OpenTabResult
	if spec.Decode(answer, &result) == nil {
		h.update(func(tx *state.Tx) { tx.Agents().Opened(h.by(by), spec.TabAddr{Peer: peer, Tab: result.TabID}) })
	}
}

// ForgetClient ends what a client has, whose credential was taken back: its sessions with their
// leases, its tasks, what is kept of its calls, and what it has read. What it has under way ends by its contexts.
func (h *Hub) ForgetClient(client string) {
	h.update(func(tx *state.Tx) { tx.Agents().EndClient(client) })
	h.gate.flows.Forget(client)
	h.ledger.Forget(func(party string) bool { return consent.IsParty(party, client) })
}

// Sessions describes the sessions of clients that have tabs, or are connected: of a client, unless that is "", and of a name, unless
// that is "", those from offset on, at most limit; all if that is negative. It says, too, how many
// there are.
func (h *Hub) Sessions(client, name string, offset, limit int) (shown []agents.SessionInfo, found int) {
	h.mu.RLock()
	shown, found = h.state.Agents().Sessions(client, name, offset, limit)
	h.mu.RUnlock()
	waiting := h.yields.in()
	for _, s := range shown {
		for i := range s.Tabs {
			t := &s.Tabs[i]
			t.Waiting = t.Holds != nil && waiting[t.Addr] > 0
		}
	}
	return shown, found
}

// Holder returns who has leased a tab; nil: nobody.
func (h *Hub) Holder(addr spec.TabAddr) *agents.Holder {
	return view(h, func(s *state.State) *agents.Holder { return s.Agents().Holder(addr) })
}

// Bounds of the time that a lease lasts without a call of its holder.
const (
	MinLease     = 10 * time.Second
	DefaultLease = 10 * time.Minute
)

// errNobody is why somebody without a session has no tabs.
var errNobody = &Failure{spec.FailToolError, "only a client's session can have tabs of its own, and this call is of none"}

// errSessions is why a session cannot have one more tab.
var errSessions = &Failure{spec.FailQueueFull, "too many tabs are held, or too many sessions have some; of the tabs that a client has not opened itself, it may hold half of what others leave: release those that are not needed (browser_tab release), or open one for yourself (browser_tab claim with url)"}

// Claim leases a tab to a client's session, or renews its lease on new terms, if that is
// allowed; args are what the client has asked for. The error is a *Failure, a *consent.AskBack
// or ctx's cause.
func (h *Hub) Claim(ctx context.Context, by *consent.Caller, addr spec.TabAddr, t agents.Terms, args json.RawMessage) (holder *agents.Holder, err error) {
	err = h.admitTab(ctx, by, addr, "browser_tab claim", policy.Write, args, func() (err error) {
		holder, err = h.lease(by, addr, t)
		return err
	})
	return holder, err
}

// ClaimNew has a client's session lease the tab that open opens at a URL, which decides about
// that itself. It does not ask the owner a second time. The error is open's, or a *Failure.
func (h *Hub) ClaimNew(by *consent.Caller, url string, t agents.Terms, open func() (spec.TabAddr, error)) (addr spec.TabAddr, holder *agents.Holder, err error) {
	if h.session(by) == (agents.SessionID{}) {
		return addr, nil, errNobody
	}
	a := h.tabAction(by, "browser_tab claim", policy.Write, url, true)
	if d := h.gate.rules.Load().Decide(&a, time.Now()); d.Effect == policy.Deny {
		return addr, nil, refusal(d, &a)
	}
	if addr, err = open(); err != nil {
		return addr, nil, err
	}
	holder, err = h.lease(by, addr, t)
	return addr, holder, err
}

// tabAction is what is done by an action of the hub's tools to a tab that shows a URL.
func (h *Hub) tabAction(by *consent.Caller, name string, class policy.Class, url string, attested bool) policy.Action {
	a := policy.Action{Who: by.Who, Session: by.Session, Of: policy.OfHub, Name: name, Class: class, Dataless: true}
	a.Site.Domain = naming.DomainOfURL(url, attested)
	a.Site.Any, a.Site.Own = a.Site.Domain == "", h.isOwnPage(url)
	return a
}

// admitTab does what concerns a tab and sends nothing to it, if that is allowed.
func (h *Hub) admitTab(ctx context.Context, by *consent.Caller, addr spec.TabAddr, name string, class policy.Class, args json.RawMessage, do func() error) error {
	if h.session(by) == (agents.SessionID{}) {
		return errNobody
	}
	if !h.Reaches(by, addr.Peer) {
		return &Failure{spec.FailTabNotFound, fmt.Sprintf("no tab %s is open; list them first", addr.Public())}
	}
	c := control{Hub: h, by: by, to: addr}
	url, attested, err := c.shown(ctx)
	if err != nil {
		return err
	}
	a := h.tabAction(by, name, class, url, attested)
	h.reach(by, &a, addr.Peer)
	return h.Admit(ctx, by, &a, args, func(context.Context) error { return do() })
}

// lease leases a tab.
func (h *Hub) lease(by *consent.Caller, addr spec.TabAddr, t agents.Terms) (*agents.Holder, error) {
	who := h.by(by)
	var holder *agents.Holder
	if !h.update(func(tx *state.Tx) { holder = tx.Agents().Lease(who, addr, t) }) {
		return nil, h.endedFailure(false)
	}
	switch {
	case holder == nil:
		return nil, errSessions
	case holder.Session != who.Session:
		return nil, leasedFailure(addr, holder)
	}
	return holder, nil
}

// Release ends the lease that a client's session has of a tab, or without addr all of them, and
// returns of which tabs.
func (h *Hub) Release(by *consent.Caller, addr spec.TabAddr) (tabs []spec.TabAddr) {
	id := h.session(by)
	h.update(func(tx *state.Tx) {
		tabs = tx.Agents().Release(id, addr)
	})
	return tabs
}

// Use has the calls of a client's session go to a tab, if that is allowed; args are what the
// client has asked for. The error is that of Claim.
func (h *Hub) Use(ctx context.Context, by *consent.Caller, addr spec.TabAddr, args json.RawMessage) error {
	return h.admitTab(ctx, by, addr, "browser_tab use", policy.Read, args, func() error {
		if err := h.free(by, addr, false); err != nil {
			return err
		}
		room := false
		h.update(func(tx *state.Tx) { room = tx.Agents().Prefer(h.by(by), addr) })
		if !room {
			return errSessions
		}
		return nil
	})
}

// Preferred returns the tab that a client means that names none, of those that its calls go to;
// false if they go to none.
func (h *Hub) Preferred(by *consent.Caller) (spec.TabAddr, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.state.Agents().Preferred(h.session(by))
}

// Standing is what sessions have of a tab.
type Standing struct {
	HeldBy   *agents.Holder // nil: nobody has leased it
	Mine     bool           // the one that asks has
	OpenedBy string         // the session that has opened it, for people; "" for none
}

// Standing returns what sessions have of a tab, as a client sees it.
func (h *Hub) Standing(by *consent.Caller, addr spec.TabAddr) (s Standing) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	s.HeldBy, s.OpenedBy = h.state.Agents().Holder(addr), h.state.Agents().OpenedBy(addr)
	s.Mine = s.HeldBy != nil && s.HeldBy.Session == h.session(by)
	return s
}

// EndLease ends whosesoever lease of a tab, for its owner, and returns who had it; nil: nobody.
// means is by what means, for the record.
func (h *Hub) EndLease(addr spec.TabAddr, means string) (was *agents.Holder) {
	h.update(func(tx *state.Tx) { was = tx.Agents().EndLease(addr) })
	if was != nil {
		h.Record(record.Entry{
			Time: time.Now(), Event: record.Lease, By: means, Client: was.Client, Tab: addr.String(),
			Outcome: "ended", Reason: was.Name + " held it",
		})
	}
	return was
}
