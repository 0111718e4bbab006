package call

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"strings"
	"time"

	"tabhub/describe"
	"tabhub/hub/agents"
	"tabhub/hub/builtin"
	"tabhub/hub/call/ledger"
	"tabhub/hub/core"
	"tabhub/hub/offer/item"
	"tabhub/hub/offer/pack"
	"tabhub/hub/offer/schema"
	"tabhub/hub/state"
	"tabhub/hub/telemetry"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// progressed passes on how far the page of a tool's call has come.
func (r *run) progressed(p spec.Progress) {
	p.Message = describe.Clean(p.Message, spec.MaxDescription)
	// MCP lets progress only grow; what a page says besides, its message, still counts.
	r.reached = max(r.reached, p.Progress)
	if p.Progress = r.reached; p.Total != nil && *p.Total < p.Progress {
		p.Total = nil
	}
	if p.Message != "" {
		r.said = p.Message
	}
	progressed(r.call, p)
	if r.by.Progress != nil {
		r.h.gate.says(r.by.Principal, r.ref.ID.Domain, p.Message)
		r.by.Progress(p)
	}
}

// toolResult returns what the client of a tool's call gets.
func (r *run) toolResult(resp spec.Response, err error) (result json.RawMessage, _ error) {
	f, failed := errors.AsType[*core.Failure](err)
	if failed {
		result = f.Result()
	} else if remote, ok := errors.AsType[*spec.Error](err); ok {
		result = item.FailureResult(spec.FailToolError, item.WithDoubts(remote.Message, r.doubts))
	} else if err != nil {
		return nil, err
	} else {
		result = r.result
	}
	if len(r.taken) > 0 {
		result = item.AddText(result, "Of the arguments, "+strings.Join(r.taken, "; ")+".")
	}
	if r.after != "" {
		result = item.AddText(result, r.after)
	}
	if page := cmp.Or(resp.Page, r.next); page != nil {
		result = item.AddText(result, r.h.describePage(r.by, r.target.Addr, page))
	}
	if failed {
		return result, nil // the hub's own words
	}
	return r.label(result), nil
}

// label says in a result of the page that the call went to where it is from.
func (r *run) label(result json.RawMessage) json.RawMessage {
	it := r.target.Item
	return r.h.Label(result, &item.Source{Origin: it.Origin, Domain: it.Domain, Verified: it.Verified, Tab: r.target.Addr.Public(), Pack: it.Pack.Name})
}

// lossDelay is how long to wait for the news that a connection was lost.
const lossDelay = 5 * time.Millisecond

// run is one call in flight. It is used by one goroutine.
type run struct {
	h        *Calls
	id       string // for the record
	kind     spec.Kind
	name     string // public
	by       *consent.Caller
	args     json.RawMessage
	readOnly bool        // only a tool that says so is called
	pin      *policy.Pin // and none with another definition, if it is not nil
	progress func(spec.Progress)
	reached  float64 // the highest progress that the page has told
	sending  func(func() json.RawMessage) error
	complete *spec.Complete // what is sent is this, for the item

	ref        state.Ref // what name stands for
	start      time.Time
	call       *ledger.Call
	excluded   []spec.TabAddr
	peer       spec.PeerID // a call that falls over stays in this browser
	opened     bool        // a tab was opened for it
	away       bool        // it has waited for a browser that could open one
	departed   time.Time   // since when it has waited for the next document of a tab
	inputUntil time.Time   // until when it waits for the owner's use of the tab to end; zero: it has not
	ad         admission
	checked    *item.Item      // the arguments fit this item's schema
	tool       *pack.Tool      // that checked is of a pack, whose steps are sent; nil: the page's own
	said       string          // by the page, of how far it has come
	pageArgs   json.RawMessage // args as its page takes them
	taken      []string        // what of args was taken for something else

	// Of the last attempt.
	action  policy.Action
	site    storage.Site
	doubts  string // how the arguments do not fit the schema, if they were sent nevertheless
	target  state.Candidate
	reason  string // why target was chosen
	timeout time.Duration
	moved   bool            // the domain's last call went to another URL
	keeps   bool            // the session's further calls are to go there, too
	leased  *core.Failure   // a tab was left out because another client leases it
	next    *spec.Page      // where the tab is that went away under it
	after   string          // what is known of what has followed its form, if that is not where the tab is
	result  json.RawMessage // what the page answered, as clients can read it
	changed string          // what was changed for that, in a few words
	sent    bool            // it may have reached the page
}

