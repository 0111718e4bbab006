package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tabhub/hub"
	"tabhub/hub/consent"
	"tabhub/hub/record"
	"tabhub/hub/tasks"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
)

// The extension io.modelcontextprotocol/tasks: a call of a client that declares it, and that takes
// long, is answered with a task, and goes on without its request. Package tasks keeps it.

// extTasks is the name of the extension, among a client's capabilities and the server's.
const extTasks = "io.modelcontextprotocol/tasks"

// takesTasks reports whether the client takes a task in place of the answer.
func (rq *request) takesTasks() bool {
	return rq.modern && rawjson.Get(orEmpty(rq.capabilities()), "extensions", extTasks) != nil
}

// missingTasks is what a client gets that has not declared the extension.
func missingTasks() *rpcError {
	e := missingCapabilities(nil)
	e.message = "this needs a client that declares the extension " + extTasks
	e.data = json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + extTasks + `":{}}}}`)
	return e
}

// taskCall is a call that may become a task, until it has ended. At which of the two it is, mu
// decides: a call that has ended, or has ended its request with a question, becomes none.
type taskCall struct {
	// static after construction
	srv    *Server
	of     tasks.Call
	by     *consent.Caller
	cancel context.CancelCauseFunc // ends the call
	waits  chan struct{}           // has something once the call waits for a person; capacity 1
	done   chan struct{}           // closed once result and err are set; never for a task

	result json.RawMessage
	err    error

	mu     sync.Mutex // held while the task is stored
	sent   func() json.RawMessage
	plain  bool          // is no task, and becomes none
	detach []func() bool // to be called at the end

	run atomic.Pointer[tasks.Run] // nil: is no task yet; set under mu
}

// callOrTask answers a call with what work returns or, if that takes long, with a task. ctx is
// the request's. work is run in a context that lasts as long as the call is wanted.
func (s *Server) callOrTask(ctx context.Context, rq *request, of tasks.Call, work func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	if !s.runs.enter() {
		return nil, &hub.Failure{Code: spec.FailNotConnected, Message: ErrClosing.Error() + "; nothing was sent to a page"}
	}
	of.Client, of.CallID = rq.ses.identity.who.ID, rq.call.ID()
	t := &taskCall{srv: s, of: of, by: rq.caller(nil, nil), waits: make(chan struct{}, 1), done: make(chan struct{})}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	t.cancel = cancel
	gone := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	rq.task = t
	go func() {
		defer s.runs.leave()
		defer cancel(nil)
		r, err := work(own)
		t.end(own, rq, r, err)
	}()
	timer := time.NewTimer(s.opts.TaskAfter)
	defer timer.Stop()
	select {
	case <-t.done:
		return t.result, t.err
	case <-timer.C:
	case <-t.waits:
	case <-ctx.Done():
	}
	if !rq.Gone() { // else nobody would know of the task; see outcome.go
		if task, ok := t.begin(ctx, rq, gone); ok {
			return task, nil
		}
	}
	<-t.done
	return t.result, t.err
}

// begin makes the call a task, unless it is over, and returns what its request is answered with.
// gone takes the call off its request, and reports whether that was still there.
func (t *taskCall) begin(ctx context.Context, rq *request, gone func() bool) (json.RawMessage, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plain || ctx.Err() != nil {
		return nil, false
	}
	t.plain = true
	if t.sent != nil {
		t.of.Sent = t.sent()
	}
	run, task, err := t.srv.hub.Tasks().Begin(ctx, t.of, t.cancel)
	if err != nil {
		t.srv.log.Warn("a call stays without a task", "tool", t.of.Tool, "err", err)
		return nil, false
	}
	cancel := func() { t.srv.hub.Tasks().Cancel(t.of.Client, run.ID()) }
	if !gone() || !rq.call.Lasts() {
		cancel()
		return nil, false
	}
	t.plain = false
	t.run.Store(run)
	e := t.by.Entry(record.Task, time.Now())
	e.Call, e.Tool, e.Task, e.Outcome = t.by.Outcome.ID(), t.of.Tool, run.ID(), "ok"
	t.srv.hub.Record(e)
	t.detach = append(t.detach, context.AfterFunc(t.srv.leaving, func() { t.cancel(tabtransport.ErrLeft) }))
	if revoked := rq.ses.identity.revoked; revoked != nil {
		t.detach = append(t.detach, context.AfterFunc(revoked, cancel))
	}
	return append(task.AppendMembers([]byte(`{"resultType":"task",`)), '}'), true
}

// end takes in how the call has ended.
func (t *taskCall) end(own context.Context, rq *request, result json.RawMessage, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, stop := range t.detach {
		stop()
	}
	run := t.run.Load()
	if run == nil {
		t.plain, t.result, t.err = true, result, err
		close(t.done)
		return
	}
	if f, ok := errors.AsType[*hub.Failure](err); ok {
		result, err = f.Result(), nil
	}
	switch cause := context.Cause(own); {
	case err != nil && errors.Is(cause, tabtransport.ErrLeft): // another process goes on
	case err != nil && errors.Is(cause, tasks.ErrCancelled): // it has ended
	case err != nil:
		run.End(nil, t.srv.rpcError(rq, err).append(nil))
	default:
		run.End(result, nil)
	}
}

