package methods

import (
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// maxBatch is how many messages a batch may hold.
const maxBatch = 100

// Batch reads a JSON-RPC batch, which only revision 2025-03-26 has, notes its
// requests as under way and returns what answers it: all its requests at once, with
// one frame when the last is done. gone is closed when the
// HTTP request ends that it came with; nil: it came on a stream.
func (ses *Session) Batch(out *jsonrpc.Outbox, gone <-chan struct{}, b []byte) (answer func() (jsonrpc.Frame, bool)) {
	refuse := func(e *jsonrpc.Error) func() (jsonrpc.Frame, bool) {
		return func() (jsonrpc.Frame, bool) { return jsonrpc.Failure(nil, e), true }
	}
	var items []json.RawMessage
	err := rawjson.Array(b, spec.MaxDepth, func(v json.RawMessage) error {
		items = append(items, v)
		return nil
	})
	version := ses.AgreedVersion()
	switch {
	case err != nil:
		return refuse(jsonrpc.ParseError(err))
	case version != mcp.ProtocolVersion20250326:
		return refuse(jsonrpc.InvalidRequest("only protocol version 2025-03-26 has batches: send one message at a time"))
	case len(items) == 0 || len(items) > maxBatch:
		return refuse(jsonrpc.InvalidRequest("a batch holds 1 to 100 messages"))
	}
	var answers []jsonrpc.Frame // those that are there already; a place is kept for the others
	var requests []*Request
	for _, item := range items {
		m, e := jsonrpc.Parse(item)
		if e == nil && m.Method == "initialize" {
			e = jsonrpc.InvalidRequest("initialize must not be part of a batch")
		}
		if e != nil {
			answers = append(answers, jsonrpc.Failure(m.ID, e))
		} else if rq := ses.Accept(out, m); rq != nil {
			rq.Gone = gone
			rq.Begin()
			requests = append(requests, rq)
		}
	}
	return func() (jsonrpc.Frame, bool) {
		got := make([]*jsonrpc.Frame, len(requests))
		var to receivers
		var wg sync.WaitGroup
		for i, rq := range requests {
			wg.Go(func() {
				if f, ok := rq.Answer(); ok {
					got[i] = &f
				}
			})
		}
		wg.Wait()
		for _, f := range got {
			if f != nil {
				if f.To != nil {
					to = append(to, f.To)
				}
				answers = append(answers, *f)
			}
		}
		if len(answers) == 0 {
			return jsonrpc.Frame{}, false
		}
		joined := []byte{'['}
		for i := range answers {
			if i > 0 {
				joined = append(joined, ',')
			}
			joined = append(joined, answers[i].Bytes()...)
		}
		return jsonrpc.Frame{Head: append(joined, ']'), To: to}, true
	}
}

// receivers are the receivers of all answers in one frame.
type receivers []jsonrpc.Receiver

func (all receivers) Taken() {
	for _, a := range all {
		a.Taken()
	}
}

func (all receivers) Lost() {
	for _, a := range all {
		a.Lost()
	}
}