// do runs the call from the first look-up to the record in the log.
func (r *run) do(ctx context.Context) (spec.Response, error) {
	if err := r.h.core.Begin(r.look); err != nil {
		r.h.recordRefused(r, err)
		r.h.opts.Telemetry.Called(r.kind, outcomeOf(spec.Response{}, err), 0)
		return spec.Response{}, err
	}
	h := r.h
	defer h.core.End()
	r.start = time.Now()
	h.calls.Add(1)
	n := h.inFlight.Add(1)
	defer h.inFlight.Add(-1)
	var resp spec.Response
	var err error
	ctx, r.call = h.enter(ctx, r.by, ledger.Subject{Kind: r.kind, Tool: r.ref.ID.Item, Pack: r.ref.ID.Pack, Site: policy.Site{Domain: r.ref.ID.Domain}})
	r.id = r.call.ID()
	if n > int64(h.opts.MaxCalls) {
		err = core.Fail(spec.FailQueueFull, "%d calls are under way already; wait for some to end", n-1)
	} else {
		resp, err = r.attempts(ctx)
	}
	r.call.Leave()
	if !r.sent {
		h.gate.desk.Unsent(r.ad.answer, context.Cause(ctx))
	}
	if r.sent && errors.Is(err, tabtransport.ErrLeft) {
		return resp, err // the process that resumes it records it
	}
	err = r.receive(resp, h.gateError(err, r.sent))
	if _, ok := errors.AsType[*core.Failure](err); ok {
		r.by.Request.Failed()
	}
	if isUnserved(err) {
		h.recordRefused(r, err)
	} else {
		h.recordCall(r, resp, err)
	}
	h.opts.Telemetry.Called(r.kind, outcomeOf(resp, err), time.Since(r.start)-r.ad.answered)
	return resp, err
}

// look looks the name up. The caller holds the Core's lock.
func (r *run) look() error {
	if err := r.lookUpLocked(); err != nil {
		return err
	}
	if r.readOnly {
		l, _ := r.h.core.State().Find(r.h.rules.By(r.by), r.kind, r.name)
		return r.allows(l.Item) // before a tab is opened for it
	}
	return nil
}

// lookUpLocked finds out what the name stands for. The caller holds h.mu.
func (r *run) lookUpLocked() error {
	var ok bool
	r.ref, ok = r.h.core.State().Lookup(r.h.rules.By(r.by), r.kind, r.name)
	if a := r.by.AskedBy; a != nil {
		r.ref.Tab, r.ref.Frame = a.Tab, a.ID
	}
	switch {
	case ok:
		return nil
	case r.ref.Tab != "":
		return errAskerGone
	}
	return r.h.lists.UnknownLocked(r.by, r.kind, r.name)
}

// allows returns why it, nil if it is not known, must not be called.
func (r *run) allows(it *item.Item) error {
	switch {
	case r.readOnly && (it == nil || !it.OnlyReads()):
		return ErrNotReadOnly
	case r.pin != nil && it != nil && it.Pin() != *r.pin:
		return errOtherDefinition
	}
	return nil
}

var errOtherDefinition = &core.Failure{Code: spec.FailDenied, Message: "the page describes the tool otherwise than when it was looked at; the call was not sent: look at it again"}

// cleanError returns err as it may be told to a client: what a page says is wrong is
// shown to people and models.
func cleanError(err error) error {
	remote, ok := errors.AsType[*spec.Error](err)
	if !ok {
		return err
	}
	clean := &spec.Error{Code: remote.Code, Message: describe.CleanLines(remote.Message, math.MaxInt)}
	if remote.Data != nil && rawjson.Valid(remote.Data, spec.MaxDepth) == nil {
		clean.Data = describe.CleanJSON(rawjson.WellFormed(bytes.TrimSpace(remote.Data)))
	}
	return clean
}

