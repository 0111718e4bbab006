package call

import (
	"context"
	"encoding/json"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/core"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/naming"
	"tabhub/spec"
)

// Agents is what sessions of clients may do with tabs: lease, use and release them. Its methods are
// safe for concurrent use.
type Agents struct{ calls *Calls }

// NewAgents returns the Agents of a hub that is being opened.
func NewAgents(calls *Calls) *Agents { return &Agents{calls} }

// FreeBrowser returns why a client may not close a browser: a *Failure that names the session
// that has leased one of its tabs.
func (as *Agents) FreeBrowser(by *consent.Caller, browser spec.PeerID) error {
	as.calls.core.RLock()
	defer as.calls.core.RUnlock()
	leased := as.calls.core.State().Agents().LeasedIn(browser, core.SessionOf(by))
	if len(leased) == 0 || core.IsOwner(by) {
		return nil
	}
	return core.Fail(spec.FailTabLeased, "tab %s of this browser is %s: no other client may close it meanwhile; nothing was done. Close your own tabs, or wait", leased[0].Public(), as.calls.core.State().Agents().Holder(leased[0]))
}

// ForgetClient ends what a client has, whose credential was taken back: its sessions with their
// leases, its tasks, what is kept of its calls, and what it has read. What it has under way ends by its contexts.
func (as *Agents) ForgetClient(client string) {
	as.calls.core.Update(func(tx *state.Tx) { tx.Agents().EndClient(client) })
	as.calls.gate.flows.Forget(client)
	as.calls.ledger.Forget(func(party string) bool { return consent.IsParty(party, client) })
}

// Sessions describes the sessions of clients that have tabs, or are connected: of a client, unless that is "", and of a name, unless
// that is "", those from offset on, at most limit; all if that is negative. It says, too, how many
// there are.
func (as *Agents) Sessions(client, name string, offset, limit int) (shown []agents.SessionInfo, found int) {
	as.calls.core.RLock()
	shown, found = as.calls.core.State().Agents().Sessions(client, name, offset, limit)
	as.calls.core.RUnlock()
	waiting := as.calls.inputWaits.in()
	for _, s := range shown {
		for i := range s.Tabs {
			t := &s.Tabs[i]
			t.Waiting = t.Holds != nil && waiting[t.Addr] > 0
		}
	}
	return shown, found
}

// Holder returns the session that has leased a tab; nil: none has.
func (as *Agents) Holder(addr spec.TabAddr) *agents.Holder {
	return core.View(as.calls.core, func(s *state.State) *agents.Holder { return s.Agents().Holder(addr) })
}

// errNobody is why a caller without a session has no tabs.
var errNobody = &core.Failure{Code: spec.FailToolError, Message: "only a client's session can have tabs of its own, and this call is of none"}

// errSessions is why a session cannot have one more tab.
var errSessions = &core.Failure{Code: spec.FailQueueFull, Message: "too many tabs are held, or too many sessions have some; of the tabs that a client has not opened itself, it may hold half of what others leave: release those that are not needed (browser_tab release), or open one for yourself (browser_tab claim with url)"}

// Claim leases a tab to a client's session, or renews its lease on new terms, if that is
// allowed; args are what the client has asked for. The error is a *Failure, a *consent.AskBack
// or ctx's cause.
func (as *Agents) Claim(ctx context.Context, by *consent.Caller, addr spec.TabAddr, t agents.Terms, args json.RawMessage) (holder *agents.Holder, err error) {
	err = as.admitTab(ctx, by, addr, "browser_tab claim", policy.Write, args, func() (err error) {
		holder, err = as.lease(by, addr, t)
		return err
	})
	return holder, err
}

// ClaimNew has a client's session lease the tab that open opens at a URL, which decides about
// that itself. It does not ask the owner a second time. The error is open's, or a *Failure.
func (as *Agents) ClaimNew(by *consent.Caller, url string, t agents.Terms, open func() (spec.TabAddr, error)) (addr spec.TabAddr, holder *agents.Holder, err error) {
	if core.SessionOf(by) == (agents.SessionID{}) {
		return addr, nil, errNobody
	}
	a := as.tabAction(by, "browser_tab claim", policy.Write, url, true)
	if d := as.calls.gate.rules.Policy().Decide(&a, time.Now()); d.Effect == policy.Deny {
		return addr, nil, core.Refusal(d, &a)
	}
	if addr, err = open(); err != nil {
		return addr, nil, err
	}
	holder, err = as.lease(by, addr, t)
	return addr, holder, err
}

// tabAction is what is done by an action of the hub's tools to a tab that shows a URL.
func (as *Agents) tabAction(by *consent.Caller, name string, class policy.Class, url string, attested bool) policy.Action {
	a := policy.Action{Principal: by.Principal, Session: by.Session, Of: policy.OfHub, Name: name, Class: class, Dataless: true}
	a.Site.Domain = naming.DomainOfURL(url, attested)
	a.Site.Any, a.Site.Dashboard = a.Site.Domain == "", as.calls.isOwnPage(url)
	return a
}

