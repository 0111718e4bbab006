package methods

import (
	"tabhub/hub/face/mcpserver/jsonrpc"
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
		ses.Leaves()
	case m.Method == "notifications/initialized", m.Method == "initialized":
		ses.initialized()
	}
	return nil
}

// FarewellMethod is a notification that a bridge sends as its last line when its client goes, so
// that the session does not wait for another connection.
const FarewellMethod = "tabhub/farewell"
