package call

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"tabhub/hub/call/ledger"
	"tabhub/hub/core"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// Admit decides about something that one of the hub's own tools does and that does not go to
// a tab of the hub's, such as a request to an extension of the relay. It asks the owner if
// need be, for which it may block; args are what would be sent. If it is allowed, do does it:
// its ctx ends when the owner stops it. The error is do's, a *Failure, a *consent.AskBack or
// ctx's cause.
func (cs *Calls) Admit(ctx context.Context, by *consent.Caller, a *policy.Action, args json.RawMessage, do func(context.Context) error) error {
	ctx, c := cs.enter(ctx, by, ledger.Subject{Site: a.Site, Part: true})
	defer c.Leave()
	if _, err := cs.admit(ctx, c, by, a, args); err != nil {
		return err
	}
	c.Sending(a.Class == policy.Read, spec.TabAddr{}, "")
	noteSent(by)
	err := do(ctx)
	if err == nil {
		return nil
	}
	if stopped, ok := errors.AsType[*core.Failure](cs.gateError(context.Cause(ctx), true)); ok {
		return stopped
	}
	return err
}

// admit decides about a request that is in flight, and asks the owner if need be. It also
// returns what was decided.
func (cs *Calls) admit(ctx context.Context, c *ledger.Call, by *consent.Caller, a *policy.Action, args json.RawMessage) (policy.Effect, error) {
	var ad admission
	_, err := cs.gate.admit(ctx, c, by, &ad, func() (*policy.Action, error) { return a, nil }, consent.Call{Args: args})
	by.Note(func(e *record.Entry) { ad.note(e, a) })
	return ad.effect(), cs.gateError(err, false)
}

// noteSent sets in the record of a request that it is sent now.
func noteSent(by *consent.Caller) {
	by.Note(func(e *record.Entry) { e.Sent = time.Since(e.Time) })
}

// Forwarded is a request of a client that goes to something other than a tab of the
// hub's, such as an extension of the relay: its owner sees it, and may stop it, until End. It
// is safe for concurrent use, and none of its methods blocks. It needs no context, and so no
// more memory than a few words for what is forwarded by the thousand.
type Forwarded struct {
	hub    *Calls
	call   *ledger.Call
	by     *consent.Caller
	effect policy.Effect // what was decided

	mu    sync.Mutex
	cause error  // for which it was stopped; nil if it was not
	stop  func() // called then
}

// Forward is Admit for a request that a client makes by itself, and that is in flight until its
// Forwarded ends.
func (cs *Calls) Forward(ctx context.Context, by *consent.Caller, a *policy.Action, args json.RawMessage) (*Forwarded, error) {
	p := cs.begin(by, a)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := p.OnStop(func() { cancel(p.cause) })
	if err == nil {
		p.effect, err = cs.admit(ctx, p.call, by, a, args)
	}
	if err != nil {
		p.End()
		return nil, err
	}
	return p, nil
}

// ForwardAtOnce is Forward for a caller that must not block. If the owner has to be asked, it
// returns nil: Forward decides then.
func (cs *Calls) ForwardAtOnce(by *consent.Caller, a *policy.Action) (*Forwarded, error) {
	g := cs.gate
	p := cs.begin(by, a)
	rules := g.rules.Policy()
	a.Read = g.read(rules, a.Principal)
	now := time.Now()
	ad := admission{decision: rules.Decide(a, now), at: now}
	by.Note(func(e *record.Entry) { ad.note(e, a) })
	p.effect = ad.effect()
	if p.effect == policy.Allow {
		return p, nil
	}
	p.End()
	if p.effect == policy.Ask {
		return nil, nil
	}
	return nil, core.Refusal(ad.decision, a)
}

// begin begins a request. It is in flight before it is decided about: what the owner stops
// meanwhile ends.
func (cs *Calls) begin(by *consent.Caller, a *policy.Action) *Forwarded {
	p := &Forwarded{hub: cs, call: cs.ledger.Alone(), by: by}
	about := ledger.Subject{Tool: a.Name, Site: a.Site}
	cs.subject(by, &about)
	p.call.EnterWith(about, p.cancel)
	return p
}

// cancel stops the request for a cause. Without one it has ended.
func (p *Forwarded) cancel(cause error) {
	p.mu.Lock()
	var stop func()
	if cause != nil && p.cause == nil {
		p.cause, stop = cause, p.stop
	}
	p.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// ID is the request's, as in the record.
func (p *Forwarded) ID() string { return p.call.ID() }

// OnStop has stop called, instead of what was given before, when the owner stops the request.
// If they have already, it returns why, as Stopped does. stop may still be called when the
// request has just ended.
func (p *Forwarded) OnStop(stop func()) error {
	p.mu.Lock()
	p.stop = stop
	p.mu.Unlock()
	return p.Stopped(false)
}

// Stopped returns what the client is told if the owner has stopped the request, or paused what
// it is part of, a *Failure; nil if not. sent says that it may have taken effect.
func (p *Forwarded) Stopped(sent bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hub.gateError(p.cause, sent)
}

// Sent says that the request goes to an extension, by its name.
func (p *Forwarded) Sent(browser string) {
	p.call.Decided(p.effect)
	p.call.Sending(false, spec.TabAddr{}, browser)
	noteSent(p.by)
}

// End is called once, when the request is over.
func (p *Forwarded) End() { p.call.Leave() }
