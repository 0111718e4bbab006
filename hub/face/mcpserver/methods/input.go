package methods

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tabhub/hub/builtin"
	"tabhub/hub/core"
	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// A page may answer that it needs something of the person or the model at the
// client's end first: a result of type input_required, as revision 2026-07-28 has
// it. Clients of that revision get it, and the page gets their answers with the
// call that follows. Older ones are asked by requests of the server, in the same
// call.

// MaxRounds is how often a page may ask back within one call of an older client.
const MaxRounds = 8

// askPerson is the method by which the client's user is asked.
const askPerson = "elicitation/create"

// The members of the extensions in which a page finds what it needs for asking.
const (
	extResponses    = "inputResponses"
	extState        = "requestState"
	extCapabilities = "clientCapabilities"
)

// withInput has ask call a page on behalf of rq and sees to it that what the page
// needs of the client gets to it. name is what the request asks for; progress is where the
// call's goes, nil if nowhere.
func (s *Server) withInput(ctx context.Context, rq *Request, name string, progress func(spec.Progress), ask func(*consent.Caller) (json.RawMessage, error)) (json.RawMessage, error) {
	in, e := s.input(rq, name)
	if e != nil {
		return nil, e
	}
	for n := 1; ; n++ {
		by := rq.caller(in.ext, progress)
		by.Elicit, by.Reply = rq.elicit(), in.reply
		if by.Round = rq.call.ID(); n > 1 { // a question of another round is another one
			by.Round += "/" + strconv.Itoa(n)
		}
		by.After, by.AskedBy = in.after, &in.askedBy
		r, err := ask(by)
		if back, ok := errors.AsType[*consent.AskBack](err); ok {
			return s.askOwner(rq, name, back.Question, in, by.Round), nil
		}
		if err != nil || !builtin.AsksBack(r) {
			return r, err
		}
		switch missing, wrong := lacks(rq.capabilities(), r), wrongQuestion(r); {
		case wrong != nil:
			return nil, toolError("the page asks back in a way that no client can show: %v", wrong)
		case len(missing) > 0 && rq.Modern:
			return nil, missingCapabilities("the page asks for", missing...)
		case len(missing) > 0:
			return nil, toolError("the page asks back, for what this client does not offer: %s", strings.Join(missing, ", "))
		case n == MaxRounds && (!rq.Modern || rq.waiting != nil):
			return nil, toolError("the page has asked back %d times in this call", n)
		case rq.Modern && !rq.mayBeTask():
			return s.sealState(r, rq, name, clientState{Round: by.Round, AskedBy: in.askedBy}), nil
		}
		answers, err := rq.askClient(ctx, jsonrpc.OrEmpty(rawjson.Get(r, "inputRequests")))
		if errors.Is(err, context.DeadlineExceeded) {
			err = &core.Failure{Code: spec.FailToolTimeout, Message: fmt.Sprintf("the page asked back and nobody answered within %v", spec.CallTimeoutMax)}
		}
		if err != nil {
			return nil, err
		}
		in = input{ext: nextRound(in.ext, r, answers), after: by.Round, askedBy: in.askedBy}
	}
}

// caller returns on whose behalf the hub does what the request asks for. ext is for the
// page, progress is where the call's goes; both may be nil.
func (rq *Request) caller(ext spec.Extensions, progress func(spec.Progress)) *consent.Caller {
	by := &consent.Caller{Principal: rq.ses.Identity.Principal, Said: rq.clientName(), Session: rq.ses.ID, Bound: rq.ses.Identity.Bound, Began: rq.ses.Began, Extensions: ext, Progress: progress, Request: rq.call}
	if by.Session == "" {
		by.Agent = rq.agent(by.Said)
	}
	return by
}

// metaSession is a key of params._meta by which a client that has no session tells its agents
// apart, as far as tabs go: a string of up to maxSession bytes.
const (
	metaSession = "tabhub/session"
	maxSession  = 64
)

// agent returns what stands for a session where there is none.
func (rq *Request) agent(said string) string {
	if hint, _ := rq.Text("_meta", metaSession); hint != "" && len(hint) <= maxSession {
		return "=" + rq.bound() + hint
	}
	return "~" + rq.bound() + said
}

// bound tells apart the runs of one client in different browsers; "" if it is bound to none.
func (rq *Request) bound() string {
	if names := rq.ses.Identity.Bound; names != nil {
		return strings.Join(names, ",") + "\x00"
	}
	return ""
}

// input is what a request brings beside what it asks for.
type input struct {
	ext     spec.Extensions // for the page: what the client can be asked, and what it has answered
	reply   *consent.Reply  // to a question of the hub
	after   string          // the earlier round of the call
	askedBy consent.Frame   // in that round; after a call, in this one
}

func (in *input) set(key string, value json.RawMessage) {
	if in.ext == nil {
		in.ext = spec.Extensions{}
	}
	in.ext[key] = value
}

func (s *Server) input(rq *Request, name string) (in input, _ *jsonrpc.Error) {
	asks := rq.Modern || rq.out != nil // an older client is asked on the stream of the answer
	if c := rq.capabilities(); asks && len(c) > len("{}") {
		in.set(extCapabilities, c)
	}
	if !rq.Modern {
		return in, nil
	}
	responses, e := rq.object(extResponses)
	if e != nil {
		return in, e
	}
	var c clientState
	if raw := rq.get(extState); raw != nil {
		state, _ := rawjson.String(raw)
		var ok bool
		if c, ok = s.seal.open(state, rq, name); !ok {
			return in, jsonrpc.InvalidParams(extState + " is not what this server gave for this request, or is too old: start again without it")
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
func (s *Server) sealState(r json.RawMessage, rq *Request, name string, c clientState) json.RawMessage {
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
	return append(rawjson.AppendStringMember(out, extState, s.seal.seal(c, rq, name)), '}')
}
