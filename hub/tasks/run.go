package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"tabhub/hub/item"
	"tabhub/hub/outcome"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Run is a task in the hands of whoever runs its call. It is safe for concurrent use.
type Run struct {
	book *Book
	of   *entry
}

// ID returns the task's.
func (r *Run) ID() string { return r.of.ID }

// Go says what ends the call from now on, of a task that an earlier process has begun.
func (r *Run) Go(stop context.CancelCauseFunc) {
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	r.of.stop = stop
}

// Says notes what the call does, for people. It is not stored.
func (r *Run) Says(message string) {
	b, e := r.book, r.of
	b.mu.Lock()
	changed := !e.Status.ended() && e.Message != message
	if changed {
		e.Message = message
		e.setLocked(e.Status)
	}
	b.mu.Unlock()
	if changed {
		b.tell(e.ID)
	}
}

// Sending notes how the page, which is about to be sent the call, can be asked for its answer by
// another process, and blocks until that is stored. With an error it must not be sent: the task has
// ended, or another process would take the call for one that was not sent.
func (r *Run) Sending(sent json.RawMessage) error {
	b := r.book
	b.mu.Lock()
	if r.of.Status.ended() {
		b.mu.Unlock()
		return ErrCancelled
	}
	r.of.Sent = sent
	synced := b.keepLocked(r.of)
	b.mu.Unlock()
	return <-synced
}

// Ask has the client asked what requests holds, an object of questions by key, and blocks until it
// has answered all of them: an object by the same keys. The error is ctx's cause.
func (r *Run) Ask(ctx context.Context, requests json.RawMessage) (json.RawMessage, error) {
	b, e := r.book, r.of
	answer := make(chan json.RawMessage, 1)
	b.mu.Lock()
	asks := !e.Status.ended()
	if asks {
		e.round++
		e.asked, e.got, e.answer = map[string]question{}, map[string]json.RawMessage{}, answer
		for key, request := range rawjson.Members(requests) {
			// A client that has answered a key once does not look at it again.
			public := key
			if e.round > 1 {
				public = fmt.Sprintf("%s (%d)", key, e.round)
			}
			e.asked[public] = question{key, request}
		}
		if len(e.asked) == 0 {
			answer <- json.RawMessage("{}")
		} else {
			e.Inputs = e.inputs()
			e.setLocked(InputRequired)
		}
	}
	b.mu.Unlock()
	if asks {
		b.tell(e.ID)
	}
	select {
	case got := <-answer:
		return got, nil
	case <-ctx.Done():
		r.withdraw(answer)
		return nil, context.Cause(ctx)
	}
}

// withdraw takes back the questions of a round that nobody waits for any more.
func (r *Run) withdraw(round chan json.RawMessage) {
	b, e := r.book, r.of
	b.mu.Lock()
	open := e.Status == InputRequired && e.answer == round
	if open {
		e.asked, e.Inputs = nil, nil
		e.setLocked(Working)
	}
	b.mu.Unlock()
	if open {
		b.tell(e.ID)
	}
}

// inputs returns what has no answer yet, as Task has it.
func (e *entry) inputs() json.RawMessage {
	keys := make([]string, 0, len(e.asked))
	for key := range e.asked {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	out := []byte{'{'}
	for _, key := range keys {
		out = rawjson.AppendMember(out, key, e.asked[key].request)
	}
	return append(out, '}')
}

// answeredLocked takes in answers, and reports whether one was waited for.
func (e *entry) answeredLocked(responses map[string]json.RawMessage) (changed bool) {
	for key, response := range responses {
		if q, ok := e.asked[key]; ok {
			delete(e.asked, key)
			e.got[q.key] = slices.Clone(response)
			changed = true
		}
	}
	switch {
	case !changed:
	case len(e.asked) > 0:
		e.Inputs = e.inputs()
		e.setLocked(InputRequired)
	default:
		out := []byte{'{'}
		for key, response := range e.got {
			out = rawjson.AppendMember(out, key, response)
		}
		e.Inputs = nil
		e.setLocked(Working)
		e.answer <- append(out, '}')
	}
	return changed
}

// End ends the task with the raw result of its call or, if that is nil, with its JSON-RPC error.
// A result that is too large to be kept gives way to a failure that says so.
func (r *Run) End(result, fault json.RawMessage) {
	if result == nil {
		r.of.fail(r.book, fault)
		return
	}
	if len(result) > MaxResult {
		result = item.FailureResult(spec.FailToolError, fmt.Sprintf("the tool has run, and its answer of %d KiB is larger than the %d KiB that are kept of a task: ask for less at once", len(result)>>10, MaxResult>>10))
	}
	r.book.end(r.of, Completed, complete(result, r.of.CallID), nil)
}

// complete returns a copy of a raw result that says what it is, as each of the revision does, and
// which call it answers, unless that has no id.
func complete(result json.RawMessage, call string) json.RawMessage {
	out := []byte{'{'}
	if rawjson.Get(result, "resultType") == nil {
		out = rawjson.AppendStringMember(out, "resultType", "complete")
	}
	meta := rawjson.Get(result, "_meta")
	if call != "" {
		named := rawjson.AppendStringMember([]byte{'{'}, outcome.MetaKey, call)
		for key, v := range rawjson.Members(meta) {
			if key != outcome.MetaKey {
				named = rawjson.AppendMember(named, key, v)
			}
		}
		meta = append(named, '}')
	}
	if meta != nil {
		out = rawjson.AppendMember(out, "_meta", meta)
	}
	for key, v := range rawjson.Members(result) {
		if key != "_meta" {
			out = rawjson.AppendMember(out, key, v)
		}
	}
	return append(out, '}')
}

// fail ends e with an error, whose words are the task's.
func (e *entry) fail(b *Book, fault json.RawMessage) {
	message, _ := rawjson.String(rawjson.Get(fault, "message"))
	b.mu.Lock()
	if !e.Status.ended() {
		e.Message = message
	}
	b.mu.Unlock()
	b.end(e, Failed, nil, slices.Clone(fault))
}
