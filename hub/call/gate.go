package call

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"tabhub/describe"
	"tabhub/hub/broadcast"
	"tabhub/hub/call/apps"
	"tabhub/hub/call/ledger"
	"tabhub/hub/core"
	"tabhub/hub/state"
	"tabhub/hub/telemetry"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/flow"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// gate is the one way from clients to tabs and browsers: it decides what passes, and it
// alone sends. Its methods are safe for concurrent use.
//
// The owner may be asked for as long as two minutes, in which what is asked about can
// change. So a yes sends nothing: the caller looks again at what it was about to do, and
// the gate decides again.
type gate struct {
	transport tabtransport.TabHubTransport
	browserOf func(spec.PeerID) string // the name that a browser has from its owner
	telemetry telemetry.Observer
	desk      *consent.Desk
	flows     *flow.Tracker
	rules     *core.Rules
	apps      apps.Apps
	changed   *broadcast.Signal // fired when what is in flight changes, or rules

	mu    sync.Mutex
	began map[session]time.Time // the first call of each session
}

// session is a client's, as far as decisions go by it.
type session struct{ client, id string }

// maxSessions bounds the sessions of which the gate knows when they began. Beyond it all
// are forgotten: then too much counts as known before a session, not too little as asked.
const maxSessions = 4096

// permit says that the owner's word lets an action pass. Only the gate makes one that is
// not empty.
type permit struct{ of *policy.Action }

// send sends a request of a client's, as tabtransport does.
func (g *gate) send(ctx context.Context, p permit, to spec.TabAddr, req spec.Request, w tabtransport.Wait) (spec.Response, error) {
	if p.of == nil {
		panic("hub: a request that was not decided about")
	}
	if names := g.rules.Policy().Browsers(p.of.Principal, p.of.Bound); names != nil {
		// The tab may be chosen, and the browser get its name, after the decision.
		if name := g.browserOf(to.Peer); name == "" || !slices.Contains(names, name) {
			return spec.Response{}, core.Refusal(policy.Decision{Effect: policy.Deny, Layer: policy.ByBrowser}, p.of)
		}
	}
	w.For = describe.Clean(p.of.Principal.Name, apps.MaxSaid)
	return g.transport.SendRequest(ctx, to, req, w)
}

// admission is how far the decision about one request of a client has come. It is used by
// one goroutine.
type admission struct {
	decision policy.Decision // the latest
	at       time.Time       // when it let the call pass or refused it; zero: it did neither
	answer   consent.Answer  // the owner's latest, if one was asked
	granted  grant           // for what the answer was yes
	top      string          // the site of the page around the frame that is called, if that is another
	asked    int
	answered time.Duration // how long the owner's answers took, together
	sent     time.Time     // when the request was handed to a connection, or an earlier attempt was; zero: none was
}

// grant is for what an answer is good that is for one call only.
type grant struct {
	site  spec.Domain
	name  string
	pin   policy.Pin
	layer policy.Layer // what has asked: an owner who has seen no other site in the question has allowed no flow from it
}

func grantFor(a *policy.Action, d policy.Decision) grant {
	g := grant{site: a.Site.Domain, name: a.Name, layer: d.Layer}
	if a.Item != nil {
		g.pin = a.Item.Pin()
	}
	return g
}

// maxAsked is how often the owner is asked about one call, of which the tool changes while
// one is.
const maxAsked = 2

// decide decides about an action. Without an error and a permit the owner is to be asked.
// The error is a *Failure.
func (g *gate) decide(ad *admission, a *policy.Action) (p permit, err error) {
	span := telemetry.Begin(g.telemetry, telemetry.Decide)
	defer func() {
		effect := ad.decision.Effect
		if p.of != nil {
			effect = policy.Allow // the owner has, if no rule does
		}
		span.End(effect.String())
	}()
	ad.at = time.Now()
	ad.decision = g.decision(a, ad.at)
	switch {
	case ad.decision.Effect == policy.Allow:
		return permit{a}, nil
	case ad.decision.Effect != policy.Ask:
		return permit{}, core.Refusal(ad.decision, a)
	case ad.asked > 0 && ad.granted == grantFor(a, ad.decision):
		return permit{a}, nil
	case ad.asked == maxAsked:
		return permit{}, &core.Failure{Code: spec.FailDenied, Message: "the tool changed while its owner was asked whether it may be called; the call was not sent"}
	}
	return permit{}, nil
}

