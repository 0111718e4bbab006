package jsonrpc

import (
	"bytes"
	"encoding/json"
	"net/http"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Message is one incoming JSON-RPC message. Its slices share memory with what it
// was parsed from.
type Message struct {
	ID       json.RawMessage // nil in a notification
	Method   string          // "" in a response
	Params   json.RawMessage // an object, or nil
	Response bool            // an answer to a request of ours
	Result   json.RawMessage // of a response
	Fault    json.RawMessage // the error of a response
}

// Parse reads the envelope of one message. With an error, the message has
// the id that the error is to be sent with, if one could be read.
func Parse(b []byte) (Message, *Error) {
	var m Message
	if i := FirstByte(b); i != '{' {
		if err := rawjson.Valid(b, spec.MaxDepth); err != nil {
			return m, ParseError(err)
		}
		return m, InvalidRequest("a message is a JSON object")
	}
	var version, method json.RawMessage
	var idErr *Error
	err := rawjson.Object(b, spec.MaxDepth, func(key string, value json.RawMessage) error {
		switch key {
		case "jsonrpc":
			version = value
		case "id":
			if c := value[0]; c == '"' || c == '-' || c >= '0' && c <= '9' {
				m.ID, idErr = rawjson.WellFormed(value), nil // it comes back in the answer
			} else {
				m.ID, idErr = nil, InvalidRequest("id must be a string or a number")
			}
		case "method":
			method = value
		case "params":
			m.Params = value
		case "result":
			m.Response, m.Result = true, value
		case "error":
			m.Response, m.Fault = true, value
		}
		return nil
	})
	switch {
	case err != nil:
		return Message{}, ParseError(err)
	case string(version) != `"2.0"`:
		return m, InvalidRequest(`jsonrpc must be "2.0"`)
	case method == nil && m.Response:
		return m, nil // an error response may have the id null
	case idErr != nil:
		return m, idErr
	case method == nil:
		return m, InvalidRequest("method is missing")
	}
	m.Response = false
	var ok bool
	if m.Method, ok = rawjson.String(method); !ok || m.Method == "" {
		return m, InvalidRequest("method must be a string")
	}
	switch {
	case string(m.Params) == "null":
		m.Params = nil
	case m.Params != nil && m.Params[0] != '{':
		m.Params = nil
		return m, &Error{Code: spec.CodeInvalidParams, Message: "params must be an object", Status: http.StatusBadRequest}
	}
	return m, nil
}

// FirstByte returns the first byte of b that is not space, 0 if there is none.
func FirstByte(b []byte) byte {
	if b = bytes.TrimLeft(b, " \t\r\n"); len(b) > 0 {
		return b[0]
	}
	return 0
}

// IDKey is what a request id is looked up by: equal ids have equal keys.
func IDKey(id json.RawMessage) string {
	if s, ok := rawjson.String(id); ok {
		return `"` + s
	}
	return string(id)
}

// Text returns a string member of params.
func (m *Message) Text(path ...string) (string, bool) {
	return rawjson.String(rawjson.Get(m.Params, path...))
}

// Meta returns a member of params._meta.
func (m *Message) Meta(key string) json.RawMessage { return rawjson.Get(m.Params, "_meta", key) }

// OrEmpty returns an object, {} if there is none.
func OrEmpty(object json.RawMessage) json.RawMessage {
	if object == nil {
		return json.RawMessage("{}")
	}
	return object
}
