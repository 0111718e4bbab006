package jsonrpc

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Error is a JSON-RPC error to be sent.
type Error struct {
	Code    int
	Message string
	Data    json.RawMessage
	// Status is the HTTP status that revision 2026-07-28 wants with it; 0 is 200.
	Status int
}

func (e *Error) Error() string { return e.Message }

// Append appends the error as JSON-RPC has it.
func (e *Error) Append(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"code":`...), int64(e.Code), 10)
	b = append(b, `,"message":`...)
	b = rawjson.AppendString(b, e.Message)
	if e.Data != nil {
		b = append(b, `,"data":`...)
		b = append(b, OneLine(e.Data)...)
	}
	return append(b, '}')
}

// ReadError returns the error that append has made JSON of.
func ReadError(object json.RawMessage) *Error {
	code, _ := strconv.Atoi(string(rawjson.Get(object, "code")))
	message, _ := rawjson.String(rawjson.Get(object, "message"))
	return &Error{Code: code, Message: message, Data: rawjson.Get(object, "data")}
}

func ParseError(err error) *Error {
	return &Error{Code: spec.CodeParseError, Message: "Parse error: " + err.Error(), Status: http.StatusBadRequest}
}

func InvalidRequest(text string) *Error {
	return &Error{Code: spec.CodeInvalidRequest, Message: "Invalid Request: " + text, Status: http.StatusBadRequest}
}

func InvalidParams(text string) *Error {
	return &Error{Code: spec.CodeInvalidParams, Message: text}
}

func NoMethod(format string, args ...any) *Error {
	return &Error{Code: spec.CodeMethodNotFound, Message: fmt.Sprintf(format, args...), Status: http.StatusNotFound}
}
