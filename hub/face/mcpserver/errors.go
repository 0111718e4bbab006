package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/hub"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Codes of MCP beside those of JSON-RPC, which spec has.
const (
	codeResourceNotFound = -32002 // until 2025-11-25
	// From 2026-07-28 on.
	codeHeaderMismatch    = -32020
	codeMissingCapability = -32021
	codeUnsupported       = -32022
)

// rpcError is a JSON-RPC error to be sent.
type rpcError struct {
	code    int
	message string
	data    json.RawMessage
	// status is the HTTP status that revision 2026-07-28 wants with it; 0 is 200.
	status int
}

func (e *rpcError) Error() string { return e.message }

// faultOf returns the error that append has made JSON of.
func faultOf(object json.RawMessage) *rpcError {
	code, _ := strconv.Atoi(string(rawjson.Get(object, "code")))
	message, _ := rawjson.String(rawjson.Get(object, "message"))
	return &rpcError{code: code, message: message, data: rawjson.Get(object, "data")}
}

func parseError(err error) *rpcError {
	return &rpcError{code: spec.CodeParseError, message: "Parse error: " + err.Error(), status: http.StatusBadRequest}
}

func invalidRequest(text string) *rpcError {
	return &rpcError{code: spec.CodeInvalidRequest, message: "Invalid Request: " + text, status: http.StatusBadRequest}
}

func invalidParams(text string) *rpcError {
	return &rpcError{code: spec.CodeInvalidParams, message: text}
}

func noMethod(format string, args ...any) *rpcError {
	return &rpcError{code: spec.CodeMethodNotFound, message: fmt.Sprintf(format, args...), status: http.StatusNotFound}
}

// envelopeError is what a request gets that lacks what each of its era must have.
func envelopeError(text string) *rpcError {
	e := invalidParams(text)
	e.status = http.StatusBadRequest
	return e
}

func unsupportedVersion(v string) *rpcError {
	data, _ := json.Marshal(mcp.UnsupportedProtocolVersionData{Supported: mcp.ValidProtocolVersions, Requested: v})
	return &rpcError{code: codeUnsupported, message: "Unsupported protocol version", data: data, status: http.StatusBadRequest}
}

// missingCapabilities is what a client gets that has not declared what lacks returned.
func missingCapabilities(missing []string) *rpcError {
	required := map[string]map[string]struct{}{}
	for _, c := range missing {
		c, part, parted := strings.Cut(c, ".")
		if required[c] == nil {
			required[c] = map[string]struct{}{}
		}
		if parted {
			required[c][part] = struct{}{}
		}
	}
	data, _ := json.Marshal(map[string]any{"requiredCapabilities": required})
	return &rpcError{code: codeMissingCapability, message: "the page asks for what this client has not declared", data: data, status: http.StatusBadRequest}
}

func toolError(format string, args ...any) *hub.Failure {
	return &hub.Failure{Code: spec.FailToolError, Message: fmt.Sprintf(format, args...)}
}

// rpcError returns the JSON-RPC error for err.
func (s *Server) rpcError(rq *request, err error) *rpcError {
	if e, ok := errors.AsType[*rpcError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*hub.UnknownError](err); ok {
		code, member := spec.CodeInvalidParams, "name"
		if e.Kind == spec.KindResource {
			member = "uri"
			if !rq.modern {
				code = codeResourceNotFound
			}
		}
		data, _ := json.Marshal(map[string]any{member: e.Name, "nearest": append([]string{}, e.Nearest...)})
		return &rpcError{code: code, message: e.Error(), data: data}
	}
	if f, ok := errors.AsType[*hub.Failure](err); ok {
		code := spec.CodeInternal
		if f.Code == spec.FailInvalidArguments {
			code = spec.CodeInvalidParams
		}
		data, _ := json.Marshal(map[string]spec.FailureCode{"code": f.Code})
		return &rpcError{code: code, message: f.Message, data: data}
	}
	if e, ok := errors.AsType[*spec.Error](err); ok {
		// Codes between are MCP's to define: a page's must not be taken for them.
		if e.Code >= -32099 && e.Code <= -32000 {
			return &rpcError{code: spec.CodeInternal, message: e.Message, data: e.Data}
		}
		return &rpcError{code: e.Code, message: e.Message, data: e.Data}
	}
	s.log.Error("request failed", "method", rq.method, "err", err)
	return &rpcError{code: spec.CodeInternal, message: "internal error"}
}
