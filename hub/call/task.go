package call

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/call/ledger"
	"tabhub/hub/core"
	"tabhub/hub/offer/item"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
)

// ResumeTasks takes up the calls of tasks of earlier processes. No tab is connected yet.
func (cs *Calls) ResumeTasks() {
	cs.gate.desk.Sweep() // the store can be written now
	cs.ledger.Restore(cs.core.Documents(ledger.Kind))
	for _, task := range cs.ledger.Unended() {
		of := task.TaskOf()
		r, c, err := cs.restoreCall(task, of)
		if r != nil {
			cs.resume(r, c)
			continue
		}
		f := &core.Failure{Code: spec.FailNotConnected, Message: "the hub was restarted before the call was sent to a page; it has had no effect: call again"}
		if of.Own || of.Sent != nil { // which this process cannot read
			f.Message = "the hub was restarted while the call was under way; it may have taken effect"
		}
		if err != nil {
			f.Message += ". Its answer cannot be read: " + err.Error()
		}
		task.EndTask(f.Result(), nil)
	}
}

// sentCall is a call that a page was sent, as far as another process needs it.
type sentCall struct {
	tabtransport.Sent
	To       spec.TabAddr    `json:"to"`
	Call     string          `json:"call"` // its id in the record
	Began    time.Time       `json:"began"`
	Domain   spec.Domain     `json:"domain"`
	Origin   string          `json:"origin"`
	Verified bool            `json:"verified"`
	Item     json.RawMessage `json:"item"`
	URL      string          `json:"url"`
	Reason   string          `json:"reason"`
	Timeout  time.Duration   `json:"timeout"`
	Name     string          `json:"name,omitempty"` // of its client
	Said     string          `json:"said,omitempty"`
	Session  string          `json:"clientSession,omitempty"`
	Agent    string          `json:"agent,omitempty"`
	Bound    []string        `json:"bound,omitempty"`
	Via      string          `json:"via,omitempty"`
	Decision struct {        // for the record
		Effect   policy.Effect `json:"effect"`
		Rule     string        `json:"rule,omitempty"`
		Question string        `json:"question,omitempty"`
		By       string        `json:"by,omitempty"`
		Reach    spec.Reach    `json:"reach,omitempty"`
		Asked    time.Duration `json:"asked,omitempty"`
		At       time.Time     `json:"at,omitzero"`
	} `json:"decision,omitzero"`
}

// describeSent returns what describes the call that is about to be sent to the target: a
// sentCall.
func (r *run) describeSent(sent tabtransport.Sent) func() json.RawMessage {
	it := r.target.Item
	c := sentCall{
		Sent: sent, To: r.target.Addr, Call: r.id, Began: r.start,
		Domain: it.Domain, Origin: it.Origin, Verified: it.Verified, Item: it.Raw,
		URL: r.target.URL, Reason: r.reason, Timeout: r.timeout,
		Name: r.by.Principal.Name, Said: r.by.Said, Session: r.by.Session, Agent: r.by.Agent, Bound: r.by.Bound, Via: r.by.Via,
	}
	d, ad := &c.Decision, &r.ad
	d.Effect, d.Rule, d.At = ad.decision.Effect, ad.decision.By(), ad.at
	d.Question, d.By, d.Reach, d.Asked = ad.answer.Question, ad.answer.By, ad.answer.Reach, ad.answered
	return func() json.RawMessage {
		raw, _ := json.Marshal(c) // of what was JSON before
		return raw
	}
}