// receive makes what the page has answered what its client gets. The error is err, cleaned, or
// says that the answer is no result.
func (r *run) receive(resp spec.Response, err error) error {
	if err != nil {
		return r.withProgress(cleanError(err))
	}
	switch it := r.target.Item; r.kind {
	case spec.KindTool:
		r.result, r.changed = it.ToolResult(resp, r.doubts)
	case spec.KindResource:
		r.result, r.changed, err = it.ResourceResult(resp, r.ref.Page, r.name)
	case spec.KindPrompt:
		r.result, r.changed, err = it.PromptResult(resp)
	}
	if err != nil {
		return &core.Failure{Code: spec.FailToolError, Message: describe.CleanLines(err.Error(), math.MaxInt)}
	}
	if r.by.AskedBy != nil && builtin.AsksBack(r.result) {
		*r.by.AskedBy = consent.Frame{Tab: r.target.Addr.Public(), ID: r.target.Item.FrameID()}
	}
	if r.changed != "" {
		r.h.core.Log.Debug("changed for the client", "tab", r.target.Addr, "domain", r.ref.ID.Domain, "tool", r.ref.ID.Item, "changed", r.changed)
	}
	return nil
}

// attempts tries tabs until the call has an answer, or was sent and must not be
// sent again.
func (r *run) attempts(ctx context.Context) (spec.Response, error) {
	loading := 0
	var changed <-chan struct{} // taken before the latest look; nil unless the look before it found the tab away
	for {
		if err := context.Cause(ctx); err != nil {
			return spec.Response{}, err
		}
		if r.h.core.Context().Err() != nil {
			return spec.Response{}, r.h.core.EndedFailure(false)
		}
		found := r.pick()
		switch {
		case !found:
			r.call.Waits(r.target.Addr)
			if err := r.open(ctx); err != nil {
				return spec.Response{}, err
			}
			continue
		case !r.target.Free(r.target.Reads()): // which the call names
			if err := r.h.free(r.by, r.target.Addr, r.target.Reads()); err != nil {
				return spec.Response{}, err
			}
		}
		switch {
		case !r.target.Present && changed == nil:
			changed = r.h.core.Changes()
			continue // it may have come back before
		case !r.target.Present:
			r.call.Waits(r.target.Addr)
			if err := r.awaitTarget(ctx, changed); err != nil {
				return spec.Response{}, err
			}
			changed = nil
			continue
		}
		if r.target.InUse && (r.kind == spec.KindTool && !r.target.Item.OnlyReads()) {
			if r.inputUntil.IsZero() {
				r.inputUntil = time.Now().Add(r.timeout)
			}
			if waited, err := r.h.awaitUser(ctx, r.call, r.by, r.target.Addr, r.inputUntil); err != nil {
				return spec.Response{}, err
			} else if waited {
				continue
			}
		}
		if err := r.check(r.target.Item); err != nil {
			return spec.Response{}, err
		}
		p, again, err := r.admit(ctx, r.target.Item, r.target.Since)
		if err != nil {
			return spec.Response{}, err
		}
		if again {
			continue
		}
		if d := r.target.Dialog; d != nil {
			return spec.Response{}, dialogFailure(r.target.Addr, d)
		}
		r.recordBegin()
		resp, err := r.send(ctx, p)
		retry, err := r.judge(ctx, err, &loading)
		if !retry {
			if err == nil && r.target.Addr.Tab == 0 && string(resp.Result) == submitted {
				r.after = r.afterForm(ctx)
			}
			return resp, err
		}
	}
}

// pick chooses a tab by a snapshot, as the target of the next attempt. It reports
// whether there is one, if only one that is away.
func (r *run) pick() (found bool) {
	var room [8]state.Candidate
	h := r.h
	who := h.rules.By(r.by)
	h.core.RLock()
	s := h.core.State().Snapshot(&r.ref, who, r.excluded, r.peer, room[:])
	r.site = h.core.State().Site(r.ref.ID.Domain)
	h.core.RUnlock()
	best, reason := s.Choose()
	if best < 0 {
		addr, leased := s.Leased()
		if r.leased = nil; leased {
			holder := core.View(h.core, func(s *state.State) *agents.Holder { return s.Agents().Holder(addr) })
			if holder == nil {
				return r.pick() // not any more
			}
			r.leased = core.LeasedFailure(addr, holder)
		}
		return false
	}
	r.target, r.reason, r.timeout = s.Candidates[best], reason, cmp.Or(r.site.CallTimeout, h.opts.CallTimeout)
	if r.sending != nil && r.site.CallTimeout == 0 {
		r.timeout = h.opts.CallTimeoutMax
	}
	if r.opened {
		r.reason = "opened for this call"
	}
	if r.ref.Tab != "" {
		r.reason = "it has asked back"
	}
	r.moved = !r.target.Chosen() && r.target.URL != "" && r.target.URL != s.LastCall
	r.keeps = !s.Named && r.target.Keeps() && who.Session != (agents.SessionID{})
	return true
}

