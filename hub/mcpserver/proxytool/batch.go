package proxytool

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// batchWorkers is how many operations of a batch run at a time.
const batchWorkers = 8

// event is what a batch's workers tell: progress, or the end of an operation.
type event struct {
	at       int
	progress spec.Progress
	ended    bool
	result   *result // of an ended one
}

// batch serves action batch: the operations run side by side, and their blocks
// follow each other in order. Each operation's are led by one that says whose they
// are and how it ended, and carry the annotation proxyIndex. The result's own _meta
// holds what belongs to an operation's result as a whole. It is an error only if all
// failed; nil if ctx ended.
func (c *caller) batch(ctx context.Context, batch *operation) *result {
	ops := batch.operations
	next := make(chan int)
	events := make(chan event)
	var workers sync.WaitGroup
	for range min(batchWorkers, len(ops)) {
		workers.Go(func() {
			for at := range next {
				one := &caller{tool: c.tool, client: c.client}
				if c.progress != nil {
					one.progress = func(p spec.Progress) { events <- event{at: at, progress: p} }
				}
				events <- event{at: at, ended: true, result: one.run(ctx, ops[at], at)}
			}
		})
	}
	go func() {
		for at := range ops {
			next <- at
		}
		close(next)
		workers.Wait()
		close(events)
	}()

	results := make([]*result, len(ops))
	soFar := sum{done: make([]float64, len(ops))}
	for e := range events {
		if e.ended {
			results[e.at] = e.result
		}
		if soFar.add(e) && c.progress != nil {
			c.progress(spec.Progress{Progress: soFar.total, Total: new(float64(len(ops))), Message: e.progress.Message})
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return assemble(ops, results)
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
		part = min(p.Progress / *p.Total, 1)
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
		outcome := "ok"
		if r.isError {
			outcome = "failed"
		} else {
			all.isError = false
		}
		all.addText(fmt.Sprintf("Operation %d of %d, %s: %s", at+1, len(ops), describe(ops[at]), outcome), n)
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
		for _, m := range r.rest {
			rest = rawjson.AppendMember(rest, m.key, m.value)
		}
		rest = append(rest, '}')
	}
	all.rest = []member{{"_meta", merge(nil, []member{{metaKey, append(rest, `]}`...)}})}}
	return all
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
