package methods

import (
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Receive takes a message, or a batch, that has come over the session's connection. The answer
// goes to out; if inline, what need not wait for a page is answered before receive returns. The error
// is one that the message itself is answered with.
func (ses *Session) Receive(out *jsonrpc.Outbox, b []byte, inline bool) (jsonrpc.Message, *jsonrpc.Error) {
	if jsonrpc.FirstByte(b) == '[' {
		if ses.calls.Enter() {
			ses.spawn(out, ses.Batch(out, nil, b))
		}
		return jsonrpc.Message{}, nil
	}
	m, e := jsonrpc.Parse(b)
	if e != nil {
		return m, e
	}
	rq := ses.Accept(out, m)
	if rq == nil {
		return m, nil
	}
	if rq.Modern && ses.Stream != 0 && !ses.watched { // a client of this era does not say when it begins
		ses.watched = true
		ses.srv.watchSession(ses, rq.sessionInfo(), rq.caller(nil, nil))
	}
	if !ses.calls.Enter() {
		return m, nil // the session is at its end
	}
	rq.Begin() // here and now, so that a cancellation in the next message finds it
	if rq.ctx != nil || !inline {
		ses.spawn(out, rq.Answer)
		return m, nil
	}
	defer ses.calls.Leave()
	if f, ok := rq.Answer(); ok {
		out.Put(f)
	}
	return m, nil
}

// Accept sees to a message that is not to be answered, and returns nil, or returns
// it as a request.
func (ses *Session) Accept(out *jsonrpc.Outbox, m jsonrpc.Message) *Request {
	switch {
	case m.Response:
		ses.answered(m)
	case m.ID != nil:
		return NewRequest(ses, out, m)
	case m.Method == "notifications/cancelled":
		if m.Params != nil {
			ses.cancelRequest(rawjson.Get(m.Params, "requestId"))
		}
	case m.Method == FarewellMethod && ses.Outlives:
		ses.Leave()
	case m.Method == "notifications/initialized", m.Method == "initialized":
		ses.initialized()
	}
	return nil
}

// FarewellMethod is a notification that a bridge sends as its last line when its client goes, so
// that the session does not wait for another connection.
const FarewellMethod = "tabhub/farewell"

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