// sending notes that the call is about to be sent to a page; see hub.Call.
func (t *taskCall) sending(sent func() json.RawMessage) error {
	t.mu.Lock()
	t.sent = sent
	run := t.run.Load()
	t.mu.Unlock()
	if run == nil {
		return nil
	}
	return run.Sending(sent())
}

// asks returns the task that is to ask its client; nil if the call is none: then its request ends
// with the question, and it becomes none.
func (t *taskCall) asks() *tasks.Run {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	run := t.run.Load()
	t.plain = t.plain || run == nil
	return run
}

// progress returns what a call reports its progress to: to, which may be nil, and from then on
// that it is a task the task.
func (t *taskCall) progress(to func(spec.Progress)) func(spec.Progress) {
	if t == nil {
		return to
	}
	return func(p spec.Progress) {
		if run := t.run.Load(); run != nil {
			run.Says(p.Message)
			return
		}
		if to != nil {
			to(p)
		}
		if p.Waiting {
			select {
			case t.waits <- struct{}{}:
			default:
			}
		}
	}
}

// askTask asks the client of a task what r, a result that asks back, asks for, and returns the
// input of the next round.
func askTask(ctx context.Context, run *tasks.Run, r json.RawMessage, in input, round string) (input, error) {
	responses, err := run.Ask(ctx, orEmpty(rawjson.Get(r, "inputRequests")))
	if err != nil {
		return input{}, err
	}
	return input{ext: nextRound(in.ext, r, responses), after: round, askedBy: in.askedBy}, nil
}

// nextRound returns ext as it is for the call after one that asked back with r.
func nextRound(ext spec.Extensions, r, responses json.RawMessage) spec.Extensions {
	next := spec.Extensions{}
	maps.Copy(next, ext)
	next[extResponses] = responses
	delete(next, extState)
	if state := rawjson.Get(r, extState); state != nil {
		next[extState] = state
	}
	return next
}

// aboutTask serves tasks/get, tasks/update and tasks/cancel.
func (s *Server) aboutTask(rq *request) (frame, error) {
	if !rq.takesTasks() {
		return frame{}, missingTasks()
	}
	id, e := rq.required("taskId", "id of a task")
	if e != nil {
		return frame{}, e
	}
	book, client, known := s.hub.Tasks(), rq.ses.identity.who.ID, false
	out := json.RawMessage(`{"resultType":"complete"}`)
	switch rq.method {
	case methodGetTask:
		var task tasks.Task
		if task, known = book.Get(client, id); known {
			out = append(task.AppendMembers([]byte(`{"resultType":"complete",`)), '}')
		}
	case methodUpdateTask:
		raw, e := rq.object(extResponses)
		if e == nil && raw == nil {
			e = invalidParams(extResponses + " is required: the answers to what the task asks for")
		}
		if e != nil {
			return frame{}, e
		}
		known = book.Answer(client, id, maps.Collect(rawjson.Members(raw)))
	default:
		known = book.Cancel(client, id)
	}
	if !known {
		return frame{}, invalidParams("there is no such task of this client; it may be over for too long")
	}
	return s.result(rq, out, ""), nil
}

// The methods of the extension.
const (
	methodGetTask    = "tasks/get"
	methodUpdateTask = "tasks/update"
	methodCancelTask = "tasks/cancel"
)

// taskIDs returns which of the tasks that a subscriptions/listen names are its client's.
func (s *Server) taskIDs(rq *request, filter json.RawMessage) (ids []string, e *rpcError) {
	raw := rawjson.Get(filter, "taskIds")
	switch {
	case raw == nil || string(raw) == "null":
		return nil, nil
	case !rq.takesTasks():
		return nil, missingTasks()
	}
	var all []string
	if json.Unmarshal(raw, &all) != nil || len(all) > tasks.MaxTasks {
		return nil, invalidParams(fmt.Sprintf("taskIds must be at most %d strings", tasks.MaxTasks))
	}
	for _, id := range all {
		if _, ok := s.hub.Tasks().Get(rq.ses.identity.who.ID, id); ok && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// taskChanged tells the clients that listen to a task of a change.
func (s *Server) taskChanged(id string) {
	s.mu.Lock()
	all := slices.Collect(maps.Keys(s.watching))
	s.mu.Unlock()
	for _, ses := range all {
		ses.changed(hub.Change{Tasks: []string{id}})
	}
}

// taskFrames appends the notices of tasks; one that is gone by now has none.
func (ses *session) taskFrames(fs []frame, ids []string, meta string) []frame {
	for _, id := range ids {
		if task, ok := ses.srv.hub.Tasks().Get(ses.identity.who.ID, id); ok {
			fs = append(fs, noticeFrame("notifications/tasks", string(task.AppendMembers([]byte(meta+",")))))
		}
	}
	return fs
}
