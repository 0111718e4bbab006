package methods

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/offer/item"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Where the owner can be asked in no better way (package consent), the client is: by an
// elicitation, as a page asks back. Clients before revision 2026-07-28 get it as a request
// while their own is under way; the others as the end of theirs, which they send again with
// the answer.

// consentKey begins the key of such a question among a result's inputRequests.
const consentKey = item.HubRequests + "consent-"

// answerMember is the member of the answer to an elicitation in which the reach is.
const answerMember = "answer"

// elicit returns how the user of rq's client can be asked, nil if not.
func (rq *Request) elicit() consent.Elicit {
	if !declares(rq.capabilities(), "elicitation", "form") || !rq.Modern && rq.out == nil {
		return nil
	}
	return func(ctx context.Context, q *spec.Ask) (spec.AskResult, error) {
		if rq.Modern && !rq.mayBeTask() {
			return spec.AskResult{}, &consent.AskBack{Question: q}
		}
		answers, err := rq.askClient(ctx, inputRequest(q))
		if err != nil {
			return spec.AskResult{}, err
		}
		return reachOf(rawjson.Get(answers, consentKey+q.ID))
	}
}

// askOwner returns the result that rq ends with for a question to the owner. in is what rq
// has brought, round is its own.
func (s *Server) askOwner(rq *Request, name string, q *spec.Ask, in input, round string) json.RawMessage {
	c := clientState{Round: round, AskedBy: in.askedBy, State: in.ext[extState], Question: q.ID, Answers: in.ext[extResponses]}
	out := append([]byte(`{"resultType":"input_required","inputRequests":`), inputRequest(q)...)
	return append(rawjson.AppendStringMember(out, extState, s.seal.seal(c, rq, name)), '}')
}

// inputRequest returns a question as the inputRequests of a result or a task.
func inputRequest(q *spec.Ask) json.RawMessage {
	question := append([]byte(`{"method":"`+askPerson+`","params":`), elicitation(q)...)
	return append(rawjson.AppendMember([]byte{'{'}, consentKey+q.ID, append(question, '}')), '}')
}

// elicitation returns the parameters of elicitation/create for a question.
func elicitation(q *spec.Ask) json.RawMessage {
	words := make([]string, 0, len(q.Reaches)+1)
	for _, r := range q.Reaches {
		words = append(words, answerWords(r, wideOf(q)))
	}
	b, _ := json.Marshal(map[string]any{ // strings
		"message": consent.Text(q),
		"requestedSchema": map[string]any{
			"type": "object", "required": []string{answerMember},
			"properties": map[string]any{answerMember: map[string]any{
				"type": "string", "title": "Your answer", "enum": append(words, consent.ReachWords[spec.ReachNo]),
			}},
		},
	})
	return b
}

// wide is what a lasting yes is about, at a site.
type wide uint8

const (
	aboutTool wide = iota
	aboutSite
	aboutPack
	aboutActs
)

func wideOf(q *spec.Ask) wide {
	switch {
	case !q.AboutSite:
		return aboutTool
	case q.Tool.Pack != nil:
		return aboutPack
	case consent.AboutActs(q):
		return aboutActs
	}
	return aboutSite
}

// answerWords says what a client's user may answer.
func answerWords(r spec.Reach, about wide) string {
	if r != spec.ReachApp || about == aboutActs {
		return consent.Words(r, about == aboutActs)
	}
	return "Yes, always for this client " + [...]string{aboutTool: "with this tool at this site", aboutSite: "at this site", aboutPack: "with this pack at this site"}[about]
}

// reachOf returns what a client's user has answered. All that is not a clear yes is no, but for what a client
// says of itself when nobody answers, as one does that runs unattended: the error is consent.ErrUnanswered.
func reachOf(result json.RawMessage) (spec.AskResult, error) {
	action, _ := rawjson.String(rawjson.Get(jsonrpc.OrEmpty(result), "action"))
	answer, _ := rawjson.String(rawjson.Get(jsonrpc.OrEmpty(result), "content", answerMember))
	for reach := range consent.ReachWords {
		for _, about := range []wide{aboutTool, aboutSite, aboutPack, aboutActs} {
			if action == "accept" && answer == answerWords(reach, about) {
				return spec.AskResult{Reach: reach}, nil
			}
		}
	}
	if action != "accept" && action != "decline" {
		return spec.AskResult{}, consent.ErrUnanswered
	}
	return spec.AskResult{Reach: spec.ReachNo}, nil
}

// takeReply takes the answers to the hub's own questions out of a client's inputResponses, and
// returns the one to a question, nil if there is none.
func takeReply(responses json.RawMessage, question string) (reply *consent.Reply, rest json.RawMessage) {
	rest = json.RawMessage{'{'}
	for key, v := range rawjson.Members(responses) {
		switch {
		case question != "" && key == consentKey+question:
			r, err := reachOf(v)
			reply = &consent.Reply{Question: question, Result: r, Unanswered: err != nil}
		case !strings.HasPrefix(key, item.HubRequests):
			rest = rawjson.AppendMember(rest, key, v)
		}
	}
	return reply, append(rest, '}')
}

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
