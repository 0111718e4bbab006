package methods

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strconv"

	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// askClient asks the client, while its call is in flight, what requests, the inputRequests of a result,
// ask for, and returns its answers: in the call's task, or by requests to an older client.
func (rq *Request) askClient(ctx context.Context, requests json.RawMessage) (answers json.RawMessage, err error) {
	switch {
	case rq.Modern:
		return rq.call.AskClient(ctx, requests)
	case rq.out == nil:
		return nil, toolError("the page asks back, which needs a client that accepts text/event-stream")
	}
	ctx, cancel := context.WithTimeout(ctx, spec.CallTimeoutMax)
	defer cancel()
	answers = json.RawMessage{'{'}
	for key, q := range rawjson.Members(requests) {
		method, _ := rawjson.String(rawjson.Get(q, "method"))
		params := rawjson.Get(q, "params")
		if method == askPerson && asksURL(params) && rawjson.Get(params, "elicitationId") == nil { // which 2026-07-28 has no more
			params = append(rawjson.AppendStringMember(slices.Clone(params[:len(params)-1]), "elicitationId", rand.Text()), '}')
		}
		answer, err := rq.ses.ask(ctx, rq.out, method, params)
		if err != nil {
			return nil, err
		}
		answers = rawjson.AppendMember(answers, key, answer)
	}
	return append(answers, '}'), nil
}

// ask sends a request of the server to the client and waits for the answer, a raw
// result. The request goes where the answer to the client's own request goes.
func (ses *Session) ask(ctx context.Context, out *jsonrpc.Outbox, method string, params json.RawMessage) (json.RawMessage, error) {
	answer := make(chan jsonrpc.Message, 1)
	ses.mu.Lock()
	ses.lastAsked++
	id := `"` + ses.srv.AskPrefix + strconv.Itoa(ses.lastAsked) + `"`
	key := jsonrpc.IDKey(json.RawMessage(id))
	if ses.asked == nil {
		ses.asked = map[string]chan jsonrpc.Message{}
	}
	ses.asked[key] = answer
	ses.mu.Unlock()
	defer func() {
		ses.mu.Lock()
		defer ses.mu.Unlock()
		delete(ses.asked, key)
	}()
	out.Put(jsonrpc.Frame{Head: []byte(jsonrpc.FrameStart + id + `,"method":"` + method + `","params":`), Body: jsonrpc.OneLine(jsonrpc.OrEmpty(params)), Tail: jsonrpc.FrameEnd})
	select {
	case m := <-answer:
		if m.Result == nil {
			text, _ := rawjson.String(rawjson.Get(jsonrpc.OrEmpty(m.Fault), "message"))
			return nil, toolError("the page asked back (%s) and the client refused: %s", method, text)
		}
		return m.Result, nil
	case <-ctx.Done():
		out.Post(jsonrpc.Notification("notifications/cancelled", `"requestId":`+id+`,"reason":"the call has ended"`))
		return nil, ctx.Err()
	}
}

// answered passes the client's answer to the goroutine that waits for it.
func (ses *Session) answered(m jsonrpc.Message) {
	if m.ID == nil {
		return
	}
	ses.mu.Lock()
	answer := ses.asked[jsonrpc.IDKey(m.ID)]
	delete(ses.asked, jsonrpc.IDKey(m.ID))
	ses.mu.Unlock()
	if answer != nil {
		answer <- m
	}
}
