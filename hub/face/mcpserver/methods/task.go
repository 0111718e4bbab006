package methods

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"tabhub/hub/call/ledger"
	"tabhub/hub/core"
	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/lists"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
)

// The extension io.modelcontextprotocol/tasks: a call of a client that declares it, and that takes
// long, is answered with a task, and outlives its request. Package ledger stores it.

// ExtTasks is the name of the extension, among a client's capabilities and the server's.
const ExtTasks = "io.modelcontextprotocol/tasks"

// takesTasks reports whether the client takes a task in place of the answer.
func (rq *Request) takesTasks() bool {
	return rq.Modern && rawjson.Get(jsonrpc.OrEmpty(rq.capabilities()), "extensions", ExtTasks) != nil
}

// callOrTask answers a call with what work returns or, if that takes long, with a task. ctx is the call's,
// which lasts as long as that is wanted.
func (s *Server) callOrTask(ctx context.Context, rq *Request, of ledger.TaskOf, work func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	if !s.runs.Enter() {
		return nil, &core.Failure{Code: spec.FailNotConnected, Message: ErrClosing.Error() + "; nothing was sent to a page"}
	}
	type end struct {
		result json.RawMessage
		err    error
	}
	rq.waiting = make(chan struct{}, 1)
	done := make(chan end, 1)
	go func() {
		defer s.runs.Leave()
		r, err := work(ctx)
		if rq.call.StaysPlain() {
			done <- end{r, err}
			return
		}
		s.endTask(ctx, rq, r, err)
		rq.stop(nil)
	}()
	timer := time.NewTimer(s.opts.TaskAfter)
	defer timer.Stop()
	select {
	case e := <-done:
		return e.result, e.err
	case <-timer.C:
	case <-rq.waiting:
	case <-ctx.Done(): // it becomes none
		e := <-done
		return e.result, e.err
	}
	of.Client = rq.ses.Identity.Principal.ID
	task, err := rq.call.BecomeTask(ctx, of)
	if err != nil {
		if ctx.Err() == nil {
			s.log.Warn("a call stays without a task", "tool", of.Tool, "err", err)
		}
		e := <-done
		return e.result, e.err
	}
	rq.isTask = true
	cancel := func() { s.hub.Ledger().CancelTask(of.Client, task.ID) }
	by := rq.caller(nil, nil)
	e := by.Entry(record.Task, time.Now())
	e.Call, e.Tool, e.Task, e.Outcome = rq.call.ID(), of.Tool, task.ID, "ok"
	s.hub.Record(e)
	// Until the call has ended.
	left := context.AfterFunc(s.leaving, func() { rq.call.Stop(tabtransport.ErrLeft) })
	context.AfterFunc(ctx, func() { left() })
	if revoked := rq.ses.Identity.Revoked; revoked != nil {
		bound := context.AfterFunc(revoked, cancel)
		context.AfterFunc(ctx, func() { bound() })
	}
	return taskResult(&task), nil
}

// taskResult is the answer to a request whose call is a task.
func taskResult(t *ledger.Task) json.RawMessage {
	return append(t.AppendMembers([]byte(`{"resultType":"task",`)), '}')
}

// endTask ends a task with how its call has ended.
func (s *Server) endTask(ctx context.Context, rq *Request, result json.RawMessage, err error) {
	if f, ok := errors.AsType[*core.Failure](err); ok {
		result, err = f.Result(), nil
	}
	switch cause := context.Cause(ctx); {
	case err != nil && errors.Is(cause, tabtransport.ErrLeft): // another process takes over
	case err != nil && errors.Is(cause, ledger.ErrCancelled): // the task has ended
		rq.call.End(nil, nil)
		rq.call.Taken()
	case err != nil:
		rq.call.EndTask(nil, s.rpcError(rq, err).Append(nil))
	default:
		rq.call.EndTask(result, nil)
	}
}

// mayBeTask reports whether the call is a task, which is to ask its client. If it is none, its request ends
// with the question, and it becomes none.
func (rq *Request) mayBeTask() bool { return rq.waiting != nil && !rq.call.StaysPlain() }

// taskProgress returns what a call reports its progress to: to, which may be nil, and from then on
// that it is a task the task.
func (rq *Request) taskProgress(to func(spec.Progress)) func(spec.Progress) {
	if rq.waiting == nil {
		return to
	}
	return func(p spec.Progress) {
		if rq.call.Says(p.Message) {
			return
		}
		if to != nil {
			to(p)
		}
		if p.Waiting {
			select {
			case rq.waiting <- struct{}{}:
			default:
			}
		}
	}
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
func (s *Server) aboutTask(ctx context.Context, rq *Request) (jsonrpc.Frame, error) {
	if !rq.Modern {
		return noTasks(s, ctx, rq)
	}
	if !rq.takesTasks() {
		return jsonrpc.Frame{}, missingCapabilities("this needs", "extensions."+ExtTasks)
	}
	id, e := rq.required("taskId", "id of a task")
	if e != nil {
		return jsonrpc.Frame{}, e
	}
	all, client, known := s.hub.Ledger(), rq.ses.Identity.Principal.ID, false
	out := json.RawMessage(`{"resultType":"complete"}`)
	switch rq.Method {
	case "tasks/get":
		var task ledger.Task
		if task, known = all.Task(client, id); known {
			out = append(task.AppendMembers([]byte(`{"resultType":"complete",`)), '}')
		}
	case "tasks/update":
		raw, e := rq.object(extResponses)
		if e == nil && raw == nil {
			e = jsonrpc.InvalidParams(extResponses + " is required: the answers to what the task asks for")
		}
		if e != nil {
			return jsonrpc.Frame{}, e
		}
		known = all.AnswerTask(client, id, maps.Collect(rawjson.Members(raw)))
	default:
		known = all.CancelTask(client, id)
	}
	if !known {
		return jsonrpc.Frame{}, jsonrpc.InvalidParams("there is no such task of this client; it may be over for too long")
	}
	return s.result(rq, out, ""), nil
}

// taskIDs returns which of the tasks that a subscriptions/listen names are its client's.
func (s *Server) taskIDs(rq *Request, filter json.RawMessage) (ids []string, e *jsonrpc.Error) {
	raw := rawjson.Get(filter, "taskIds")
	switch {
	case raw == nil || string(raw) == "null":
		return nil, nil
	case !rq.takesTasks():
		return nil, missingCapabilities("this needs", "extensions."+ExtTasks)
	}
	var all []string
	if json.Unmarshal(raw, &all) != nil || len(all) > ledger.MaxTasks {
		return nil, jsonrpc.InvalidParams(fmt.Sprintf("taskIds must be at most %d strings", ledger.MaxTasks))
	}
	for _, id := range all {
		if _, ok := s.hub.Ledger().Task(rq.ses.Identity.Principal.ID, id); ok && !slices.Contains(ids, id) {
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
		ses.changed(lists.Change{Tasks: []string{id}})
	}
}

// taskFrames appends the notices of tasks; one that is gone by now has none.
func (ses *Session) taskFrames(fs []jsonrpc.Frame, ids []string, meta string) []jsonrpc.Frame {
	for _, id := range ids {
		if task, ok := ses.srv.hub.Ledger().Task(ses.Identity.Principal.ID, id); ok {
			fs = append(fs, jsonrpc.Notification("notifications/tasks", string(task.AppendMembers([]byte(meta+",")))))
		}
	}
	return fs
}
