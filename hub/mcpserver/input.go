package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/consent"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// A page may answer that it needs something of the person or the model at the
// client's end first: a result of type input_required, as revision 2026-07-28 has
// it. Clients of that revision get it, and the page gets their answers with the
// call that follows. Older ones are asked by requests of the server, in the same
// call.

// maxRounds is how often a page may ask back within one call of an older client.
const maxRounds = 8

// What pages may ask for, and the capability that a client must have declared.
var inputs = map[string]string{
	"elicitation/create":     "elicitation",
	"sampling/createMessage": "sampling",
	"roots/list":             "roots",
}

// The members of the extensions in which a page finds what it needs for asking.
const (
	extResponses    = "inputResponses"
	extState        = "requestState"
	extCapabilities = "clientCapabilities"
)

// withInput has ask call a page on behalf of rq and sees to it that what the page
// needs of the client gets to it. name is what the request asks for; progress is where the
// call's goes, nil if nowhere.
func (s *Server) withInput(ctx context.Context, rq *request, name string, progress func(spec.Progress), ask func(*consent.Caller) (json.RawMessage, error)) (json.RawMessage, error) {
	ext, e := s.input(rq, name)
	if e != nil {
		return nil, e
	}
	for round := 1; ; round++ {
		r, err := ask(rq.caller(ext, progress))
		if err != nil || !builtin.AsksBack(r) {
			return r, err
		}
		switch missing := lacks(rq.capabilities(), r); {
		case len(missing) > 0 && rq.modern:
			return nil, missingCapabilities(missing)
		case len(missing) > 0:
			return nil, toolError("the page asks back, for what this client does not offer: %s", strings.Join(missing, ", "))
		case rq.modern:
			return s.sealState(r, rq, name), nil
		case round == maxRounds:
			return nil, toolError("the page has asked back %d times in this call", round)
		}
		if ext, err = s.answers(ctx, rq, r, ext); err != nil {
			return nil, err
		}
	}
}

// input returns what a page is told beside the arguments: what the client can be
// asked, and what it has answered.
func (s *Server) input(rq *request, name string) (spec.Extensions, *rpcError) {
	var ext spec.Extensions
	set := func(key string, value json.RawMessage) {
		if ext == nil {
			ext = spec.Extensions{}
		}
		ext[key] = value
	}
	asks := rq.modern || rq.out != nil // an older client is asked on the stream of the answer
	if c := rq.capabilities(); asks && len(c) > len("{}") {
		set(extCapabilities, c)
	}
	if !rq.modern {
		return ext, nil
	}
	responses, e := rq.object(extResponses)
	if e != nil {
		return nil, e
	}
	if responses != nil {
		set(extResponses, responses)
	}
	if sealed := rq.get(extState); sealed != nil {
		state, ok := s.openState(sealed, rq, name)
		if !ok {
			return nil, invalidParams(extState + " is not what this server gave for this request, or is too old: start again without it")
		}
		set(extState, rawjson.AppendString(nil, state))
	}
	return ext, nil
}

// lacks returns the capabilities that a client would need for what r asks of it
// and has not.
func lacks(capabilities, r json.RawMessage) (missing []string) {
	_ = rawjson.Object(orEmpty(rawjson.Get(r, "inputRequests")), spec.MaxDepth, func(_ string, q json.RawMessage) error {
		method, _ := rawjson.String(rawjson.Get(q, "method"))
		if c, ok := inputs[method]; !ok {
			missing = append(missing, method)
		} else if rawjson.Get(orEmpty(capabilities), c) == nil {
			missing = append(missing, c)
		}
		return nil
	})
	return missing
}

// answers asks an older client what r asks for and returns the extensions for the
// next round.
func (s *Server) answers(ctx context.Context, rq *request, r json.RawMessage, ext spec.Extensions) (spec.Extensions, error) {
	if rq.out == nil {
		return nil, toolError("the page asks back, which needs a client that accepts text/event-stream")
	}
	ctx, cancel := context.WithTimeout(ctx, spec.CallTimeoutMax)
	defer cancel()
	responses := []byte{'{'}
	err := rawjson.Object(orEmpty(rawjson.Get(r, "inputRequests")), spec.MaxDepth, func(key string, q json.RawMessage) error {
		method, _ := rawjson.String(rawjson.Get(q, "method"))
		answer, err := rq.ses.ask(ctx, rq.out, method, rawjson.Get(q, "params"))
		if err != nil {
			return err
		}
		responses = rawjson.AppendMember(responses, key, answer)
		return nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		err = &hub.Failure{Code: spec.FailToolTimeout, Message: fmt.Sprintf("the page asked back and nobody answered within %v", spec.CallTimeoutMax)}
	}
	if err != nil {
		return nil, err
	}
	next := spec.Extensions{}
	maps.Copy(next, ext)
	next[extResponses] = append(responses, '}')
	delete(next, extState)
	if state := rawjson.Get(r, extState); state != nil {
		next[extState] = state
	}
	return next, nil
}

// ask sends a request of the server to the client and waits for the answer, a raw
// result. The request goes where the answer to the client's own request goes.
func (ses *session) ask(ctx context.Context, out *outbox, method string, params json.RawMessage) (json.RawMessage, error) {
	answer := make(chan message, 1)
	ses.mu.Lock()
	ses.lastAsked++
	id := `"` + ses.srv.askPrefix + strconv.Itoa(ses.lastAsked) + `"`
	key := idKey(json.RawMessage(id))
	if ses.asked == nil {
		ses.asked = map[string]chan message{}
	}
	ses.asked[key] = answer
	ses.mu.Unlock()
	defer func() {
		ses.mu.Lock()
		defer ses.mu.Unlock()
		delete(ses.asked, key)
	}()
	out.put(frame{head: []byte(frameStart + id + `,"method":"` + method + `","params":`), body: oneLine(orEmpty(params)), tail: frameEnd})
	select {
	case m := <-answer:
		if m.result == nil {
			text, _ := rawjson.String(rawjson.Get(orEmpty(m.fault), "message"))
			return nil, toolError("the page asked back (%s) and the client refused: %s", method, text)
		}
		return m.result, nil
	case <-ctx.Done():
		out.post(noticeFrame("notifications/cancelled", `"requestId":`+id+`,"reason":"the call has ended"`))
		return nil, ctx.Err()
	}
}

// answered hands the client's answer to who has asked.
func (ses *session) answered(m message) {
	if m.id == nil {
		return
	}
	ses.mu.Lock()
	answer := ses.asked[idKey(m.id)]
	delete(ses.asked, idKey(m.id))
	ses.mu.Unlock()
	if answer != nil {
		answer <- m
	}
}
