package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
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
	in, e := s.input(rq, name)
	if e != nil {
		return nil, e
	}
	for n := 1; ; n++ {
		by := rq.caller(in.ext, progress)
		by.Elicit, by.Reply = rq.elicit(), in.reply
		by.Round, by.After, by.AskedBy = rand.Text(), in.after, &in.askedBy
		r, err := ask(by)
		if back, ok := errors.AsType[*consent.AskBack](err); ok {
			return s.askOwner(rq, name, back.Question, in, by.Round), nil
		}
		if err != nil || !builtin.AsksBack(r) {
			return r, err
		}
		switch missing := lacks(rq.capabilities(), r); {
		case len(missing) > 0 && rq.modern:
			return nil, missingCapabilities(missing)
		case len(missing) > 0:
			return nil, toolError("the page asks back, for what this client does not offer: %s", strings.Join(missing, ", "))
		case n == maxRounds && (!rq.modern || rq.task != nil):
			return nil, toolError("the page has asked back %d times in this call", n)
		case rq.modern:
			run := rq.task.asks()
			if run == nil {
				return s.sealState(r, rq, name, carried{Round: by.Round, AskedBy: in.askedBy}), nil
			}
			if in, err = askTask(ctx, run, r, in, by.Round); err != nil {
				return nil, err
			}
			continue
		}
		ext, err := s.answers(ctx, rq, r, in.ext)
		if err != nil {
			return nil, err
		}
		in = input{ext: ext, after: by.Round, askedBy: in.askedBy}
	}
}

// input is what a request brings beside what it asks for.
type input struct {
	ext     spec.Extensions // for the page: what the client can be asked, and what it has answered
	reply   *consent.Reply  // to the hub's own question
	after   string          // the earlier round of the call
	askedBy consent.Frame   // in that round; after a call, in this one
}

func (in *input) set(key string, value json.RawMessage) {
	if in.ext == nil {
		in.ext = spec.Extensions{}
	}
	in.ext[key] = value
}

func (s *Server) input(rq *request, name string) (in input, _ *rpcError) {
	asks := rq.modern || rq.out != nil // an older client is asked on the stream of the answer
	if c := rq.capabilities(); asks && len(c) > len("{}") {
		in.set(extCapabilities, c)
	}
	if !rq.modern {
		return in, nil
	}
	responses, e := rq.object(extResponses)
	if e != nil {
		return in, e
	}
	var c carried
	if raw := rq.get(extState); raw != nil {
		state, _ := rawjson.String(raw)
		var ok bool
		if c, ok = s.open(state, rq, name); !ok {
			return in, invalidParams(extState + " is not what this server gave for this request, or is too old: start again without it")
		}
	}
	in.after, in.askedBy = c.Round, c.AskedBy
	if responses != nil {
		in.reply, responses = takeReply(responses, c.Question)
	}
	if c.Question != "" {
		responses = c.Answers // the client has had no other question this time
	}
	if responses != nil {
		in.set(extResponses, responses)
	}
	if c.State != nil {
		in.set(extState, c.State)
	}
	return in, nil
}

// sealState returns a result with which a page asks back with the state that it gives, and
// what c carries beside, sealed. One that asks for nothing stays as it is.
func (s *Server) sealState(r json.RawMessage, rq *request, name string, c carried) json.RawMessage {
	if rawjson.Get(r, "inputRequests") == nil && rawjson.Get(r, extState) == nil {
		return r
	}
	out := []byte{'{'}
	for key, value := range rawjson.Members(r) {
		if key == extState {
			c.State = value
		} else {
			out = rawjson.AppendMember(out, key, value)
		}
	}
	return append(rawjson.AppendStringMember(out, extState, s.seal(c, rq, name)), '}')
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
	return nextRound(ext, r, append(responses, '}')), nil
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