// decision is what the rules say about an action at a time. It completes the action by what the client
// has read.
func (g *gate) decision(a *policy.Action, now time.Time) policy.Decision {
	rules := g.rules.Policy()
	a.Read = g.read(rules, a.Principal)
	return rules.Decide(a, now)
}

// ask asks the owner about an action, for what decide has said of it. If the answer is yes,
// the caller must look at what the action is about once more, and have it decided again.
// The error is a *Failure, a *consent.AskBack, or ctx's cause.
func (g *gate) ask(ctx context.Context, by *consent.Caller, ad *admission, c consent.Call) (err error) {
	ad.asked++
	ad.at = time.Time{} // the owner decides
	c.Decision, c.Top = ad.decision, ad.top
	ad.granted = grantFor(c.Action, ad.decision)
	span := telemetry.Begin(g.telemetry, telemetry.Ask)
	ad.answer, err = g.desk.Ask(ctx, by, c)
	ad.answered += ad.answer.Asked
	span.End(ownersAnswer(err))
	if denied, ok := errors.AsType[*consent.Denied](err); ok {
		err, ad.at = &core.Failure{Code: spec.FailDenied, Message: denied.Words}, time.Now()
	}
	return err
}

// ownersAnswer says how a question to the owner has ended.
func ownersAnswer(err error) string {
	if _, denied := errors.AsType[*consent.Denied](err); denied {
		return policy.Deny.String()
	}
	if err == nil {
		return policy.Allow.String()
	}
	return outcomeOf(spec.Response{}, err)
}

// admit decides about actions until one is allowed or refused: action returns what is about
// to be done as it is now. q has what the owner is to see of it.
func (g *gate) admit(ctx context.Context, c *ledger.Call, by *consent.Caller, ad *admission, action func() (*policy.Action, error), q consent.Call) (permit, error) {
	for {
		a, err := action()
		if err != nil {
			return permit{}, err
		}
		if p, err := g.decide(ad, a); err != nil || p.of != nil {
			return p, err
		}
		c.Asks()
		q.ID, q.Action, q.Carries = c.ID(), a, func() []flow.Match {
			return g.flows.Compare(a.Principal.ID, a.Site.Domain, []json.RawMessage{q.Args})
		}
		err = g.ask(ctx, by, ad, q)
		c.GoesOn()
		if err != nil {
			return permit{}, err
		}
	}
}

// allows decides about an action without a question to the owner.
func (g *gate) allows(a *policy.Action) (permit, bool) {
	p, err := g.decide(new(admission), a)
	return p, err == nil && p.of != nil
}

// shows reports whether a client is to know of something.
func (g *gate) shows(a *policy.Action) bool {
	return g.rules.Policy().Shows(a, time.Now())
}

// isLate reports whether a definition that was seen first at since came after the first
// call of the caller's session, which this may be.
func (g *gate) isLate(by *consent.Caller, since time.Time) bool {
	if !by.Began.IsZero() {
		return since.After(by.Began)
	}
	key := session{by.Principal.ID, by.Session}
	g.mu.Lock()
	defer g.mu.Unlock()
	began, ok := g.began[key]
	if !ok {
		if len(g.began) >= maxSessions {
			clear(g.began)
		}
		began = time.Now()
		g.began[key] = began
	}
	return since.After(began)
}

// Reaches reports whether there is a peer for a client: a client that is bound to browsers
// sees these alone.
func (cs *Calls) Reaches(by *consent.Caller, peer spec.PeerID) bool {
	return core.View(cs.core, func(s *state.State) bool { return s.SeesPeer(cs.rules.By(by), peer) })
}

// reach completes an action that leads to a peer: of a client that is bound to browsers, the rules
// have to know which.
func (cs *Calls) reach(by *consent.Caller, a *policy.Action, peer spec.PeerID) {
	if a.Bound = by.Bound; cs.rules.Policy().Browsers(by.Principal, by.Bound) != nil {
		a.Browser = &policy.Browser{Name: cs.core.BrowserOf(peer)}
	}
}
