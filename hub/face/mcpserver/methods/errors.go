package methods

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/hub/core"
	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/lists"
	"tabhub/spec"
)

// Codes of MCP beside those of JSON-RPC, which spec has.
const (
	codeResourceNotFound = -32002 // until 2025-11-25
	// From 2026-07-28 on.
	codeHeaderMismatch    = -32020
	codeMissingCapability = -32021
	codeUnsupported       = -32022
)

// envelopeError is what a request gets that lacks what each of its era must have.
func envelopeError(text string) *jsonrpc.Error {
	e := jsonrpc.InvalidParams(text)
	e.Status = http.StatusBadRequest
	return e
}

func UnsupportedVersion(v string) *jsonrpc.Error {
	data, _ := json.Marshal(mcp.UnsupportedProtocolVersionData{Supported: mcp.ValidProtocolVersions, Requested: v})
	return &jsonrpc.Error{Code: codeUnsupported, Message: "Unsupported protocol version", Data: data, Status: http.StatusBadRequest}
}

// missingCapabilities is the error for a client that has not declared capabilities that it needs.
func missingCapabilities(what string, missing ...string) *jsonrpc.Error {
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
	return &jsonrpc.Error{Code: codeMissingCapability, Message: what + " what this client has not declared", Data: data, Status: http.StatusBadRequest}
}

func toolError(format string, args ...any) *core.Failure {
	return &core.Failure{Code: spec.FailToolError, Message: fmt.Sprintf(format, args...)}
}

// rpcError returns the JSON-RPC error for err.
func (s *Server) rpcError(rq *Request, err error) *jsonrpc.Error {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*lists.UnknownError](err); ok {
		code, member := spec.CodeInvalidParams, "name"
		if e.Kind == spec.KindResource {
			member = "uri"
			if !rq.Modern {
				code = codeResourceNotFound
			}
		}
		data, _ := json.Marshal(map[string]any{member: e.Name, "nearest": append([]string{}, e.Nearest...)})
		return &jsonrpc.Error{Code: code, Message: e.Error(), Data: data}
	}
	if f, ok := errors.AsType[*core.Failure](err); ok {
		code := spec.CodeInternal
		if f.Code == spec.FailInvalidArguments {
			code = spec.CodeInvalidParams
		}
		data, _ := json.Marshal(map[string]spec.FailureCode{"code": f.Code})
		return &jsonrpc.Error{Code: code, Message: f.Message, Data: data}
	}
	if e, ok := errors.AsType[*spec.Error](err); ok {
		// Codes between are MCP's to define: a page's must not be taken for them.
		if e.Code >= -32099 && e.Code <= -32000 {
			return &jsonrpc.Error{Code: spec.CodeInternal, Message: e.Message, Data: e.Data}
		}
		return &jsonrpc.Error{Code: e.Code, Message: e.Message, Data: e.Data}
	}
	s.log.Error("request failed", "method", rq.Method, "err", err)
	return &jsonrpc.Error{Code: spec.CodeInternal, Message: "internal error"}
}
