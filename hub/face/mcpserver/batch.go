package mcpserver

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// maxBatch is how many messages a batch may hold.
const maxBatch = 100

// batch reads a JSON-RPC batch, which only revision 2025-03-26 has, notes its
// requests as under way and returns what answers it: all its requests at once, with
// one frame when the last is done. http is the context of the HTTP request that it came with,
// nil if it came on a stream.
func (s *Server) batch(ses *session, out *outbox, http context.Context, b []byte) (answer func() (frame, bool)) {
	refuse := func(e *rpcError) func() (frame, bool) {
		return func() (frame, bool) { return errorFrame(nil, e), true }
	}
	var items []json.RawMessage
	err := rawjson.Array(b, spec.MaxDepth, func(v json.RawMessage) error {
		items = append(items, v)
		return nil
	})
	version := ses.agreedVersion()
	switch {
	case err != nil:
		return refuse(parseError(err))
	case version != mcp.ProtocolVersion20250326:
		return refuse(invalidRequest("only protocol version 2025-03-26 has batches: send one message at a time"))
	case len(items) == 0 || len(items) > maxBatch:
		return refuse(invalidRequest("a batch holds 1 to 100 messages"))
	}
	var answers []frame // those that are there already; a place is kept for the others
	var requests []*request
	for _, item := range items {
		m, e := parseMessage(item)
		if e == nil && m.method == "initialize" {
			e = invalidRequest("initialize must not be part of a batch")
		}
		if e != nil {
			answers = append(answers, errorFrame(m.id, e))
		} else if rq := s.accept(ses, out, m); rq != nil {
			rq.http = http
			rq.begin()
			requests = append(requests, rq)
		}
	}
	return func() (frame, bool) {
		got := make([]*frame, len(requests))
		var kept askers
		var wg sync.WaitGroup
		for i, rq := range requests {
			wg.Go(func() {
				if f, _, ok := s.answer(ses.ctx, rq); ok {
					got[i] = &f
				}
			})
		}
		wg.Wait()
		for _, f := range got {
			if f != nil {
				if f.of != nil {
					kept = append(kept, f.of)
				}
				answers = append(answers, *f)
			}
		}
		if len(answers) == 0 {
			return frame{}, false
		}
		joined := []byte{'['}
		for i := range answers {
			if i > 0 {
				joined = append(joined, ',')
			}
			joined = append(joined, answers[i].bytes()...)
		}
		return frame{head: append(joined, ']'), of: kept}, true
	}
}

// askers are all whom one frame answers.
type askers []asker

func (all askers) Taken() {
	for _, a := range all {
		a.Taken()
	}
}

func (all askers) Lost() {
	for _, a := range all {
		a.Lost()
	}
}
