package call

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"tabhub/hub/call/ledger"
	"tabhub/hub/core"
	"tabhub/hub/offer/item"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// Control sends a control request to a tab, or for Tab 0 to a browser, and blocks
// until it is answered. What the client may do there is decided about as about a call. The
// error is a *Failure, the peer's own *spec.Error, a *consent.AskBack, or ctx's cause.
func (cs *Calls) Control(ctx context.Context, by *consent.Caller, to spec.TabAddr, req spec.Request) (spec.Response, error) {
	resp, _, err := cs.control(ctx, by, to, req)
	return resp, err
}

// ReadTab is Control for what reads the page that a tab shows. It also returns which that
// is, nil with an error.
func (cs *Calls) ReadTab(ctx context.Context, by *consent.Caller, to spec.TabAddr, req spec.Request) (spec.Response, *item.Source, error) {
	resp, site, err := cs.control(ctx, by, to, req)
	if err != nil {
		return resp, nil, err
	}
	var text json.RawMessage
	if _, ok := req.(*spec.Text); ok {
		text = resp.Result
	}
	cs.gate.returned(by.Principal, site, text)
	return resp, &item.Source{Domain: site, Verified: site != "" && !naming.IsClaimed(site), Tab: to.Public()}, nil
}

// control is Control. It also returns the site that the request was about, or led to.
func (cs *Calls) control(ctx context.Context, by *consent.Caller, to spec.TabAddr, req spec.Request) (resp spec.Response, site spec.Domain, err error) {
	cs.core.RLock()
	there, capable := cs.core.State().Controllable(to, capabilityOf(req))
	there = there && cs.core.State().SeesPeer(cs.rules.By(by), to.Peer)
	cs.core.RUnlock()
	switch {
	case !there:
		return resp, "", core.Fail(spec.FailTabNotFound, "no tab or browser %s is connected; list them first", to)
	case !capable:
		return resp, "", core.Fail(spec.FailToolError, "this browser connection does not offer %s; the companion extension does", capabilityOf(req))
	}
	ctx, call := cs.enter(ctx, by, ledger.Subject{Part: true})
	defer call.Leave()
	c := control{Calls: cs, call: call, by: by, to: to, req: req}
	resp, err = c.attempt(ctx)
	if remote, ok := errors.AsType[*spec.Error](err); ok && remote.Code == spec.CodeTabNotFound && notDelivered(remote) {
		c.moved = true
		resp, err = c.attempt(ctx)
	}
	site = c.action.Site.Domain
	if _, ok := req.(*spec.OpenTab); ok && err == nil {
		noteOpened(cs, by, to.Peer, resp.Result)
	}
	switch {
	case errors.Is(err, tabtransport.ErrLost) && core.View(cs.core, func(s *state.State) bool { return s.Connected(to.Peer) }):
		// The browser said that the tab is closed before it could answer.
		if req.Method() == spec.MethodCloseTab {
			return spec.Response{Result: json.RawMessage(`{}`)}, site, nil
		}
		return resp, site, &core.Failure{Code: spec.FailTabClosed, Message: "the tab was closed"}
	case errors.Is(err, tabtransport.ErrNotConnected):
		return resp, site, &core.Failure{Code: spec.FailNotConnected, Message: "the browser went away; nothing was sent"}
	case errors.Is(err, tabtransport.ErrLost):
		return resp, site, &core.Failure{Code: spec.FailNotConnected, Message: "the browser went away before it answered; it may have done what was asked"}
	case errors.Is(err, tabtransport.ErrTimeout):
		return resp, site, core.Fail(spec.FailToolTimeout, "the browser did not answer within %s; it may have done what was asked, or do it yet", timeoutOf(req))
	case errors.Is(err, tabtransport.ErrBusy):
		return resp, site, &core.Failure{Code: spec.FailQueueFull, Message: "the browser does not take more messages now"}
	case errors.Is(err, tabtransport.ErrUnsupported):
		return resp, site, &core.Failure{Code: spec.FailToolError, Message: "the page's protocol has no such request"}
	}
	return resp, site, cs.gateError(err, true)
}

// isKeptBy reports whether a dialog keeps a tab from what is requested.
func isKeptBy(d *spec.Dialog, req spec.Request) bool {
	switch req.(type) {
	case *spec.ActivateTab, *spec.CloseTab:
		return false
	case *spec.Navigate:
		return d.Type != spec.DialogUnknown // to go elsewhere is a way out of a script that does not end
	}
	return true
}