// admitTab does what concerns a tab and sends nothing to it, if that is allowed.
func (as *Agents) admitTab(ctx context.Context, by *consent.Caller, addr spec.TabAddr, name string, class policy.Class, args json.RawMessage, do func() error) error {
	if core.SessionOf(by) == (agents.SessionID{}) {
		return errNobody
	}
	if !as.calls.Reaches(by, addr.Peer) {
		return core.Fail(spec.FailTabNotFound, "no tab %s is open; list them first", addr.Public())
	}
	c := control{Calls: as.calls, by: by, to: addr}
	url, attested, err := c.shown(ctx)
	if err != nil {
		return err
	}
	a := as.tabAction(by, name, class, url, attested)
	as.calls.reach(by, &a, addr.Peer)
	return as.calls.Admit(ctx, by, &a, args, func(context.Context) error { return do() })
}

// lease leases a tab.
func (as *Agents) lease(by *consent.Caller, addr spec.TabAddr, t agents.Terms) (*agents.Holder, error) {
	who := as.calls.rules.By(by)
	var holder *agents.Holder
	if !as.calls.core.Update(func(tx *state.Tx) { holder = tx.Agents().Lease(who, addr, t) }) {
		return nil, as.calls.core.EndedFailure(false)
	}
	switch {
	case holder == nil:
		return nil, errSessions
	case holder.Session != who.Session:
		return nil, core.LeasedFailure(addr, holder)
	}
	return holder, nil
}

// Release ends the lease that a client's session has of a tab, or without addr all of them, and
// returns of which tabs.
func (as *Agents) Release(by *consent.Caller, addr spec.TabAddr) (tabs []spec.TabAddr) {
	id := core.SessionOf(by)
	as.calls.core.Update(func(tx *state.Tx) {
		tabs = tx.Agents().Release(id, addr)
	})
	return tabs
}

// Use has the calls of a client's session go to a tab, if that is allowed; args are what the
// client has asked for. The error is that of Claim.
func (as *Agents) Use(ctx context.Context, by *consent.Caller, addr spec.TabAddr, args json.RawMessage) error {
	return as.admitTab(ctx, by, addr, "browser_tab use", policy.Read, args, func() error {
		if err := as.calls.free(by, addr, false); err != nil {
			return err
		}
		room := false
		as.calls.core.Update(func(tx *state.Tx) { room = tx.Agents().Prefer(as.calls.rules.By(by), addr) })
		if !room {
			return errSessions
		}
		return nil
	})
}

// Preferred returns the tab that a client means that names none, of those that its calls go to;
// false if they go to none.
func (as *Agents) Preferred(by *consent.Caller) (spec.TabAddr, bool) {
	as.calls.core.RLock()
	defer as.calls.core.RUnlock()
	return as.calls.core.State().Agents().Preferred(core.SessionOf(by))
}

// Standing returns what sessions have of a tab, as a client sees it.
func (as *Agents) Standing(by *consent.Caller, addr spec.TabAddr) agents.Seen {
	return core.View(as.calls.core, func(s *state.State) agents.Seen { return s.Agents().See(addr, core.SessionOf(by)) })
}

// EndLease ends any session's lease of a tab, for the owner, and returns its holder; nil: there was none.
// means is by what means, for the record.
func (as *Agents) EndLease(addr spec.TabAddr, means string) (was *agents.Holder) {
	as.calls.core.Update(func(tx *state.Tx) { was = tx.Agents().EndLease(addr) })
	if was != nil {
		as.calls.core.Record(record.Entry{
			Time: time.Now(), Event: record.Lease, By: means, Client: was.Client, Tab: addr.String(),
			Outcome: "ended", Reason: was.Name + " held it",
		})
	}
	return was
}

// connected has a session stay while it has a connection, until gone is called.
func (as *Agents) connected(by *consent.Caller) (gone func(final bool)) {
	who := as.calls.rules.By(by)
	if who.Session == (agents.SessionID{}) {
		return func(bool) {}
	}
	as.calls.core.Update(func(tx *state.Tx) { tx.Agents().Connect(who) })
	return func(final bool) {
		as.calls.core.Update(func(tx *state.Tx) { tx.Agents().Disconnect(who.Session, final) })
	}
}

// free returns why a client may not use a tab: a *Failure that names the session that has leased it. reads is
// for what only reads the tab.
func (cs *Calls) free(by *consent.Caller, addr spec.TabAddr, reads bool) error {
	holder := core.View(cs.core, func(s *state.State) *agents.Holder { return s.Agents().Bars(addr, core.SessionOf(by), reads) })
	if holder == nil || core.IsOwner(by) {
		return nil
	}
	return core.LeasedFailure(addr, holder)
}

// noteOpened takes in a browser's answer to a client that had it open a tab.
func noteOpened(cs *Calls, by *consent.Caller, peer spec.PeerID, answer json.RawMessage) {
	var result spec.OpenTabResult
	if spec.Decode(answer, &result) == nil {
		cs.core.Update(func(tx *state.Tx) { tx.Agents().Opened(cs.rules.By(by), spec.TabAddr{Peer: peer, Tab: result.TabID}) })
	}
}
