package relay

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// envelope is a frame taken apart. Everything in it is a slice of the frame and
// valid as long as that is.
type envelope struct {
	jsonrpc      json.RawMessage
	id           json.RawMessage // nil: none; a string or a number
	method       string
	params       json.RawMessage
	result       json.RawMessage
	err          json.RawMessage // nil also where it is null
	kind         string          // the member type of messages that have no method
	connectionID string
	rest         []member // all but jsonrpc, id and connectionId, in the sender's order
	size         int      // of the frame
}

type member struct {
	key   string
	value json.RawMessage
}

var (
	errTwice = errors.New("a member that routes the message is given twice")
	errCase  = errors.New("a member differs from one that routes the message only in its case")
)

// routing are the members that distinguish messages.
var routing = []string{"jsonrpc", "id", "method", "params", "result", "error", "type", "connectionId"}

// parse takes a frame apart. When it fails, e.id is the id to answer with, if any.
func (e *envelope) parse(frame []byte) *spec.Error {
	*e = envelope{rest: e.rest[:0], size: len(frame)}
	var method, kind, conn json.RawMessage
	err := rawjson.Object(frame, spec.MaxDepth, func(key string, value json.RawMessage) error {
		var known *json.RawMessage
		keep := true
		switch key {
		case "jsonrpc":
			known, keep = &e.jsonrpc, false
		case "id":
			known, keep = &e.id, false
		case "connectionId":
			known, keep = &conn, false
		case "method":
			known = &method
		case "params":
			known = &e.params
		case "result":
			known = &e.result
		case "error":
			known = &e.err
		case "type":
			known = &kind
		default:
			// A peer that overlooks case could take it for a routing member.
			if slices.ContainsFunc(routing, func(name string) bool { return strings.EqualFold(key, name) }) {
				return errCase
			}
		}
		if known != nil {
			if *known != nil {
				return errTwice
			}
			*known = value
		}
		if keep {
			e.rest = append(e.rest, member{key, value})
		}
		return nil
	})
	if err != nil {
		e.id = nil
		if errors.Is(err, errCase) {
			return spec.Errorf(spec.CodeInvalidRequest, "Invalid Request: names of members are written as the protocol has them")
		}
		if errors.Is(err, errTwice) || rawjson.Valid(frame, spec.MaxDepth) == nil {
			return spec.Errorf(spec.CodeInvalidRequest, "Invalid Request: a frame is one JSON object with each member once; batches are not taken")
		}
		return spec.Errorf(spec.CodeParseError, "Parse error: %v", err)
	}
	if e.id != nil && !validID(e.id) {
		e.id = nil
		return spec.Errorf(spec.CodeInvalidRequest, "Invalid Request: id must be a string or a number of at most %d bytes", maxID)
	}
	ok := true
	text := func(raw json.RawMessage) (s string) {
		if raw != nil && ok {
			s, ok = rawjson.String(raw)
		}
		return s
	}
	e.method = text(method)
	if !ok || method != nil && e.method == "" {
		return spec.Errorf(spec.CodeInvalidRequest, "Invalid Request: method must be a string")
	}
	if string(conn) != "null" {
		e.connectionID = text(conn)
	}
	if !ok {
		return spec.Errorf(spec.CodeInvalidRequest, "Invalid Request: connectionId must be a string")
	}
	if kind != nil && kind[0] == '"' {
		e.kind, _ = rawjson.String(kind)
	}
	if v, is := rawjson.String(e.jsonrpc); e.jsonrpc != nil && (!is || v != "2.0") {
		return spec.Errorf(spec.CodeInvalidRequest, `Invalid Request: jsonrpc must be "2.0"`)
	}
	if p := e.params; e.method != "" && p != nil && p[0] != '{' && p[0] != '[' && string(p) != "null" {
		return spec.Errorf(spec.CodeInvalidParams, "Invalid params: params must be an object or an array")
	}
	if string(e.err) == "null" {
		e.err = nil
	}
	return nil
}

// validID reports whether raw can be the id of a request. null cannot: a
// request with it could not be answered.
func validID(raw json.RawMessage) bool {
	return len(raw) <= maxID && (raw[0] == '"' || raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// idText returns what an id says, without its JSON type.
func idText(raw json.RawMessage) string {
	if s, ok := rawjson.String(raw); ok {
		return s
	}
	return string(raw)
}

// appendRest appends all members but those named, each after a comma if dst has a
// member already.
func (e *envelope) appendRest(dst []byte, but ...string) []byte {
	for _, m := range e.rest {
		if !slices.Contains(but, m.key) {
			dst = rawjson.AppendMember(dst, m.key, m.value)
		}
	}
	return dst
}

// frameOf returns an empty frame with room for what e becomes when it is passed on.
func frameOf(e *envelope, more int) []byte {
	return make([]byte, 0, e.size+more+96)
}

// paramStrings returns those of the parameters of one of the relay's own methods
// that are named, which must be strings. Names match exactly, unlike with
// encoding/json.
func (e *envelope) paramStrings(names ...string) (map[string]string, *spec.Error) {
	got := make(map[string]string, len(names))
	if e.params == nil || string(e.params) == "null" {
		return got, nil
	}
	if e.params[0] != '{' {
		return nil, spec.Errorf(spec.CodeInvalidParams, "Invalid params: %s takes its parameters by name", e.method)
	}
	return got, membersOf(e.params, got, names)
}

// membersOf puts the string members of a valid JSON object that are named into got.
func membersOf(object json.RawMessage, got map[string]string, names []string) *spec.Error {
	for _, name := range names {
		raw := rawjson.Get(object, name)
		if raw == nil || string(raw) == "null" {
			continue
		}
		s, ok := rawjson.String(raw)
		if !ok {
			return spec.Errorf(spec.CodeInvalidParams, "Invalid params: %s must be a string", name)
		}
		got[name] = s
	}
	return nil
}
