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
	size := 90 + len(rq.ID)
	if rq.Modern {
		size += len(resultComplete) + len(hints) + len(s.serverRef)
	}
	head := make([]byte, 0, size)
	head = append(append(append(head, jsonrpc.FrameStart...), rq.ID...), `,"result":{`...)
	if rq.Modern && !hasMember(body, "resultType") {
		head = append(head, resultComplete+","...)
	}
	if rq.Modern && hints != "" && !hasMember(body, "ttlMs") {
		head = append(append(head, hints...), ',')
	}
	// What the hub says of itself, of the call and of the result is one member.
	head = append(head, metaStart...)
	began := len(head)
	meta := 0 // where the result's own begins
	if !bytes.HasPrefix(body, labelStart) {
		meta = indexMeta(body)
	}
	if rq.Modern && meta <= 0 {
		head = append(append(head, s.serverRef...), ',')
	}
	if rq.kept {
		head = rq.appendCall(head)
	}
	switch added := head[began:]; {
	case meta == 0:
		body = body[len(`{"_meta":{`):] // a member follows
	case meta > 0 && len(added) > 0:
		// It stays where it is.
		b := append(make([]byte, 0, len(body)+len(added)), body[1:meta+1]...)
		if b = append(b, added...); bytes.TrimLeft(body[meta+1:], jsonSpace)[0] == '}' {
			b = b[:len(b)-1]
		}
		head, body = head[:began-len(metaStart)], append(b, body[meta+1:]...)
	case len(added) == 0:
		head, body = head[:began-len(metaStart)], body[1:]
	default:
		head, body = append(head[:len(head)-1], "},"...), body[1:]
	}
	if last := len(head) - 1; head[last] == ',' {
		if body = bytes.TrimLeft(body, jsonSpace); body[0] == '}' {
			head = head[:last]
		}
	}
	return jsonrpc.Frame{Head: head, Body: jsonrpc.OneLine(body), Tail: jsonrpc.FrameEnd}
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

// indexMeta returns where the _meta of a result begins, -1 if it has none that is an object.
func indexMeta(result json.RawMessage) int {
	if !bytes.Contains(result, []byte(`"_meta"`)) {
		return -1
	}
	i := rawjson.Index(result, "_meta")
	if i >= 0 && result[i] != '{' {
		return -1
	}
	return i
}

// labelStart begins a result that says where it is from.
var labelStart = []byte(`{"_meta":{"` + item.SourceKey + `":`)

// hasMember reports whether an object has a member. The object may be large, most
// have none, and a search for the bytes is faster than any reading of JSON.
func hasMember(object json.RawMessage, key string) bool {
	return bytes.Contains(object, []byte(key)) && rawjson.Get(object, key) != nil
}