// awaitTarget blocks until the target may be there: its tab has come back, or shows the next
// document with what is called, which it may never do.
func (r *run) awaitTarget(ctx context.Context, changed <-chan struct{}) error {
	if !r.target.Departed {
		return core.AwaitSignal(ctx, r.h.core, changed)
	}
	if r.departed.IsZero() {
		r.departed = time.Now()
	}
	never := core.Fail(spec.FailNotConnected, "the page that offered %q has gone, and the tab's next one has not offered it within %s; the call was not sent", r.ref.ID.Item, spec.ReturnMaxWait)
	if r.ref.Tab != "" {
		never = errAskerGone
	}
	ctx, cancel := context.WithDeadlineCause(ctx, r.departed.Add(spec.ReturnMaxWait), never)
	defer cancel()
	return core.AwaitSignal(ctx, r.h.core, changed)
}

// check validates the arguments of a call as the site's settings say.
func (r *run) check(it *item.Item) error {
	if err := r.allows(it); err != nil {
		return err // another tab's, of the same name
	}
	if r.checked == it {
		return nil
	}
	var err error
	if r.tool, err = r.h.packTool(it); err != nil {
		return err
	}
	// What fills in the steps of a pack is checked, as no code of the page does.
	args, notes, err := it.Arguments(r.args, r.tool != nil || r.site.Check != storage.CheckOff)
	r.doubts = ""
	if err != nil {
		violations, ok := errors.AsType[*schema.Violations](err)
		if !ok || !violations.Lenient || r.tool != nil || r.site.Check == storage.CheckStrict {
			return &core.Failure{Code: spec.FailInvalidArguments, Message: err.Error()}
		}
		r.doubts = err.Error()
	}
	r.checked, r.pageArgs, r.taken = it, args, notes
	return nil
}

// admit decides whether the call may go to an item, of which the hub has known since a time.
// With again the owner has said yes, and it is to be looked for anew. A call about which the
// owner is asked is not in flight meanwhile.
func (r *run) admit(ctx context.Context, it *item.Item, since time.Time) (p permit, again bool, err error) {
	g := r.h.gate
	r.action = core.ActionFor(r.by, it, r.ref.Page)
	r.action.Late = g.isLate(r.by, since)
	if r.target.Item == it {
		r.h.reach(r.by, &r.action, r.target.Addr.Peer)
	}
	if top := r.top(it); top != r.ad.top { // within another page it is another call
		r.ad.top, r.ad.granted = top, grant{}
	}
	if p, err = g.decide(&r.ad, &r.action); err != nil || p.of != nil {
		return p, false, err
	}
	r.h.inFlight.Add(-1)
	defer r.h.inFlight.Add(1)
	r.call.Asks()
	defer r.call.GoesOn()
	c := consent.Call{ID: r.id, Action: &r.action, Args: r.given(it), Title: it.Title(), Origin: it.Origin, Is: it.Definition(), Carries: r.carries}
	core.DescribePack(r.h.core, it, &c)
	return permit{}, true, g.ask(ctx, r.by, &r.ad, c)
}

