package mcpserver

import (
	"bytes"
	"encoding/json"
	"net/http"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// message is one incoming JSON-RPC message. Its slices share memory with what it
// was parsed from.
type message struct {
	id       json.RawMessage // nil in a notification
	method   string          // "" in a response
	params   json.RawMessage // an object, or nil
	response bool            // an answer to a request of ours
	result   json.RawMessage // of a response
	fault    json.RawMessage // the error of a response
}

// parseMessage reads the envelope of one message. With an error, the message has
// the id that the error is to be sent with, if one could be read.
func parseMessage(b []byte) (message, *rpcError) {
	var m message
	if i := firstByte(b); i != '{' {
		if err := rawjson.Valid(b, spec.MaxDepth); err != nil {
			return m, parseError(err)
		}
		return m, invalidRequest("a message is a JSON object")
	}
	var version, method json.RawMessage
	var idErr *rpcError
	err := rawjson.Object(b, spec.MaxDepth, func(key string, value json.RawMessage) error {
		switch key {
		case "jsonrpc":
			version = value
		case "id":
			if c := value[0]; c == '"' || c == '-' || c >= '0' && c <= '9' {
				m.id, idErr = rawjson.WellFormed(value), nil // it comes back in the answer
			} else {
				m.id, idErr = nil, invalidRequest("id must be a string or a number")
			}
		case "method":
			method = value
		case "params":
			m.params = value
		case "result":
			m.response, m.result = true, value
		case "error":
			m.response, m.fault = true, value
		}
		return nil
	})
	switch {
	case err != nil:
		return message{}, parseError(err)
	case string(version) != `"2.0"`:
		return m, invalidRequest(`jsonrpc must be "2.0"`)
	case method == nil && m.response:
		return m, nil // an error response may have the id null
	case idErr != nil:
		return m, idErr
	case method == nil:
		return m, invalidRequest("method is missing")
	}
	m.response = false
	var ok bool
	if m.method, ok = rawjson.String(method); !ok || m.method == "" {
		return m, invalidRequest("method must be a string")
	}
	switch {
	case string(m.params) == "null":
		m.params = nil
	case m.params != nil && m.params[0] != '{':
		m.params = nil
		return m, &rpcError{code: spec.CodeInvalidParams, message: "params must be an object", status: http.StatusBadRequest}
	}
	return m, nil
}

// firstByte returns the first byte of b that is not space, 0 if there is none.
func firstByte(b []byte) byte {
	if b = bytes.TrimLeft(b, " \t\r\n"); len(b) > 0 {
		return b[0]
	}
	return 0
}

// idKey is what a request id is looked up by: equal ids have equal keys.
func idKey(id json.RawMessage) string {
	if s, ok := rawjson.String(id); ok {
		return `"` + s
	}
	return string(id)
}

// text returns a string member of params.
func (m *message) text(path ...string) (string, bool) {
	return rawjson.String(rawjson.Get(m.params, path...))
}

// meta returns a member of params._meta.
func (m *message) meta(key string) json.RawMessage { return rawjson.Get(m.params, "_meta", key) }

// orEmpty returns an object, {} if there is none.
func orEmpty(object json.RawMessage) json.RawMessage {
	if object == nil {
		return json.RawMessage("{}")
	}
	return object
}
