package proxytool

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"tabhub/hub/trust/consent"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// batchWorkers is how many operations of a batch run at a time, if they only read.
const batchWorkers = 8

// event is what a batch's operations tell: progress, or the end of an operation.
type event struct {
	at       int
	progress spec.Progress
	ended    bool
	result   *result // of an ended one
}

// batch serves action batch. The operations run in order; neighbours that only read run
// side by side. Their blocks follow each other in order: each operation's are led by one
// that says whose they are and how it ended, and carry the annotation proxyIndex. The
// result's own _meta holds what belongs to an operation's result as a whole. It is an
// error only if all failed. The error is ctx's cause.
func (c *caller) batch(ctx context.Context, batch *operation) (*result, error) {
	ops := batch.operations
	events := make(chan event)
	run := func(at int, op *operation, err error) {
		one, by := *c, *c.by
		// A page cannot ask back in a batch, so it does not learn what the client can be asked. Nor
		// is the client asked on the owner's behalf: a request that ended with a question would be sent
		// again, and operations that have run would run once more.
		by.Extensions, by.Elicit, by.AskedBy = nil, nil, nil
		by.Request = by.Request.Part()
		by.Progress = func(p spec.Progress) { events <- event{at: at, progress: p} }
		one.by = &by
		r, _ := one.run(ctx, op, err, at) // none if ctx has ended
		if r != nil && op.action == actionCall {
			r.call = by.Request.ID()
		}
		events <- event{at: at, ended: true, result: r}
	}
	go func() {
		defer close(events)
		var running sync.WaitGroup
		defer running.Wait()
		slots := make(chan struct{}, batchWorkers)
		for at := range ops {
			op, err := parse(ops[at])
			alone := err == nil && !c.tool.reads(c.by, op)
			if alone {
				running.Wait()
			}
			slots <- struct{}{}
			if ctx.Err() != nil {
				return
			}
			running.Go(func() {
				run(at, op, err)
				<-slots
			})
			if alone {
				running.Wait()
			}
		}
	}()

	results := make([]*result, len(ops))
	soFar := sum{done: make([]float64, len(ops))}
	for e := range events {
		grew := soFar.add(e)
		p := spec.Progress{Progress: soFar.total, Total: new(float64(len(ops))), Message: e.progress.Message}
		if e.ended && e.result != nil { // not cancelled
			results[e.at] = e.result
			p.Message = heading(ops, e.at, e.result)
			if batch.partial {
				p.Meta = e.result.partial(e.at)
			}
		}
		if grew {
			c.by.Report(p)
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return assemble(ops, results), nil
}

// reads reports whether an operation changes nothing.
func (t *proxy) reads(by *consent.Caller, op *operation) bool {
	if op.action != actionCall || op.kind != spec.KindTool {
		return true
	}
	it, err := t.find(by, op)
	return err == nil && it.OnlyReads
}

// sum is the progress of a batch: how many of its operations have ended, those
// under way counted by the part that they say is done.
type sum struct {
	done  []float64
	total float64
}

// add counts an event and reports whether the sum grew.
func (s *sum) add(e event) bool {
	part := 1.0
	if !e.ended {
		p := e.progress
		if p.Total == nil || !(*p.Total > 0 && p.Progress > 0) {
			return false
		}
		part = min(p.Progress / *p.Total, 0.99) // so that its end is progress, too
	}
	before := s.total
	if part > s.done[e.at] {
		s.total += part - s.done[e.at]
		s.done[e.at] = part
	}
	return s.total > before
}

// assemble joins the results of a batch.
func assemble(ops []json.RawMessage, results []*result) *result {
	all := &result{isError: true}
	rest := []byte(`{"proxyAction":"batch","results":[`)
	for at, r := range results {
		n := &annotations{}
		n.text("proxyAction", actionBatch)
		n.number("proxyIndex", at)
		if !r.isError {
			all.isError = false
		}
		all.addText(heading(ops, at, r), n)
		if r.count > 0 {
			all.next()
			all.blocks = append(all.blocks, r.blocks...)
			all.count += r.count - 1
		}

		if at > 0 {
			rest = append(rest, ',')
		}
		rest = append(rest, '{')
		rest = rawjson.AppendMember(rest, "proxyIndex", strconv.AppendInt(nil, int64(at), 10))
		rest = rawjson.AppendMember(rest, "isError", strconv.AppendBool(nil, r.isError))
		rest = rawjson.AppendMember(rest, "blocks", strconv.AppendInt(nil, int64(r.count), 10))
		if r.call != "" {
			rest = rawjson.AppendStringMember(rest, "call", r.call)
		}
		for _, m := range r.rest {
			rest = rawjson.AppendMember(rest, m.key, m.value)
		}
		rest = append(rest, '}')
	}
	all.rest = []member{{"_meta", merge(nil, []member{{metaKey, append(rest, `]}`...)}})}}
	return all
}

// heading says how an operation of a batch ended.
func heading(ops []json.RawMessage, at int, r *result) string {
	outcome := "ok"
	if r.isError {
		outcome = "failed"
	}
	return fmt.Sprintf("Operation %d of %d, %s: %s", at+1, len(ops), describe(ops[at]), outcome)
}

// describe names an operation of a batch in a few words.
func describe(raw json.RawMessage) string {
	if raw[0] != '{' {
		return "not an object"
	}
	text := ""
	for _, name := range []string{"action", "type", "path"} {
		if s, ok := rawjson.String(rawjson.Get(raw, name)); ok {
			text += " " + shorten(s)
		}
	}
	if text == "" {
		return "without action"
	}
	return text[1:]
}