// capabilityOf returns the capability that a control request needs: that of its
// method's name.
func capabilityOf(req spec.Request) spec.Capability {
	return spec.Capability(req.Method()[len("browser/"):])
}

// timeoutOf returns how long a control request may take.
func timeoutOf(req spec.Request) time.Duration {
	if rest, ok := req.(*spec.Rest); ok {
		return time.Duration(rest.WaitMs)*time.Millisecond + spec.ControlTimeout
	}
	return spec.ControlTimeout
}

// control is a control request in flight.
type control struct {
	*Calls
	call  *ledger.Call
	by    *consent.Caller
	to    spec.TabAddr
	req   spec.Request
	ad    admission
	moved bool // the tab was found to show another site than the hub knows of

	action policy.Action
	url    string // what the tab shows, if that matters
}

// attempt decides about the request as things are now, and sends it.
func (c *control) attempt(ctx context.Context) (spec.Response, error) {
	args, err := json.Marshal(c.req)
	if err != nil {
		return spec.Response{}, err
	}
	defer c.note()
	defer func() { c.renew(core.SessionOf(c.by), c.to) }()
	p, err := c.gate.admit(ctx, c.call, c.by, &c.ad, func() (*policy.Action, error) { return c.look(ctx) }, args)
	if err != nil {
		return spec.Response{}, c.gateError(err, false)
	}
	reads := c.action.Class == policy.Read
	// Since it was looked at, the browser or the owner may have been asked, and the tab been claimed.
	if err := c.free(c.by, c.to, reads); err != nil {
		return spec.Response{}, err
	}
	if d := core.View(c.Calls.core, func(s *state.State) *spec.Dialog { return s.Tab(c.to).Dialog() }); d != nil && isKeptBy(d, c.req) {
		return spec.Response{}, dialogFailure(c.to, d)
	}
	c.call.Sending(reads, c.to, "")
	resp, err := c.gate.send(ctx, p, c.to, ifAt(originOf(c.url), c.placed()), tabtransport.Wait{Timeout: timeoutOf(c.req), SentAt: &c.ad.sent})
	if notSent(err) {
		c.call.NotSent(reads)
	}
	if !errors.Is(err, tabtransport.ErrNotConnected) {
		c.sent(args)
	}
	return resp, err
}

// sent keeps what the request has sent, for an owner who looks at the call.
func (c *control) sent(args json.RawMessage) {
	if c.action.Dataless {
		return
	}
	call := ""
	c.by.Note(func(e *record.Entry) { call = e.Call })
	c.gate.flows.Sent(c.by.Principal, c.action.Site.Domain, c.gate.rules.Policy(), call, args)
}

// placed returns the request, that for a new tab with where it is to be.
func (c *control) placed() spec.Request {
	open, ok := c.req.(*spec.OpenTab)
	if !ok {
		return c.req
	}
	in := *open
	in.Room = groupOf(c.Calls, c.Calls.rules.By(c.by), c.to.Peer)
	return &in
}

// note adds to the record of the hub's tool what was decided about the request that it made.
// Of several it is the last one, but for lists of tabs, which go with all.
func (c *control) note() {
	effect := c.ad.decision.Effect
	if effect == policy.Unset || effect == policy.Allow && c.action.Site == (policy.Site{}) {
		return
	}
	c.by.Note(func(e *record.Entry) {
		c.ad.note(e, &c.action)
		e.Tab, e.URL, e.Origin = c.to.String(), c.url, originOf(c.url)
	})
}

// look returns what the request comes to now. One that leads elsewhere is decided about as
// what is done there, if the tab may be led away.
func (c *control) look(ctx context.Context) (*policy.Action, error) {
	a, place, target := controlAction(c.by, c.req)
	c.reach(c.by, &a, c.to.Peer)
	if place {
		if err := c.free(c.by, c.to, a.Class == policy.Read); err != nil {
			return nil, err
		}
		if a.Class != policy.Read && a.Name != "browser_tab activate" {
			if _, err := c.awaitUser(ctx, c.call, c.by, c.to, time.Now().Add(c.opts.CallTimeout)); err != nil {
				return nil, err
			}
		}
		url, attested, err := c.shown(ctx)
		if err != nil {
			return nil, err
		}
		c.url, a.Site.Domain = url, naming.DomainOfURL(url, attested)
		a.Site.Any, a.Site.Dashboard = a.Site.Domain == "", c.isOwnPage(url)
	}
	if target != "" {
		if here := c.gate.rules.Policy().Decide(&a, time.Now()); here.Effect == policy.Deny {
			c.action, c.ad.decision = a, here
			return nil, core.Refusal(here, &a)
		}
		to := naming.DomainOfURL(target, true)
		a.Site = policy.Site{Domain: to, Any: to == "", Dashboard: c.isOwnPage(target)} // browsers take more for an address than has a domain
	}
	c.call.Reaches(a.Site)
	c.action = a
	return &c.action, nil
}

