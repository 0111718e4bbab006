package call

import (
	"bytes"
	"context"
	"errors"
	"time"

	"tabhub/describe"
	"tabhub/hub/core"
	"tabhub/hub/lists"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// recordCall leaves the record of a call.
func (cs *Calls) recordCall(r *run, resp spec.Response, err error) {
	r.args, r.checked = bytes.Clone(r.sentArgs()), nil // they are kept when the client has its answer
	e := r.entry()
	e.Outcome, e.Result, e.Changed = outcomeOf(resp, err), resp.Result, r.changed
	r.traced(resp, err)
	cs.core.Record(e)
	cs.core.ConfirmEpoch()
}

// recordBegin leaves a record before a call is sent that cannot be undone, so that there is
// a trace of it even if the process is killed before it ends.
func (r *run) recordBegin() {
	if r.action.Class != policy.Destructive {
		return
	}
	e := r.entry()
	e.Event, e.Outcome, e.Time, e.Decided, e.Sent, e.Duration = record.Begun, "begun", time.Now(), 0, 0, 0
	r.h.core.Record(e)
}

// entry begins the record of a call, by what is known of it.
func (r *run) entry() record.Entry {
	e := r.by.Entry(record.Call, r.start)
	e.Call, e.Domain, e.Tool, e.Pack, e.Args, e.Reason = r.id, r.ref.ID.Domain, r.ref.ID.Item, r.ref.ID.Pack, r.sentArgs(), r.reason
	if r.target.Addr.Peer != "" {
		e.Tab, e.URL, e.Origin = r.target.Addr.String(), r.target.URL, r.target.Item.Origin
	}
	if r.action.Principal != nil {
		r.ad.note(&e, &r.action)
	}
	return e
}

// note sets in a record what was decided about an action, and by what.
func (ad *admission) note(e *record.Entry, a *policy.Action) {
	e.Domain, e.Pack, e.Class, e.Decision, e.Rule = a.Site.Domain, a.Pack, a.Class.String(), ad.effect().String(), ad.decision.By()
	if flows := flowLines(ad.decision, a.Site); flows != nil {
		e.Flows = flows // of one before, too
	}
	answer := ad.answer
	e.Question, e.By, e.Reach, e.Asked = answer.Question, answer.By, string(answer.Reach), ad.answered
	if !ad.at.IsZero() {
		e.Decided = ad.at.Sub(e.Time)
	}
	if !ad.sent.IsZero() {
		e.Sent = ad.sent.Sub(e.Time)
	}
}

// effect is what was decided: policy.Ask if the owner was asked.
func (ad *admission) effect() policy.Effect {
	if ad.answer.Question != "" {
		return policy.Ask
	}
	return ad.decision.Effect
}

// askedBack is the outcome of a call that comes again, with the client's answer.
const askedBack = "asked"

// outcomeOf says in a word how a call, or an attempt of one, has ended.
func outcomeOf(resp spec.Response, err error) string {
	if f, ok := errors.AsType[*core.Failure](err); ok {
		return string(f.Code)
	}
	if _, ok := errors.AsType[*consent.AskBack](err); ok {
		return askedBack
	}
	_, remote := errors.AsType[*spec.Error](err)
	switch {
	case isUnserved(err):
		return "unknown"
	case remote, err == nil && resp.Failed:
		return string(spec.FailToolError)
	case err == nil:
		return "ok"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, tabtransport.ErrTimeout):
		return string(spec.FailToolTimeout)
	case errors.Is(err, tabtransport.ErrLost):
		return string(spec.FailTabClosed)
	case errors.Is(err, tabtransport.ErrNotConnected):
		return string(spec.FailNotConnected)
	case errors.Is(err, tabtransport.ErrBusy):
		return string(spec.FailQueueFull)
	}
	return "cancelled"
}

// isUnserved reports whether a call was none: its name is unknown, or not to be called so.
func isUnserved(err error) bool {
	_, unknown := errors.AsType[*lists.UnknownError](err)
	return unknown || errors.Is(err, ErrNotReadOnly)
}

// recordRefused leaves the record of a request that was refused before it was a call, unless
// the tool of the hub through which it came does.
func (cs *Calls) recordRefused(r *run, err error) {
	if r.by.Via != "" {
		return
	}
	e := r.by.Entry(record.Refused, time.Now())
	e.Tool, e.Outcome = describe.Clean(r.name, spec.MaxName), outcomeOf(spec.Response{}, err)
	cs.core.Record(e)
}