// top returns the site of the target's page if the item is of another site's frame there.
func (r *run) top(it *item.Item) string {
	if !it.Framed() {
		return "" // nearly each call: its address is not parsed
	}
	u, err := url.Parse(r.target.URL)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// send sends the request to the target, within the tab's limit.
func (r *run) send(ctx context.Context, p permit) (spec.Response, error) {
	h, t := r.h, &r.target
	n, stale := t.Begin(time.Now())
	defer func() {
		if t.End(time.Now()) {
			h.core.Update(func(tx *state.Tx) { tx.Agents().Save(core.SessionOf(r.by)) })
		}
	}()
	if n > spec.MaxCallsPerTab {
		return spec.Response{}, core.Fail(spec.FailQueueFull, "%d calls to this tab are under way already; wait for some to end", spec.MaxCallsPerTab)
	}
	if h.free(r.by, t.Addr, t.Reads()) != nil {
		return spec.Response{}, errClaimed
	}
	if r.moved {
		t.Called()
	}
	if r.keeps || stale {
		by := h.rules.By(r.by)
		h.core.Update(func(tx *state.Tx) {
			if r.keeps {
				tx.Agents().Remember(by, t.Addr)
			}
			if stale {
				tx.Agents().Save(by.Session)
			}
		})
	}
	wait := r.wait()
	span := telemetry.Begin(h.opts.Telemetry, telemetry.Execute)
	twice := r.kind != spec.KindTool || t.Item.Repeatable
	r.call.Decided(r.ad.effect())
	r.call.Sending(twice, t.Addr, "")
	resp, err := h.gate.send(ctx, p, t.Addr, r.request(ctx, t.Item), wait)
	resp, err = r.ran(resp, err)
	if notSent(err) {
		r.call.NotSent(twice)
	}
	span.End(outcomeOf(resp, err))
	r.sent = r.sent || !notSent(err)
	return resp, err
}

// errClaimed: another client has claimed the tab since it was chosen.
var errClaimed = errors.New("the tab was claimed")

// unstored is why a call is not sent of which the next process could not know.
type unstored struct{ error }

func (e *unstored) Unwrap() error { return e.error }

// notSent reports whether a request has not left for its tab.
func notSent(err error) bool {
	remote, ok := errors.AsType[*spec.Error](err)
	if _, ok := errors.AsType[*unstored](err); ok {
		return true
	}
	return errors.Is(err, tabtransport.ErrNotConnected) || errors.Is(err, tabtransport.ErrBusy) || errors.Is(err, tabtransport.ErrUnsupported) ||
		ok && remote.Code == spec.CodeTabNotFound && NotDelivered(remote)
}

// wait returns how long to wait for the target, and what to call meanwhile.
func (r *run) wait() tabtransport.Wait {
	wait := tabtransport.Wait{Timeout: r.timeout, Progress: r.progress, SentAt: &r.ad.sent}
	if r.kind == spec.KindTool {
		wait.Max, wait.Person = r.h.opts.CallTimeoutMax, r.h.opts.PersonTimeout
	}
	if r.sending != nil {
		wait.Sending = func(sent tabtransport.Sent) error {
			if err := r.sending(r.describeSent(sent)); err != nil {
				return &unstored{err}
			}
			return nil
		}
	}
	return wait
}

// request makes the request for an item. The page learns of the span of ctx.
func (r *run) request(ctx context.Context, it *item.Item) spec.Request {
	if r.complete != nil {
		c := *r.complete
		c.FrameID = it.Frame
		if c.Ref = (spec.CompleteRef{Type: spec.RefPrompt, Name: it.Source}); it.Template {
			c.Ref = spec.CompleteRef{Type: spec.RefResource, URI: it.Source}
		}
		return &c
	}
	if r.tool != nil {
		return r.tool.Request(r.pageArgs, it.Frame, it.Origin)
	}
	ext := r.by.Extensions
	if parent := telemetry.Traceparent(ctx); parent != "" {
		ext = maps.Clone(ext)
		if ext == nil {
			ext = spec.Extensions{}
		}
		ext[spec.ExtTraceparent] = rawjson.AppendString(nil, parent)
	}
	switch r.kind {
	case spec.KindResource:
		return &spec.ReadResource{URI: r.ref.Page, FrameID: it.Frame, Extensions: ext}
	case spec.KindPrompt:
		return &spec.GetPrompt{Name: it.Source, Args: r.pageArgs, FrameID: it.Frame, Extensions: ext}
	}
	call := &spec.ExecuteTool{ToolName: it.Source, Args: r.pageArgs, FrameID: it.Frame, Extensions: ext}
	if it.Frame != nil || it.Verified && r.target.Addr.Tab != 0 { // a page's own connection shows no other
		call.Origin = it.Origin
	}
	return call
}

// judge decides what the outcome of an attempt means: an answer, a failure, or
// another attempt.
func (r *run) judge(ctx context.Context, err error, loading *int) (retry bool, _ error) {
	if err == nil {
		return false, nil
	}
	var remote *spec.Error
	var never *unstored
	switch {
	case errors.Is(err, errClaimed):
		return true, nil // pick finds another tab, or the holder
	case errors.Is(err, tabtransport.ErrNotConnected):
		// Not sent: pick waits for the tab, or finds another once it has gone. The
		// pause is for the moment in which the hub has not heard of the loss.
		return true, core.AwaitSignal(ctx, r.h.core, time.After(lossDelay))
	case errors.Is(err, tabtransport.ErrBusy):
		return false, &core.Failure{Code: spec.FailQueueFull, Message: "the tab does not take more messages now; try again later"}
	case errors.Is(err, tabtransport.ErrUnsupported):
		return false, &core.Failure{Code: spec.FailToolError, Message: "the page's protocol has no such request"}
	case errors.As(err, &never):
		return false, core.Fail(spec.FailNotConnected, "the call was not sent, as that could not be noted for the time after a restart: %v", never)
	case errors.Is(err, tabtransport.ErrTimeout):
		return false, r.timedOut()
	case errors.Is(err, tabtransport.ErrLost) && r.h.core.Context().Err() != nil:
		return false, r.h.core.EndedFailure(true)
	case errors.Is(err, tabtransport.ErrLost):
		return r.lost(ctx, err)
	case errors.As(err, &remote) && remote.Code == spec.CodeTabNotFound && NotDelivered(remote):
		if *loading++; *loading > spec.RetryAttempts {
			return false, core.Fail(spec.FailNotConnected, "the tab did not take the call in %d attempts: %s", *loading, remote.Message)
		}
		return true, core.AwaitSignal(ctx, r.h.core, time.After(spec.RetryDelay))
	case errors.As(err, &remote) && remote.Code == spec.CodeTabNotFound:
		return r.lost(ctx, err)
	}
	return false, err
}

func (r *run) timedOut() *core.Failure {
	text := fmt.Sprintf("no answer within %s; the tab was told to stop, but the call may have taken effect", (time.Since(r.start) - r.ad.answered).Round(time.Millisecond))
	if d := core.View(r.h.core, func(s *state.State) *spec.Dialog { return s.Tab(r.target.Addr).Dialog() }); d != nil {
		text += "; " + core.DialogWords(r.target.Addr, d)
	}
	return &core.Failure{Code: spec.FailToolTimeout, Message: text}
}

// dialogFailure is why nothing is sent to a tab that a dialog of its page blocks.
func dialogFailure(addr spec.TabAddr, d *spec.Dialog) *core.Failure {
	return &core.Failure{Code: spec.FailDialogOpen, Message: core.DialogWords(addr, d) + "; nothing was sent"}
}

// lost decides about a call that was sent to a tab which is gone: only one that
// may be run twice goes to another tab of the same browser.
func (r *run) lost(ctx context.Context, err error) (retry bool, _ error) {
	if r.kind == spec.KindTool && !r.target.Item.Repeatable || r.ref.Tab != "" || len(r.excluded) >= spec.RetryAttempts {
		r.next = r.h.nextPage(ctx, r.target.Addr)
		if errors.Is(err, tabtransport.ErrNotContinued) {
			return false, errNotContinued
		}
		return false, r.tabClosed(err)
	}
	r.excluded = append(r.excluded, r.target.Addr)
	r.peer = r.target.Addr.Peer
	return true, nil
}

var (
	errTabClosed    = &core.Failure{Code: spec.FailTabClosed, Message: "the tab went away after the call was sent; it may have taken effect"}
	errNotContinued = core.Fail(spec.FailTabClosed, "the page left the call to the tab's next document, which has not resumed it within %s; it may have taken effect", spec.ContinueWait)
)

// errAskerGone is why a call that a page has asked back about does not go on.
var errAskerGone = &core.Failure{Code: spec.FailTabClosed, Message: "the page that has asked back has gone, or does not offer this any more, and what it had begun is lost, though it may have taken effect; call again to begin anew"}

// NotDelivered reports whether a peer says that a request did not reach a page.
func NotDelivered(e *spec.Error) bool {
	return e.Data != nil && rawjson.Valid(e.Data, spec.MaxDepth) == nil &&
		string(rawjson.Get(e.Data, "delivered")) == "false"
}
