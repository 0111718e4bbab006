package methods

import (
	"context"
	"encoding/json"
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
		return reachOf(rawjson.Get(answers, consentKey+q.ID)), err
	}
}

// askOwner returns the result that rq ends with for a question to the owner. in is what rq
// has brought, round is its own.
func (s *Server) askOwner(rq *Request, name string, q *spec.Ask, in input, round string) json.RawMessage {
	c := carried{Round: round, AskedBy: in.askedBy, State: in.ext[extState], Question: q.ID, Answers: in.ext[extResponses]}
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
		words = append(words, consent.ReachWords[r])
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

// reachOf returns what a client's user has answered. All that is not a clear yes is no.
func reachOf(result json.RawMessage) spec.AskResult {
	action, _ := rawjson.String(rawjson.Get(jsonrpc.OrEmpty(result), "action"))
	answer, _ := rawjson.String(rawjson.Get(jsonrpc.OrEmpty(result), "content", answerMember))
	for reach, words := range consent.ReachWords {
		if action == "accept" && answer == words {
			return spec.AskResult{Reach: reach}
		}
	}
	return spec.AskResult{Reach: spec.ReachNo}
}

// takeReply takes the answers to the hub's own questions out of a client's inputResponses, and
// returns the one to a question, nil if there is none.
func takeReply(responses json.RawMessage, question string) (reply *consent.Reply, rest json.RawMessage) {
	rest = json.RawMessage{'{'}
	for key, v := range rawjson.Members(responses) {
		switch {
		case question != "" && key == consentKey+question:
			reply = &consent.Reply{Question: question, Result: reachOf(v)}
		case !strings.HasPrefix(key, item.HubRequests):
			rest = rawjson.AppendMember(rest, key, v)
		}
	}
	return reply, append(rest, '}')
}
