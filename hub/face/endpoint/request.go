package endpoint

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"tabhub/hub/tenant"
	"tabhub/hub/trust/auth"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Request is a request that the door has let through.
type Request struct {
	*http.Request
	W         http.ResponseWriter
	Identity  *auth.Identity // the caller's; nil where the endpoint needs no credential
	Tenant    *tenant.Tenant // the caller's; nil where the endpoint is about no user
	Owner     bool           // the request came over the socket of the hub's owner
	Dashboard bool           // the request came from a page of the hub
}

// Read reads a body of at most max bytes into a struct, and checks it by the tags of its type. It
// insists on the content type, which a form on another site cannot send.
func (r *Request) Read(max int64, v any) error {
	if mt, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); mt != "application/json" {
		return &Error{http.StatusUnsupportedMediaType, "send the body as application/json"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(r.W, r.Body, max))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return err
		}
		return BadRequest("the body could not be read")
	}
	if err := rawjson.Valid(body, spec.MaxDepth); err != nil {
		return BadRequest("the body is not what is expected: %v", err)
	}
	if err := spec.Decode(body, v); err != nil {
		return BadRequest("the body is not what is expected: %s", err.Message)
	}
	return nil
}

// Answer answers v as JSON, with status 200.
func (r *Request) Answer(v any) error {
	WriteJSON(r.W, http.StatusOK, v)
	return nil
}

// AnswerRaw answers JSON byte by byte, or returns err.
func (r *Request) AnswerRaw(result json.RawMessage, err error) error {
	if err != nil {
		return err
	}
	JSONHeaders(r.W.Header())
	NewTimedWriter(r.W).Write(result)
	return nil
}

// AcceptsEvents reports whether the answer is to be a stream of events. A client that also accepts
// JSON, as MCP clients do in every request, gets JSON.
func (r *Request) AcceptsEvents() bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "text/event-stream") && !strings.Contains(accept, "application/json")
}