// restoreCall returns the call of a task as the process before had it, nil if that has sent none. The error
// is that of an item that is none any more.
func (cs *Calls) restoreCall(task *ledger.Call, of ledger.TaskOf) (*run, *sentCall, error) {
	c := &sentCall{}
	if of.Sent == nil || json.Unmarshal(of.Sent, c) != nil {
		return nil, nil, nil
	}
	it, err := cs.core.ParseStored(spec.KindTool, c.Item, item.Provenance{Domain: c.Domain, Origin: c.Origin, Verified: c.Verified})
	if err != nil {
		return nil, nil, err
	}
	tool, err := cs.packTool(it)
	if err != nil {
		return nil, nil, err
	}
	by := &consent.Caller{
		Principal: &policy.Principal{ID: of.Client, Name: c.Name}, Said: c.Said, Session: c.Session, Agent: c.Agent, Bound: c.Bound, Via: c.Via,
		Progress: func(p spec.Progress) { task.Says(p.Message) },
	}
	r := &run{
		h: cs, tool: tool, call: task, id: c.Call, kind: spec.KindTool, name: of.Tool, by: by, start: c.Began, sent: true,
		target: state.Candidate{Addr: c.To, Item: it, URL: c.URL}, reason: c.Reason, timeout: c.Timeout,
		action: core.ActionFor(by, it, it.Source),
	}
	d := &c.Decision
	r.ad = admission{
		decision: policy.Decision{Effect: d.Effect, Rule: &policy.Rule{ID: d.Rule}}, at: d.At, sent: c.At,
		answer: consent.Answer{Question: d.Question, By: d.By, Reach: d.Reach}, answered: d.Asked,
	}
	r.ref.ID.Domain, r.ref.ID.Item, r.ref.ID.Pack = c.Domain, it.Source, it.Pack.Name
	r.progress = r.progressed
	return r, c, nil
}

// resume asks the page for the answer to a call that an earlier process has sent it, and ends the
// call's task with that. It does not wait.
func (cs *Calls) resume(r *run, c *sentCall) {
	ctx, cancel := context.WithCancelCause(context.Background())
	left := context.AfterFunc(cs.core.Context(), func() { cancel(tabtransport.ErrLeft) })
	about := ledger.Subject{Kind: r.kind, Tool: r.ref.ID.Item, Pack: r.ref.ID.Pack, Site: policy.Site{Domain: c.Domain}}
	cs.subject(r.by, &about)
	r.call.EnterWith(about, cancel)
	r.call.Decided(policy.Allow)
	r.call.Sending(false, c.To, "")
	answer := cs.core.Options.Transport.Resume(c.To, c.Sent, r.wait())
	cs.inFlight.Add(1)
	id := core.SessionOf(r.by)
	standing := core.View(cs.core, func(s *state.State) agents.Standing { return s.Agents().Standing(s.Agents().Session(id), c.To) })
	standing.Begin(time.Now(), nil)
	cs.core.Background(func() {
		defer func() {
			if standing.End(time.Now()) {
				cs.core.Update(func(tx *state.Tx) { tx.Agents().Save(id) })
			}
		}()
		defer cs.inFlight.Add(-1)
		defer cancel(nil)
		defer left()
		defer r.call.Leave()
		resp, err := answer(ctx)
		if err != nil && cs.core.Context().Err() != nil {
			return // the next process asks
		}
		if result, ok := r.resumed(ctx, resp, err); ok {
			r.call.EndTask(result, nil)
		}
	})
}

// resumed records how a call has ended that was resumed, and returns its result. ok is false if it
// has none, as its client has cancelled it.
func (r *run) resumed(ctx context.Context, resp spec.Response, err error) (_ json.RawMessage, ok bool) {
	resp, err = r.ran(resp, err)
	remote, _ := errors.AsType[*spec.Error](err)
	switch {
	case errors.Is(err, tabtransport.ErrLost), remote != nil && remote.Code == spec.CodeTabNotFound:
		r.next = r.h.nextPage(ctx, r.target.Addr)
		err = r.tabClosed(err)
	case errors.Is(err, tabtransport.ErrTimeout):
		err = r.timedOut()
	case err == nil && string(rawjson.Get(resp.Result, "resultType")) == `"input_required"`:
		err = &core.Failure{Code: spec.FailToolError, Message: "the page asks back, but what it was called with was lost when the hub was restarted; it may have taken effect"}
	}
	err = r.receive(resp, r.h.gateError(err, true))
	r.h.recordCall(r, resp, err)
	r.h.opts.Telemetry.Called(r.kind, outcomeOf(resp, err), time.Since(r.start)-r.ad.answered)
	result, err := r.toolResult(resp, err)
	return result, err == nil
}
