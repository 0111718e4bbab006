package relay

import (
	"encoding/json"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// plain is the dialect of the Browser MCP proxy protocol: no envelope, no ids unless
// the client uses them, errors that are strings.
type plain struct{}

func (plain) bare() bool { return true }

func (plain) result(id json.RawMessage, v any) []byte {
	b := marshal(v)
	if id == nil {
		return b
	}
	dst := rawjson.AppendMember([]byte{'{'}, "id", id)
	return append(rawjson.AppendMember(dst, "result", b), '}')
}

func (plain) failure(id json.RawMessage, conn string, err *spec.Error) []byte {
	return plainError(id, conn, err.Message)
}

func plainError(id json.RawMessage, conn, message string) []byte {
	dst := []byte{'{'}
	if id != nil {
		dst = rawjson.AppendMember(dst, "id", id)
	}
	if conn != "" {
		dst = rawjson.AppendStringMember(dst, "connectionId", conn)
	}
	return append(rawjson.AppendStringMember(dst, "error", message), '}')
}

// noticeID is the id of notifications to an extension. Shipped extensions answer every
// message, and an answer without an id would be taken for a response to a client.
var noticeID = json.RawMessage(`"proxy:notice"`)

// notice has the one form that extensions overlook or refuse if they do not know it:
// a message without a method.
func (plain) notice(method string, params any) []byte {
	dst := rawjson.AppendMember([]byte{'{'}, "id", noticeID)
	dst = rawjson.AppendStringMember(dst, "type", method)
	return append(rawjson.AppendMember(dst, "data", marshal(params)), '}')
}

func (plain) ended(conn string) []byte    { return plainError(nil, conn, "Extension disconnected") }
func (plain) released(conn string) []byte { return plainError(noticeID, conn, clientGone) }

// request names the connection: an extension knows its tab by it.
func (plain) request(e *envelope, id outboundID) []byte {
	dst := append(frameOf(e, 2*len(id.conn)+len(id.text)), '{')
	if id.text != "" {
		dst = id.append(rawjson.AppendKey(dst, "id"))
	}
	return e.appendPlain(dst, id.conn)
}

func (plain) answer(e *envelope, id json.RawMessage, conn string) []byte {
	if e.err != nil {
		return plainError(id, "", errorText(e.err))
	}
	if e.result == nil {
		return plainError(id, "", errNoResult().Message)
	}
	if id == nil {
		return append(frameOf(e, 0), e.result...)
	}
	dst := rawjson.AppendMember(append(frameOf(e, len(id)), '{'), "id", id)
	return append(rawjson.AppendMember(dst, "result", e.result), '}')
}

func (plain) waits() bool { return false }

func (plain) event(e *envelope, conn string) []byte {
	return e.appendPlain(append(frameOf(e, len(conn)), '{'), conn)
}

// appendPlain appends the members in the order of the predecessor's own samples:
// method, connectionId, what is left.
func (e *envelope) appendPlain(dst []byte, conn string) []byte {
	if e.method != "" {
		dst = rawjson.AppendStringMember(dst, "method", e.method)
	}
	dst = rawjson.AppendStringMember(dst, "connectionId", conn)
	return append(e.appendRest(dst, "method"), '}')
}

// errorText returns an extension's error as a string.
func errorText(raw json.RawMessage) string {
	if s, ok := rawjson.String(raw); ok {
		return s
	}
	if s, ok := rawjson.String(rawjson.Get(raw, "message")); ok {
		return s
	}
	return "Extension failed without a message"
}
