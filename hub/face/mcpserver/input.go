package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tabhub/describe"
	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/trust/consent"
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
func (s *Server) withInput(ctx context.Context, rq *request, name string, progress func(spec.Progress), ask func(*consent.Caller) (json.RawMessage, error)) (json.RawMessage, error) {
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
		case wrong != "":
			return nil, toolError("the page asks back in a way that no client can show: %s", wrong)
		case len(missing) > 0 && rq.modern:
			return nil, missingCapabilities(missing)
		case len(missing) > 0:
			return nil, toolError("the page asks back, for what this client does not offer: %s", strings.Join(missing, ", "))
		case n == maxRounds && (!rq.modern || rq.waiting != nil):
			return nil, toolError("the page has asked back %d times in this call", n)
		case rq.modern:
			if !rq.mayBeTask() {
				return s.sealState(r, rq, name, carried{Round: by.Round, AskedBy: in.askedBy}), nil
			}
			if in, err = askTask(ctx, rq.call, r, in, by.Round); err != nil {
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

// caller returns on whose behalf the hub does what the request asks for. ext is for the
// page, progress is where the call's goes; both may be nil.
func (rq *request) caller(ext spec.Extensions, progress func(spec.Progress)) *consent.Caller {
	by := &consent.Caller{Who: rq.ses.identity.who, Said: rq.clientName(), Session: rq.ses.id, Bound: rq.ses.identity.bound, Began: rq.ses.began, Extensions: ext, Progress: progress, Request: rq.call}
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
func (rq *request) agent(said string) string {
	if hint, _ := rq.text("_meta", metaSession); hint != "" && len(hint) <= maxSession {
		return "=" + rq.bound() + hint
	}
	return "~" + rq.bound() + said
}

// bound tells apart the runs of one client in different browsers; "" if it is bound to none.
func (rq *request) bound() string {
	if names := rq.ses.identity.bound; names != nil {
		return strings.Join(names, ",") + "\x00"
	}
	return ""
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

// lacks returns the capabilities, and parts of some, that a client would need for what r asks of
// it and has not.
func lacks(capabilities, r json.RawMessage) (missing []string) {
	for _, q := range rawjson.Members(orEmpty(rawjson.Get(r, "inputRequests"))) {
		method, _ := rawjson.String(rawjson.Get(q, "method"))
		params := orEmpty(rawjson.Get(q, "params"))
		var capability, part string
		switch method {
		case askPerson:
			capability, part = "elicitation", "form"
			if asksURL(params) {
				part = "url"
			}
		case "sampling/createMessage":
			capability = "sampling"
			if rawjson.Get(params, "tools") != nil || rawjson.Get(params, "toolChoice") != nil {
				part = "tools"
			}
		case "roots/list":
			capability = "roots"
		default:
			missing = append(missing, method)
			continue
		}
		if !declares(capabilities, capability, part) {
			missing = append(missing, strings.TrimSuffix(capability+"."+part, "."))
		}
	}
	return missing
}

// declares reports whether capabilities has one, and a part of it that is not "". Elicitation
// that names no part is that of forms.
func declares(capabilities json.RawMessage, capability, part string) bool {
	c := rawjson.Get(orEmpty(capabilities), capability)
	return c != nil && (part == "" || rawjson.Get(c, part) != nil || part == "form" && rawjson.Get(c, "url") == nil)
}

// asksURL reports whether the parameters of an elicitation are those of an address to open.
func asksURL(params json.RawMessage) bool {
	return string(rawjson.Get(params, "mode")) == `"url"`
}

// wrongQuestion says what is wrong with the elicitations of r, a result that asks back; "" if
// nothing is. Clients fail on such a one, and their users do not learn whose fault that is.
func wrongQuestion(r json.RawMessage) string {
	for _, q := range rawjson.Members(orEmpty(rawjson.Get(r, "inputRequests"))) {
		if method, _ := rawjson.String(rawjson.Get(q, "method")); method != askPerson {
			continue
		}
		params := orEmpty(rawjson.Get(q, "params"))
		mode, schema := rawjson.Get(params, "mode"), orEmpty(rawjson.Get(params, "requestedSchema"))
		fields, required := rawjson.Get(schema, "properties"), rawjson.Get(schema, "required")
		switch {
		case !isText(rawjson.Get(params, "message")):
			return "there is no message"
		case asksURL(params):
			address, _ := rawjson.String(rawjson.Get(params, "url"))
			if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
				return "url must be an address with https or http"
			}
		case mode != nil && string(mode) != `"form"`:
			return `mode must be "form" or "url"`
		case string(rawjson.Get(schema, "type")) != `"object"`, fields == nil, fields[0] != '{':
			return `requestedSchema must be {"type": "object", "properties": {…}}`
		case required != nil && !isList(required, isText):
			return "required of requestedSchema must be a list of names"
		default:
			for name, field := range rawjson.Members(fields) {
				if wrong := wrongField(field); wrong != "" {
					return fmt.Sprintf("%q in requestedSchema: %s", describe.Clean(name, spec.MaxName), wrong)
				}
			}
		}
	}
	return ""
}

// wrongField says what is wrong with the schema of a property of a form, which is a value or a
// choice of texts; "" if nothing is.
func wrongField(field json.RawMessage) string {
	isDefault := isText
	switch kind, _ := rawjson.String(rawjson.Get(field, "type")); kind {
	case "string":
	case "number", "integer":
		isDefault = isNumber
	case "boolean":
		isDefault = func(v json.RawMessage) bool { return v[0] == 't' || v[0] == 'f' }
	case "array":
		isDefault = func(v json.RawMessage) bool { return isList(v, isText) }
		items := orEmpty(rawjson.Get(field, "items"))
		texts, options := rawjson.Get(items, "enum"), rawjson.Get(items, "anyOf")
		if !(texts != nil && string(rawjson.Get(items, "type")) == `"string"` && isList(texts, isText) || options != nil && isList(options, isOption)) {
			return "items of an array must be a choice, enum of strings or anyOf of const and title"
		}
	default:
		return "type must be string, number, integer, boolean, or array of choices"
	}
	for key, v := range rawjson.Members(field) {
		ok := true
		switch key {
		case "title", "description":
			ok = isText(v)
		case "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems":
			ok = isNumber(v)
		case "enum", "enumNames":
			ok = isList(v, isText)
		case "oneOf":
			ok = isList(v, isOption)
		case "format":
			ok = slices.Contains([]string{`"email"`, `"uri"`, `"date"`, `"date-time"`}, string(v))
		case "default":
			ok = isDefault(v)
		}
		if !ok {
			return key + " is not what MCP has for this type"
		}
	}
	return ""
}

func isText(v json.RawMessage) bool   { return len(v) > 0 && v[0] == '"' }
func isNumber(v json.RawMessage) bool { return v[0] == '-' || '0' <= v[0] && v[0] <= '9' }

// isOption reports whether v is one of several values, with its title.
func isOption(v json.RawMessage) bool {
	return isText(rawjson.Get(v, "const")) && isText(rawjson.Get(v, "title"))
}

func isList(v json.RawMessage, of func(json.RawMessage) bool) bool {
	if v[0] != '[' {
		return false
	}
	for e := range rawjson.Elements(v) {
		if !of(e) {
			return false
		}
	}
	return true
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
		params := rawjson.Get(q, "params")
		if method == askPerson && asksURL(params) && rawjson.Get(params, "elicitationId") == nil { // which 2026-07-28 has no more
			params = append(rawjson.AppendStringMember(slices.Clone(params[:len(params)-1]), "elicitationId", rand.Text()), '}')
		}
		answer, err := rq.ses.ask(ctx, rq.out, method, params)
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
