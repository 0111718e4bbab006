package methods

import (
	"bytes"
	"encoding/json"

	"tabhub/hub/call/ledger"
	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/offer/item"
	"tabhub/spec/rawjson"
)

// resultComplete is what each result of revision 2026-07-28 says.
const resultComplete = `"resultType":"complete"`

// result answers rq with a raw result, an object. It adds which call it is the answer to and,
// for a modern client, what that revision wants and the result does not say itself; hints are
// more such members.
func (s *Server) result(rq *Request, raw json.RawMessage, hints string) jsonrpc.Frame {
	rq.failed = rq.Method == methodCall && saysError(raw)
	rq.raw = raw
	body := bytes.TrimSpace(raw)
	head := make([]byte, 0, 256+len(rq.ID)+len(hints)+len(s.serverRef))
	head = append(append(append(head, jsonrpc.FrameStart...), rq.ID...), `,"result":{`...)
	if rq.Modern && !hasMember(body, "resultType") {
		head = append(head, resultComplete+","...)
	}
	if rq.Modern && hints != "" && !hasMember(body, "ttlMs") {
		head = append(append(head, hints...), ',')
	}
	// What the hub says of itself, of the call and of the result is one member.
	began := len(head)
	head = append(head, metaStart...)
	if rq.Modern {
		head = append(append(head, s.serverRef...), ',')
	}
	if rq.stored {
		head = rq.appendCall(head)
	}
	switch {
	case len(head) == began+len(metaStart): // nothing is added
		head, body = head[:began], body[1:]
	case bytes.HasPrefix(body, labelStart):
		body = body[len(`{"_meta":{`):] // a member follows
	default:
		var meta json.RawMessage
		if hasMember(body, "_meta") {
			body, meta = withoutMeta(body)
		}
		if len(meta) > 2 {
			head = append(append(head, meta[1:]...), ',')
		} else {
			head = append(head[:len(head)-1], "},"...)
		}
		body = body[1:]
	}
	if body = bytes.TrimLeft(body, jsonSpace); body[0] == '}' {
		head = bytes.TrimSuffix(head, []byte{','})
	}
	return jsonrpc.Frame{Head: head, Body: jsonrpc.OneLine(body), Tail: jsonrpc.FrameEnd}
}

// withoutMeta takes the _meta out of a result that the hub has not labelled, one of its own.
func withoutMeta(result json.RawMessage) (rest, meta json.RawMessage) {
	rest = json.RawMessage{'{'}
	for key, v := range rawjson.Members(result) {
		if key == "_meta" && v[0] == '{' {
			meta = v
		} else {
			rest = rawjson.AppendMember(rest, key, v)
		}
	}
	return append(rest, '}'), meta
}

// The keys of a result's _meta that say which call it is the answer to, and that a request with the
// same id in the same session has asked for it before.
const (
	MetaCall     = ledger.MetaKey
	MetaRepeated = "tabhub/repeated"
)

// appendCall appends what _meta says of the call that rq is, two members at most, and a comma.
func (rq *Request) appendCall(out []byte) []byte {
	id := rq.call.ID()
	out = append(append(append(out, `"`+MetaCall+`":"`...), id...), `",`...)
	if rq.joined {
		out = append(append(append(out, `"`+MetaRepeated+`":"`...), id...), `",`...)
	}
	return out
}

const jsonSpace = " \t\r\n"

// metaStart begins the member of a result that holds what the hub says of it.
const metaStart = `"_meta":{`

// labelStart begins a result that says where it is from.
var labelStart = []byte(`{"_meta":{"` + item.SourceKey + `":`)

// hasMember reports whether an object has a member. The object may be large, most
// have none, and a search for the bytes is faster than any reading of JSON.
func hasMember(object json.RawMessage, key string) bool {
	return bytes.Contains(object, []byte(key)) && rawjson.Get(object, key) != nil
}
