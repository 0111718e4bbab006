package methods

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

func mismatch(header, text string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: codeHeaderMismatch, Message: "Header mismatch: " + header + " " + text, Status: http.StatusBadRequest}
}

// TakeHeaders notes the headers of the HTTP request that a modern request came with.
func (rq *Request) TakeHeaders(h http.Header) {
	if e := rq.checkHeaders(h); e != nil {
		rq.Wrong = e
	}
	rq.header = h
}

// checkHeaders checks that the headers of a request say what its body says, which
// is read here as it is read when it is served. That the versions differ weighs more
// than what is wrong with either.
func (rq *Request) checkHeaders(h http.Header) *jsonrpc.Error {
	version, _ := rq.Text("_meta", MetaVersion)
	switch got := h.Get(mcp.HeaderProtocolVersion); {
	case version == "" && IsUnknown(got):
		return UnsupportedVersion(got) // whatever that version wants in the body
	case version == "":
		return envelopeError("_meta " + MetaVersion + " is required, a string")
	case got == "":
		return mismatch(mcp.HeaderProtocolVersion, "is missing")
	case got != version:
		return mismatch(mcp.HeaderProtocolVersion, "does not match _meta "+MetaVersion)
	case rq.Wrong != nil:
		return nil
	}
	switch got := h.Get(mcp.HeaderMethod); {
	case got == "":
		return mismatch(mcp.HeaderMethod, "is missing")
	case strings.TrimSpace(got) != rq.Method:
		return mismatch(mcp.HeaderMethod, "does not match the method")
	}
	member := subject(rq.Method)
	if member == "" {
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
func (rq *Request) checkParamHeaders(name string, args json.RawMessage) *jsonrpc.Error {
	item, err := rq.ses.srv.hub.FindFor(rq.caller(nil, nil), spec.KindTool, name)
	if err != nil || !bytes.Contains(item.JSON, []byte("x-mcp-header")) {
		return nil // an unknown tool is answered by the call
	}
	tool := mcp.Tool{RawInputSchema: rawjson.Get(item.JSON, "inputSchema")}
	params := append(append([]byte(`{"arguments":`), jsonrpc.OrEmpty(args)...), '}')
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

// IsUnknown reports whether a header names a revision that is not served.
func IsUnknown(version string) bool {
	return version != "" && !mcp.IsValidProtocolVersion(version)
}