func (cs *Calls) isOwnPage(url string) bool { return cs.opts.OwnPage != nil && cs.opts.OwnPage(url) }

// originOf returns the origin of a web page's URL, "" of another.
func originOf(url string) string {
	if naming.DomainOfURL(url, true) == "" {
		return ""
	}
	return item.OriginOf(url)
}

// ifAt returns a request for a tab that shows an origin still when it arrives.
func ifAt(origin string, req spec.Request) spec.Request {
	switch req := req.(type) {
	case *spec.ActivateTab:
		return &spec.ActivateTab{IfOrigin: origin}
	case *spec.CloseTab:
		return &spec.CloseTab{IfOrigin: origin}
	case *spec.Screenshot:
		return &spec.Screenshot{IfOrigin: origin}
	case *spec.Text:
		return &spec.Text{IfOrigin: origin}
	case *spec.Rest:
		return &spec.Rest{WaitMs: req.WaitMs, IfOrigin: origin}
	case *spec.Navigate:
		to := *req
		to.IfOrigin = origin
		return &to
	}
	return req
}

// controlAction is what a control request comes to, but for its site, by the name of the
// hub's tool that makes it. place says that it is about what the tab shows; target is the URL
// that it leads to, "" if it leads nowhere.
func controlAction(by *consent.Caller, req spec.Request) (a policy.Action, place bool, target string) {
	place = true
	a = policy.Action{Principal: by.Principal, Session: by.Session, Bound: by.Bound, Of: policy.OfHub, Class: policy.Write}
	switch req := req.(type) {
	case *spec.ListTabs:
		a.Name, a.Class, place = "browser_tab list", policy.Read, false
	case *spec.OpenTab:
		a.Name, place, target = "browser_tab new", false, req.URL
	case *spec.ActivateTab:
		a.Name, a.Dataless = "browser_tab activate", true
	case *spec.CloseTab:
		a.Name, a.Dataless = "browser_tab close", true
	case *spec.Navigate:
		a.Name, target = "browser_page goto", req.URL
	case *spec.Screenshot:
		a.Name, a.Class = "browser_page screenshot", policy.Read
	case *spec.Text:
		a.Name, a.Class = "browser_page text", policy.Read
	case *spec.Rest:
		a.Name, a.Class = "browser_page wait", policy.Read
	}
	return a, place, target
}

// ListsTab reports whether a client that has the tabs listed is told what is in one of a site,
// "" if it shows none.
func (cs *Calls) ListsTab(by *consent.Caller, site spec.Domain) bool {
	a, _, _ := controlAction(by, &spec.ListTabs{})
	a.Site.Domain = site
	return cs.gate.shows(&a)
}

// shown returns the address of what the tab shows, and whether the browser vouches for it.
// The browser is asked about a tab of which the hub knows nothing, or not the latest.
func (c *control) shown(ctx context.Context) (url string, attested bool, err error) {
	browser := spec.TabAddr{Peer: c.to.Peer}
	c.core.RLock()
	url, attested = c.core.State().Tab(c.to).Shows()
	_, lists := c.core.State().Controllable(browser, spec.CapListTabs)
	c.core.RUnlock()
	if url != "" && !c.moved || !lists {
		return url, attested, nil
	}
	resp, err := c.core.SendOwn(ctx, browser, &spec.ListTabs{}, tabtransport.Wait{Timeout: spec.ControlTimeout})
	if err != nil {
		return "", false, &core.Failure{Code: spec.FailNotConnected, Message: "the browser did not say what the tab shows; nothing was done"}
	}
	var listed spec.ListTabsResult
	if wrong := spec.Decode(resp.Result, &listed); wrong != nil {
		return "", false, wrong
	}
	for _, t := range listed.Tabs {
		if t.TabID == c.to.Tab {
			return t.URL, attested, nil
		}
	}
	return "", attested, nil
}
