package relay

import (
	"encoding/json"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// jsonrpc is the dialect of the MCP Proxy Protocol 1.0.
type jsonrpc struct{}

const version2 = `{"jsonrpc":"2.0"`

func (jsonrpc) bare() bool { return false }

func begin(size int, id []byte) []byte {
	dst := append(make([]byte, 0, size+len(id)+64), version2...)
	if id != nil {
		dst = rawjson.AppendMember(dst, "id", id)
	}
	return dst
}

func (jsonrpc) result(id json.RawMessage, v any) []byte {
	b := marshal(v)
	return append(rawjson.AppendMember(begin(len(b), id), "result", b), '}')
}

func (jsonrpc) failure(id json.RawMessage, _ string, err *spec.Error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	b := marshal(err)
	return append(rawjson.AppendMember(begin(len(b), id), "error", b), '}')
}

func (jsonrpc) notice(method string, params any) []byte {
	b := marshal(params)
	dst := rawjson.AppendStringMember(begin(len(b)+len(method), nil), "method", method)
	return append(rawjson.AppendMember(dst, "params", b), '}')
}

func (d jsonrpc) ended(conn string) []byte    { return d.disconnected(conn, "Extension closed") }
func (d jsonrpc) released(conn string) []byte { return d.disconnected(conn, clientGone) }

func (d jsonrpc) disconnected(conn, reason string) []byte {
	return d.notice("disconnected", struct {
		ConnectionID string `json:"connection_id"`
		Reason       string `json:"reason"`
	}{conn, reason})
}

func (jsonrpc) request(e *envelope, id outboundID) []byte {
	dst := append(frameOf(e, len(id.conn)+len(id.text)), version2...)
	if id.text != "" {
		dst = id.append(rawjson.AppendKey(dst, "id"))
	}
	return append(e.appendRest(dst), '}')
}

// append appends the id as JSON.
func (id outboundID) append(dst []byte) []byte {
	dst = append(dst, '"')
	dst = append(dst, id.conn...)
	n := len(dst)
	dst = rawjson.AppendString(dst, id.text)
	dst[n] = ':' // instead of the quote
	return dst
}

func (jsonrpc) answer(e *envelope, id json.RawMessage, _ string) []byte {
	dst := append(frameOf(e, len(id)), version2...)
	dst = rawjson.AppendMember(dst, "id", id)
	switch {
	case e.err != nil:
		dst = appendError(rawjson.AppendKey(dst, "error"), e.err)
	case e.result == nil:
		dst = rawjson.AppendMember(dst, "error", marshal(errNoResult()))
	default:
		dst = rawjson.AppendMember(dst, "result", e.result)
	}
	return append(e.appendRest(dst, "result", "error", "method"), '}')
}

func (jsonrpc) waits() bool { return true }

func (jsonrpc) event(e *envelope, _ string) []byte {
	return append(e.appendRest(append(frameOf(e, 0), version2...)), '}')
}

// appendError appends an extension's error as JSON-RPC has it. One that is in order
// is passed on as it is; a missing code is added, a stack dropped, and a plain
// string becomes the message.
func appendError(dst []byte, raw json.RawMessage) []byte {
	if raw[0] != '{' {
		return append(dst, marshal(spec.Errorf(codeServer, "%s", idText(raw)))...)
	}
	code, message := rawjson.Get(raw, "code"), rawjson.Get(raw, "message")
	if isInteger(code) && message != nil && message[0] == '"' && rawjson.Get(raw, "stack") == nil {
		return append(dst, raw...)
	}
	if !isInteger(code) {
		code = json.RawMessage("-32000")
	}
	if message == nil || message[0] != '"' {
		message = json.RawMessage(`"Extension failed without a message"`)
	}
	dst = append(dst, '{')
	dst = rawjson.AppendMember(dst, "code", code)
	dst = rawjson.AppendMember(dst, "message", message)
	if data := rawjson.Get(raw, "data"); data != nil {
		dst = rawjson.AppendMember(dst, "data", data)
	}
	return append(dst, '}')
}

func isInteger(raw json.RawMessage) bool {
	for i, c := range raw {
		if (c < '0' || c > '9') && (c != '-' || i > 0) {
			return false
		}
	}
	return len(raw) > 0
}
