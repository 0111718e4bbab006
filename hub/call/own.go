package call

import (
	"context"
	"encoding/json"
	"time"

	"tabhub/describe"
	"tabhub/hub/agents"
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

// Own is a request by which a client looks at a page, or acts there, by itself.
type Own struct {
	Request spec.Request // *spec.Look, *spec.Screenshot or *spec.Run
	Name    string       // of the hub's tool and its action, for rules
	Class   policy.Class
	Origin  string   // of the document that it is about; "": that of the tab
	Leads   []string // the origins of the pages that it leads to
	// What the owner is shown: the arguments, and the steps in words or the script.
	Args   json.RawMessage
	Steps  []string
	Script string

	Sent bool // set by Does: it may have reached the browser
}

// Does sends a request of a client's own to a tab, if that is allowed, and returns the site that it was about.
// The first one that acts leases the tab for the client's session. The error is that of Control.
func Does(ctx context.Context, cs *Calls, by *consent.Caller, to spec.TabAddr, own *Own) (spec.Response, *item.Source, error) {
	c := &control{Calls: cs, by: by, to: to, req: own.Request, own: own}
	resp, err := c.do(ctx)
	own.Sent = !c.ad.sent.IsZero()
	site := c.action.Site.Domain
	return resp, &item.Source{Domain: site, Verified: site != "" && !naming.IsClaimed(site), Tab: to.Public()}, err
}

// Returned notes that a client gets a text of a site.
func Returned(cs *Calls, by *consent.Caller, site spec.Domain, text string) {
	cs.gate.says(by.Principal, site, text)
}

// MayRead reports whether a client may read a page of an origin in a tab, by an action of the hub's, without a
// question to the owner.
func MayRead(cs *Calls, by *consent.Caller, to spec.TabAddr, name, origin string) bool {
	a := policy.Action{Principal: by.Principal, Session: by.Session, Of: policy.OfHub, Name: name, Class: policy.Read, Site: siteOf(cs, origin, true)}
	cs.reach(by, &a, to.Peer)
	_, ok := cs.gate.allows(&a)
	return ok
}

// CanLook returns why a client cannot look at a tab and act there by itself, nil if it can as far as the tab goes.
func CanLook(cs *Calls, by *consent.Caller, to spec.TabAddr, reads bool) error {
	if err := capable(cs, by, to, spec.CapLook); err != nil {
		return err
	}
	if err := cs.free(by, to, reads); err != nil {
		return err
	}
	if d := core.View(cs.core, func(s *state.State) *spec.Dialog { return s.Tab(to).Dialog() }); d != nil {
		return dialogFailure(to, d)
	}
	return nil
}

// siteOf returns the site of an address.
func siteOf(cs *Calls, url string, attested bool) policy.Site {
	domain := naming.DomainOfURL(url, attested)
	return policy.Site{Domain: domain, Any: domain == "", Dashboard: cs.isOwnPage(url)}
}

const (
	// ownTimeout is how long a client's own steps may take without progress: a script may compute for as long.
	ownTimeout = time.Minute
	// lookTimeout is how long a look may take, and a picture that is put together.
	lookTimeout = 30 * time.Second
)

// admit decides about the request, and about where it leads. Each time that the owner has said yes, all is
// decided again.
func (c *control) admit(ctx context.Context, args json.RawMessage) (p permit, err error) {
	q := consent.Call{Args: args}
	if c.own != nil {
		q.Steps, q.Script, q.Origin = c.own.Steps, c.own.Script, c.own.Origin
		q.Trusted = c.own.Class == policy.Act && capable(c.Calls, c.by, c.to, spec.CapTrustedInput) == nil
	}
	if p, err = c.gate.admit(ctx, c.call, c.by, &c.ad, func() (*policy.Action, error) { return c.look(ctx) }, q); err != nil || c.own == nil {
		return p, err
	}
	for i, url := range c.own.Leads {
		lead := c.action
		lead.Name, lead.Class, lead.Site = "browser_page goto", policy.Write, siteOf(c.Calls, url, true)
		ad := &c.leads[i]
		asked := ad.asked
		q.Origin = url
		if _, err = c.gate.admit(ctx, c.call, c.by, ad, func() (*policy.Action, error) { return &lead, nil }, q); err != nil {
			c.action, c.ad = lead, *ad
			return p, err
		}
		if ad.asked > asked {
			return c.admit(ctx, args)
		}
	}
	return p, nil
}

// take has the client's session lease the tab, from its first act on, unless another one has it: whose it is counts
// below. The session's calls go there from then on.
func (c *control) take() error {
	id := core.SessionOf(c.by)
	if c.own == nil || c.action.Class == policy.Read || id == (agents.SessionID{}) {
		return nil
	}
	as := &Agents{c.Calls}
	held := as.Holder(c.to)
	if latest, _ := as.Preferred(c.by); held != nil && held.Session == id && latest != c.to {
		c.core.Update(func(tx *state.Tx) { tx.Agents().Prefer(c.rules.By(c.by), c.to) })
	}
	if held != nil {
		return nil
	}
	_, err := as.lease(c.by, c.to, agents.Terms{TTL: agents.DefaultLease})
	return err
}

// recordBegin leaves a record before a client's own act is sent, as of a call that cannot be undone.
func (c *control) recordBegin(args json.RawMessage) {
	if c.own == nil || c.action.Class == policy.Read {
		return
	}
	e := c.by.Entry(record.Begun, time.Now())
	c.by.Note(func(of *record.Entry) { e.Call = of.Call })
	c.ad.note(&e, &c.action)
	e.Tool, e.Args, e.Tab, e.URL, e.Origin = c.own.Name, args, c.to.String(), c.url, originOf(c.url)
	e.Outcome, e.Decided, e.Sent = "begun", 0, 0
	c.core.Record(e)
}

// wait returns how long to wait for the answer, and what to call meanwhile.
func (c *control) wait() tabtransport.Wait {
	w := tabtransport.Wait{Timeout: timeoutOf(c.req), SentAt: &c.ad.sent}
	if _, ok := c.req.(*spec.Run); ok {
		w.Max, w.Person, w.Progress = c.opts.CallTimeoutMax, c.opts.PersonTimeout, c.progressed
	}
	return w
}

// progressed passes on how far a run has come.
func (c *control) progressed(p spec.Progress) {
	if p.Message = describe.Clean(p.Message, spec.MaxDescription); p.Message != "" {
		c.said = p.Message
		c.gate.says(c.by.Principal, c.action.Site.Domain, p.Message)
	}
	progressed(c.call, p)
	c.by.Report(p)
}
