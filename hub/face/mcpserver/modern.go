package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// postModern serves a message of revision 2026-07-28: each request stands alone and
// lasts as long as its response is listened to.
func (s *Server) postModern(x *exchange, r *http.Request, out *outbox, m message) {
	switch {
	case m.response:
		x.finish(errorFrame(nil, invalidRequest("a client sends no responses in protocol version 2026-07-28")), http.StatusBadRequest)
		return
	case m.id == nil && isUnknown(r.Header.Get(mcp.HeaderProtocolVersion)):
		x.finish(errorFrame(nil, unsupportedVersion(r.Header.Get(mcp.HeaderProtocolVersion))), http.StatusBadRequest)
		return
	case m.id == nil: // there are none in this era
		x.w.WriteHeader(http.StatusAccepted)
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(ErrClosing) })()
	ses := s.sessions.stateless(ctx, identityOf(ctx))
	defer s.sessions.releaseStateless(ses)
	ses.out = out
	x.out.notices = ses.notices
	rq := newRequest(ses, out, m)
	if e := checkHeaders(rq, r.Header); e != nil {
		rq.wrong = e
	}
	rq.header = r.Header
	s.respond(x, ctx, rq)
}

func mismatch(header, text string) *rpcError {
	return &rpcError{code: codeHeaderMismatch, message: "Header mismatch: " + header + " " + text, status: http.StatusBadRequest}
}

// checkHeaders checks that the headers of a request say what its body says, which
// is read here as it is read when it is served. That the versions differ weighs more
// than what is wrong with either.
func checkHeaders(rq *request, h http.Header) *rpcError {
	version, _ := rq.text("_meta", metaVersion)
	switch got := h.Get(mcp.HeaderProtocolVersion); {
	case version == "" && isUnknown(got):
		return unsupportedVersion(got) // whatever that version wants in the body
	case version == "":
		return envelopeError("_meta " + metaVersion + " is required, a string")
	case got == "":
		return mismatch(mcp.HeaderProtocolVersion, "is missing")
	case got != version:
		return mismatch(mcp.HeaderProtocolVersion, "does not match _meta "+metaVersion)
	case rq.wrong != nil:
		return nil
	}
	switch got := h.Get(mcp.HeaderMethod); {
	case got == "":
		return mismatch(mcp.HeaderMethod, "is missing")
	case strings.TrimSpace(got) != rq.method:
		return mismatch(mcp.HeaderMethod, "does not match the method")
	}
	member := "name"
	switch rq.method {
	case "resources/read":
		member = "uri"
	case methodGetTask, methodUpdateTask, methodCancelTask:
		member = "taskId"
	case "tools/call", "prompts/get":
	default:
		return nil
	}
	got := h.Get(mcp.HeaderName)
	if got == "" {
		return mismatch(mcp.HeaderName, "is missing")
	}
	name, ok := mcp.DecodeHeaderValue(strings.TrimSpace(got))
	if want, _ := rawjson.String(rq.get(member)); !ok || name != want {
		return mismatch(mcp.HeaderName, "does not match params."+member)
	}
	return nil
}

// checkParamHeaders checks the Mcp-Param headers of a call against the arguments
// that the tool's schema says are mirrored in them.
func (s *Server) checkParamHeaders(rq *request, name string, args json.RawMessage) *rpcError {
	item, err := s.hub.FindFor(rq.caller(nil, nil), spec.KindTool, name)
	if err != nil || !bytes.Contains(item.JSON, []byte("x-mcp-header")) {
		return nil // an unknown tool is answered by the call
	}
	tool := mcp.Tool{RawInputSchema: rawjson.Get(item.JSON, "inputSchema")}
	params := append(append([]byte(`{"arguments":`), orEmpty(args)...), '}')
	err = mcp.ValidateParamHeadersLookup(func(name string) (string, bool) {
		v := rq.header.Values(name)
		if len(v) == 0 {
			return "", false
		}
		return v[0], true
	}, &tool, params)
	if e, ok := errors.AsType[mcp.HeaderMismatchError](err); ok {
		return mismatch(e.Header, e.Reason)
	}
	return nil
}
