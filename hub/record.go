package hub

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tabhub/describe"
	"tabhub/hub/offer/item"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// Record adds an entry to the record, for what happens beside the calls that the hub
// runs. It does not block.
func (h *Hub) Record(e record.Entry) { h.opts.Record.Append(e) }

// recordCall leaves the record of a call.
func (h *Hub) recordCall(r *run, resp spec.Response, err error) {
	r.args, r.checked = bytes.Clone(r.sentArgs()), nil // they are kept when the client has its answer
	e := r.entry()
	e.Outcome, e.Result, e.Changed = outcomeOf(resp, err), resp.Result, r.changed
	r.traced(resp, err)
	h.Record(e)
	h.confirmEpoch()
}

// recordBegin leaves a record before a call is sent that cannot be undone, so that there is
// a trace of it even if the process is killed before it ends.
func (r *run) recordBegin() {
	if r.action.Class != policy.Destructive {
		return
	}
	e := r.entry()
	e.Event, e.Outcome = record.Begun, "begun"
	r.h.Record(e)
}

// recordPolicy leaves a record of each change of the policy.
func (h *Hub) recordPolicy(by string, was, is *policy.Document) {
	add := func(e record.Entry) {
		e.Time, e.Event, e.By = time.Now(), record.Policy, by
		h.Record(e)
	}
	rules := func(of, but []policy.Rule, outcome string) {
		for _, r := range of {
			if !slices.Contains(but, r) {
				add(record.Entry{Rule: r.ID, Decision: r.Effect.String(), Client: r.Client, Domain: spec.Domain(r.Site), Tool: r.Tool, Class: r.Class, Outcome: outcome})
			}
		}
	}
	pauses := func(of, but []policy.Pause, outcome string) {
		for _, p := range of {
			if !slices.Contains(but, p) {
				add(record.Entry{Client: p.Client, Domain: spec.Domain(p.Site), Outcome: outcome})
			}
		}
	}
	rules(was.Rules, is.Rules, "removed")
	rules(is.Rules, was.Rules, "made")
	pauses(was.Pauses, is.Pauses, "resumed")
	pauses(is.Pauses, was.Pauses, "paused")
	if is.Mode != was.Mode {
		add(record.Entry{Outcome: "mode", Reason: string(is.Mode)})
	}
	if !slices.Equal(is.Private, was.Private) {
		add(record.Entry{Outcome: "private", Reason: strings.Join(is.Private, " ")})
	}
}

// entry begins the record of a call, by what is known of it.
func (r *run) entry() record.Entry {
	e := r.by.Entry(record.Call, r.start)
	e.Call, e.Domain, e.Tool, e.Args, e.Reason = r.id, r.ref.ID.Domain, r.ref.ID.Item, r.sentArgs(), r.reason
	if r.target.Addr.Peer != "" {
		e.Tab, e.URL, e.Origin = r.target.Addr.String(), r.target.URL, r.target.Item.Origin
	}
	if r.action.Who != nil {
		r.ad.note(&e, &r.action)
	}
	return e
}

// note sets in a record what was decided about an action, and who has said so.
func (ad *admission) note(e *record.Entry, a *policy.Action) {
	e.Domain, e.Class, e.Decision, e.Rule = a.Site.Domain, a.Class.String(), ad.effect().String(), ad.decision.By()
	if flows := flowLines(ad.decision, a.Site); flows != nil {
		e.Flows = flows // of one before, too
	}
	answer := ad.answer
	e.Question, e.By, e.Reach, e.Asked = answer.Question, answer.By, string(answer.Reach), answer.Asked
}

// effect is what was decided: policy.Ask if the owner was asked.
func (ad *admission) effect() policy.Effect {
	if ad.answer.Question != "" {
		return policy.Ask
	}
	return ad.decision.Effect
}

// confirmEvery is how often the store is asked by calls whether another hub serves the user
// by now.
const confirmEvery = time.Second

// confirmEpoch has the store say whether another hub serves the user by now, which a hub
// whose tabs are quiet does not learn from what it writes.
func (h *Hub) confirmEpoch() {
	now, last := time.Now().UnixNano(), h.confirmed.Load()
	if now-last < int64(confirmEvery) || !h.confirmed.CompareAndSwap(last, now) {
		return
	}
	h.store.Write(h.opts.User, h.epoch, nil, func(err error) {
		if err != nil {
			h.written(err)
		}
	})
}

// askedBack is the outcome of a call that comes again, with the client's answer.
const askedBack = "asked"

// outcomeOf says in a word how a call, or an attempt of one, has ended.
func outcomeOf(resp spec.Response, err error) string {
	if f, ok := errors.AsType[*Failure](err); ok {
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

// isUnserved reports whether a call was none: its name is nobody's, or not to be called so.
func isUnserved(err error) bool {
	_, unknown := errors.AsType[*UnknownError](err)
	return unknown || errors.Is(err, ErrNotReadOnly)
}

// recordRefused leaves the record of a request that was refused before it was a call, unless
// the tool of the hub through which it came does.
func (h *Hub) recordRefused(r *run, err error) {
	if r.by.Via != "" {
		return
	}
	e := r.by.Entry(record.Refused, time.Now())
	e.Tool, e.Outcome = describe.Clean(r.name, spec.MaxName), outcomeOf(spec.Response{}, err)
	h.Record(e)
}

// recordRegistration leaves the record of a registration that changed something.
func (h *Hub) recordRegistration(from spec.TabAddr, m *spec.Register, items []*item.Item, out state.Outcome, d time.Duration) {
	e := record.Entry{
		Time: time.Now(), Event: record.Register, Tab: from.String(), Duration: d,
		Outcome: "ok", Reason: plural(len(items), m.Kind),
	}
	if len(items) > 0 {
		e.Domain = items[0].Domain
	}
	if n := len(out.Answer.Warnings); n > 0 {
		h.log.Info("offered in part", "tab", from, "domain", e.Domain, "tool", out.Answer.Warnings[0].Name, "err", out.Answer.Warnings[0].Reason, "count", n)
	}
	if rejected := out.Rejected; len(rejected) > 0 {
		e.Outcome = fmt.Sprintf("%d rejected", len(rejected))
		e.Reason += fmt.Sprintf("; %s: %s", rejected[0].Name, rejected[0].Reason)
		h.log.Warn("quarantined", "tab", from, "domain", e.Domain, "tool", rejected[0].Name, "err", rejected[0].Reason, "count", len(rejected))
	}
	h.Record(e)
}

func plural(n int, kind spec.Kind) string {
	if n == 1 {
		return "1 " + string(kind)
	}
	return fmt.Sprintf("%d %ss", n, kind)
}
