package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"tabhub/hub"
	"tabhub/hub/auth"
	"tabhub/hub/consent"
	"tabhub/hub/item"
	"tabhub/hub/outcome"
	"tabhub/hub/record"
	"tabhub/hub/telemetry"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// The keys of a result's _meta that say which call it is the answer to, and that this call was
// made before, by a request that has not got the answer.
const (
	metaCall     = outcome.MetaKey
	metaRepeated = "tabhub/repeated"
)

// repeatedText is what a model reads below an answer that is given for metaRepeated.
const repeatedText = "This is the answer to the same call made before, which had not reached the client. The call was not made again; the next one is."

// maxTool is how much of a name or URI is kept, in bytes.
const maxTool = 256

// errStopped is how a call ends that went on without its client, which has not asked for it
// again.
var errStopped = &hub.Failure{Code: spec.FailNotConnected, Message: fmt.Sprintf("the connection to the client broke while the call was under way, and the page was told to stop %s later; the call may have taken effect", outcome.DetachFor)}

// keep has what becomes of rq kept, which has begun, if it is a call. It reports whether the
// same was asked for before and the answer has not reached the client: then rq is for that.
func (s *Server) keep(rq *request) (again bool) {
	member := "name"
	switch rq.method {
	case "resources/read":
		member = "uri"
	case "tools/call", "prompts/get":
	default:
		return false
	}
	what, _ := rq.text(member)
	if what == "" {
		return false // it says so
	}
	if len(what) > maxTool {
		what = strings.ToValidUTF8(what[:maxTool], "") + "…"
	}
	a := outcome.Ask{Session: rq.session(), Tool: what, Began: time.Now(), By: rq, Again: rq.method == "tools/call"}
	if rq.ses.transport == telemetry.SSE {
		a.Said, a.Heir = rq.clientName(), true
	}
	rq.call, rq.turn, rq.joined = s.hub.Outcomes().Begin(a)
	rq.ses.mu.Lock()
	rq.under.asks = rq
	rq.ses.mu.Unlock()
	return rq.joined
}

// session names the session of a request, as far as its calls go.
func (rq *request) session() outcome.Session {
	id := rq.ses.id
	if id == "" {
		id = rq.agent(rq.clientName())
	}
	return rq.ses.identity.session(id)
}

// session names a session of the client, as far as its calls go.
func (of *identity) session(id string) outcome.Session {
	return outcome.Session{Client: consent.Party(of.who, of.bound), ID: id}
}

// askAgain answers a request with the answer of the call that it asks for again.
func (s *Server) askAgain(ctx context.Context, rq *request) (frame, error) {
	select {
	case <-rq.call.Done():
	case <-ctx.Done():
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, errCancelled):
			rq.call.Cancel(rq.turn)
			return frame{}, errSilent
		case errors.Is(cause, errGone):
			return frame{}, errSilent
		}
		return s.cutShort(ctx, rq)
	}
	e := rq.caller(nil, nil).Entry(record.Repeated, time.Now())
	e.Call, e.Outcome = rq.call.ID(), "ok"
	if e.Tool = rq.name("name"); e.Tool == "" {
		e.Tool = rq.name("uri")
	}
	s.hub.Record(e)
	result, fault := rq.call.Answer()
	switch {
	case fault != nil:
		return frame{}, faultOf(fault)
	case result == nil:
		result = (&hub.Failure{Code: spec.FailNotConnected, Message: "the call was sent to the page before, and its answer is not kept; it may have taken effect"}).Result()
	}
	if rawjson.Get(result, "content") != nil { // a page that asks back, and a task, have none
		result = item.AddText(result, repeatedText)
	}
	return s.result(rq, result, ""), nil
}

// cutShort answers what the end of the hub, or of the client's credential, has ended.
func (s *Server) cutShort(ctx context.Context, rq *request) (frame, error) {
	why := ErrClosing
	if errors.Is(context.Cause(ctx), auth.ErrEnded) {
		why = auth.ErrEnded
	}
	return s.refuse(rq, &hub.Failure{Code: spec.FailNotConnected, Message: why.Error() + "; the call may have taken effect"})
}

// end ends what is kept of a request; e is the error that it is answered with, nil if none. It
// returns that as the client gets it.
func (rq *request) end(e *rpcError) *rpcError {
	if rq.call == nil {
		return e
	}
	var fault json.RawMessage
	if e != nil {
		told := *e
		told.data = withCall(e.data, rq.call.ID())
		e, fault = &told, told.append(nil)
	}
	if !rq.joined {
		rq.call.End(rq.raw, fault)
	}
	rq.raw = nil // which the call may forget
	return e
}

// endSilent is end for a request that is not answered.
func (rq *request) endSilent() {
	rq.end(nil)
	if rq.ctx != nil && errors.Is(context.Cause(rq.ctx), errGone) {
		rq.lost()
	} else {
		rq.delivered() // nobody wants it
	}
}

// owns returns a frame that answers rq.
func (rq *request) owns(f frame) frame {
	if rq.call != nil {
		f.of = rq
	}
	return f
}

// delivered implements asker.
func (rq *request) delivered() { rq.call.Delivered(rq.turn) }

// lost implements asker.
func (rq *request) lost() { rq.call.Lost(rq.turn, rq) }

// abandon says that the client is gone, and may come back to ask again.
func (rq *request) abandon() {
	rq.call.Break(rq.turn)
	if rq.joined {
		rq.under.cancel(errGone)
	}
}

// Key implements outcome.Asker. What a client answers to a page that asks back makes another
// request.
func (rq *request) Key() (key outcome.Key) {
	h := sha256.New()
	name, _ := rq.text("name")
	for _, part := range [][]byte{[]byte(name), orEmpty(rq.get("arguments")), rq.get(extResponses), rq.get(extState)} {
		part = rawjson.Compact(nil, part)
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write(part)
	}
	h.Sum(key[:0])
	return key
}

// Gone implements outcome.Asker.
func (rq *request) Gone() bool {
	if rq.http != nil {
		return rq.http.Err() != nil
	}
	return rq.ses.gone.Load()
}

// Stop implements outcome.Asker.
func (rq *request) Stop(gone bool) {
	if gone {
		rq.under.cancel(errGone)
	} else {
		rq.under.cancel(errCancelled)
	}
}

// withCall returns the data of an error with the call's id, unless the data is no object.
func withCall(data json.RawMessage, id string) json.RawMessage {
	if len(data) > 0 && data[0] != '{' {
		return data
	}
	out := rawjson.AppendStringMember([]byte{'{'}, "call", id)
	for key, v := range rawjson.Members(data) {
		if key != "call" {
			out = rawjson.AppendMember(out, key, v)
		}
	}
	return append(out, '}')
}

// appendCall appends what _meta says of the call that rq is, two members at most, and a comma.
func (rq *request) appendCall(out []byte) []byte {
	id := rq.call.ID()
	out = append(append(append(out, `"`+metaCall+`":"`...), id...), `",`...)
	if rq.joined {
		out = append(append(append(out, `"`+metaRepeated+`":"`...), id...), `",`...)
	}
	return out
}
