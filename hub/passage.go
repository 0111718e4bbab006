package hub

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"tabhub/hub/consent"
	"tabhub/hub/policy"
	"tabhub/hub/record"
)

// Passage is a request of a client that was let pass to something other than a tab of the
// hub's, such as an extension of the relay: its owner sees it, and may stop it, until End. It
// is safe for concurrent use, and none of its methods blocks.
type Passage struct {
	hub    *Hub
	ctx    context.Context
	of     *passage
	effect policy.Effect // what was decided
}

// Admit decides about something that one of the hub's own tools does and that does not go to
// a tab of the hub's, such as a request to an extension of the relay. It asks the owner if
// need be, for which it may block; args are what would be sent. If it is allowed, do does it:
// its ctx ends when the owner stops it. The error is do's, a *Failure, a *consent.AskBack or
// ctx's cause.
func (h *Hub) Admit(ctx context.Context, by *consent.Caller, a *policy.Action, args json.RawMessage, do func(context.Context) error) error {
	p := h.begin(ctx, by, subject{site: a.Site})
	if err := p.admit(a, args); err != nil {
		return err
	}
	defer p.End()
	err := do(p.ctx)
	if stopped := p.Stopped(true); err != nil && stopped != nil {
		return stopped
	}
	return err
}

// Pass is Admit for a request that a client makes by itself, and that is under way until its
// Passage ends. ctx is for the question to the owner only.
func (h *Hub) Pass(ctx context.Context, by *consent.Caller, a *policy.Action, args json.RawMessage) (*Passage, error) {
	p := h.begin(context.WithoutCancel(ctx), by, subjectOf(a))
	defer context.AfterFunc(ctx, func() { p.of.cancel(context.Cause(ctx)) })()
	if err := p.admit(a, args); err != nil {
		return nil, err
	}
	return p, nil
}

// PassAtOnce is Pass for who must not block. If the owner has to be asked, or what the client
// knows of sites is still being read, it returns nil: Pass decides then.
func (h *Hub) PassAtOnce(by *consent.Caller, a *policy.Action) (*Passage, error) {
	g := h.gate
	p := h.begin(context.Background(), by, subjectOf(a))
	rules := g.rules.Load()
	if rules.Traces(a.Who) && g.flows.KnowsOther(a.Who.ID, a.Site.Domain) {
		p.End()
		return nil, nil
	}
	ad := admission{decision: rules.Decide(a, time.Now())}
	by.Note(func(e *record.Entry) { ad.note(e, a) })
	switch p.effect = ad.effect(); p.effect {
	case policy.Allow:
		return p, nil
	case policy.Ask:
		p.End()
		return nil, nil
	}
	p.End()
	return nil, refusal(ad.decision, a)
}

// subjectOf is what a client's own request is for.
func subjectOf(a *policy.Action) subject {
	return subject{id: newCallID(), name: a.Name, site: a.Site}
}

// begin begins a request. It is under way before it is decided about: what the owner stops
// meanwhile ends.
func (h *Hub) begin(ctx context.Context, by *consent.Caller, about subject) *Passage {
	ctx, of := h.gate.enter(ctx, by, about)
	return &Passage{hub: h, ctx: ctx, of: of}
}

// admit decides about the request, and ends one that is refused.
func (p *Passage) admit(a *policy.Action, args json.RawMessage) error {
	var ad admission
	_, err := p.hub.gate.admit(p.ctx, p.of, &ad, func() (*policy.Action, error) { return a, nil }, args)
	p.of.by.Note(func(e *record.Entry) { ad.note(e, a) })
	p.effect = ad.effect()
	if err != nil {
		p.End()
	}
	return p.hub.gateError(err, false)
}

// ID is the request's, as in the record.
func (p *Passage) ID() string { return p.of.about.id }

// Context ends when the owner stops the request, or has paused what it is part of.
func (p *Passage) Context() context.Context { return p.ctx }

// Sent says that the request goes to an extension, by its name.
func (p *Passage) Sent(browser string) { p.of.forwarded(browser, p.effect) }

// Stopped returns what the client is told if the owner has ended the request, a *Failure, and
// nil if not. sent says that it may have taken effect.
func (p *Passage) Stopped(sent bool) error {
	if f, ok := errors.AsType[*Failure](p.hub.gateError(context.Cause(p.ctx), sent)); ok {
		return f
	}
	return nil
}

// End is called once, when the request is over.
func (p *Passage) End() { p.of.leave() }
