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
func (cs *Calls) control(ctx context.Context, by *consent.Caller, to spec.TabAddr, req spec.Request) (spec.Response, spec.Domain, error) {
	c := &control{Calls: cs, by: by, to: to, req: req}
	resp, err := c.do(ctx)
	return resp, c.action.Site.Domain, err
}

// capable returns why a tab or browser does not serve what a client wants.
func capable(cs *Calls, by *consent.Caller, to spec.TabAddr, c spec.Capability) error {
	cs.core.RLock()
	there, capable := cs.core.State().Controllable(to, c)
	there = there && cs.core.State().SeesPeer(cs.rules.By(by), to.Peer)
	cs.core.RUnlock()
	switch {
	case !there:
		return core.Fail(spec.FailTabNotFound, "no tab or browser %s is connected; list them first", to)
	case !capable:
		return core.Fail(spec.FailToolError, "this browser connection does not offer %s; the companion extension does", c)
	}
	return nil
}

// do decides about the request, sends it, and judges what came of it.
func (c *control) do(ctx context.Context) (resp spec.Response, err error) {
	cs, by, to, req := c.Calls, c.by, c.to, c.req
	if err := capable(cs, by, to, capabilityOf(req)); err != nil {
		return resp, err
	}
	if c.own != nil {
		c.leads = make([]admission, len(c.own.Leads))
	}
	ctx, c.call = cs.enter(ctx, by, ledger.Subject{Part: true})
	defer c.call.Leave()
	resp, err = c.attempt(ctx)
	if remote, ok := errors.AsType[*spec.Error](err); ok && remote.Code == spec.CodeTabNotFound && NotDelivered(remote) && (c.own == nil || c.own.Origin == "") {
		c.moved = true
		resp, err = c.attempt(ctx)
	}
	if _, ok := req.(*spec.OpenTab); ok && err == nil {
		noteOpened(cs, by, to.Peer, resp.Result)
	}
	switch {
	case errors.Is(err, tabtransport.ErrLost) && core.View(cs.core, func(s *state.State) bool { return s.Connected(to.Peer) }):
		// The browser said that the tab is closed before it could answer.
		if req.Method() == spec.MethodCloseTab {
			return spec.Response{Result: json.RawMessage(`{}`)}, nil
		}
		return resp, heard(&core.Failure{Code: spec.FailTabClosed, Message: "the tab was closed before it answered; it may have done what was asked"}, c.said)
	case errors.Is(err, tabtransport.ErrNotConnected):
		return resp, &core.Failure{Code: spec.FailNotConnected, Message: "the browser went away; nothing was sent"}
	case errors.Is(err, tabtransport.ErrLost):
		return resp, heard(&core.Failure{Code: spec.FailNotConnected, Message: "the browser went away before it answered; it may have done what was asked"}, c.said)
	case errors.Is(err, tabtransport.ErrTimeout):
		return resp, heard(core.Fail(spec.FailToolTimeout, "the browser did not answer within %s; it may have done what was asked, or do it yet", timeoutOf(req)), c.said)
	case errors.Is(err, tabtransport.ErrBusy):
		return resp, &core.Failure{Code: spec.FailQueueFull, Message: "the browser does not take more messages now"}
	case errors.Is(err, tabtransport.ErrUnsupported):
		return resp, &core.Failure{Code: spec.FailToolError, Message: "the page's protocol has no such request"}
	}
	return resp, cs.gateError(err, true)
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
	if _, ok := req.(*spec.Run); ok {
		return spec.CapLook
	}
	return spec.Capability(req.Method()[len("browser/"):])
}

// timeoutOf returns how long a control request may take.
func timeoutOf(req spec.Request) time.Duration {
	switch req := req.(type) {
	case *spec.Rest:
		return time.Duration(req.WaitMs)*time.Millisecond + spec.ControlTimeout
	case *spec.Run:
		return ownTimeout
	case *spec.Look:
		return lookTimeout
	case *spec.Screenshot:
		if req.Full || req.Numbered || req.Ref != "" {
			return lookTimeout
		}
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
	own   *Own // that req is; nil: a request of the hub's tools for tabs
	ad    admission
	leads []admission // about the pages that own leads to
	said  string      // by the browser, of how far it has come
	moved bool        // the tab was found to show another site than the hub knows of

	action policy.Action
	url    string // what the tab shows, if that matters
}

// attempt decides about the request as things are now, and sends it.
func (c *control) attempt(ctx context.Context) (spec.Response, error) {
	var args json.RawMessage
	var err error
	if c.own != nil {
		args = c.own.Args
	} else if args, err = json.Marshal(c.req); err != nil {
		return spec.Response{}, err
	}
	defer c.note()
	defer func() { c.renew(core.SessionOf(c.by), c.to) }()
	p, err := c.admit(ctx, args)
	if err != nil {
		return spec.Response{}, c.gateError(err, false)
	}
	if err := c.take(); err != nil {
		return spec.Response{}, err
	}
	reads := c.action.Class == policy.Read
	// Since it was looked at, the browser or the owner may have been asked, and the tab been claimed.
	if err := c.free(c.by, c.to, reads); err != nil {
		return spec.Response{}, err
	}
	if d := core.View(c.Calls.core, func(s *state.State) *spec.Dialog { return s.Tab(c.to).Dialog() }); d != nil && isKeptBy(d, c.req) {
		return spec.Response{}, dialogFailure(c.to, d)
	}
	c.recordBegin(args)
	c.call.Sending(reads, c.to, "")
	resp, err := c.gate.send(ctx, p, c.to, ifAt(originOf(c.url), c.placed()), c.wait())
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
	in.Room = c.opts.Groups.Of(c.Calls.rules.By(c.by), c.to.Peer)
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
	if c.own != nil {
		a.Name, a.Class = c.own.Name, c.own.Class
	}
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
		if c.own != nil && c.own.Origin != "" {
			if top := originOf(url); top != c.own.Origin && top != c.ad.top { // a frame; within another page it is another act
				c.ad.top, c.ad.granted = top, grant{}
			}
			url = c.own.Origin
		}
		c.url, a.Site = url, siteOf(c.Calls, url, attested)
	}
	if target != "" {
		if here := c.gate.rules.Policy().Decide(&a, time.Now()); here.Effect == policy.Deny {
			c.action, c.ad.decision = a, here
			return nil, core.Refusal(here, &a)
		}
		a.Site = siteOf(c.Calls, target, true) // Any: browsers take more for an address than has a domain
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
		to := *req
		to.IfOrigin = origin
		return &to
	case *spec.Look:
		to := *req
		to.IfOrigin = origin
		return &to
	case *spec.Run:
		to := *req
		to.Origin = origin
		return &to
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
	case *spec.Look:
		a.Name, a.Class = "browser_page snapshot", policy.Read
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
