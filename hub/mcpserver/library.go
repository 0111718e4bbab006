package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// library is mcp-go: it answers whatever is not on the way of a call. It is given a
// request of our own making, with an id of our own, and its answer's result or
// error goes out under the client's id, so that ids keep their type and digits.
type library struct {
	mcp *server.MCPServer
}

func newLibrary(s *Server) *library {
	browser := func() map[string]any { return map[string]any{"browser": s.hub.Capabilities()} }
	hooks := &server.Hooks{}
	hooks.AddAfterInitialize(func(_ context.Context, _ any, _ *mcp.InitializeRequest, r *mcp.InitializeResult) {
		r.Capabilities.Experimental = browser()
	})
	hooks.AddAfterDiscover(func(_ context.Context, _ any, _ *mcp.DiscoverRequest, r *mcp.DiscoverResult) {
		r.Capabilities.Experimental = browser()
	})
	return &library{server.NewMCPServer(s.opts.Name, s.opts.Version,
		server.WithToolCapabilities(true),
		server.WithResourceCapabilities(true, true),
		server.WithPromptCapabilities(true),
		server.WithLogging(),
		server.WithCompletions(),
		server.WithInstructions(s.opts.Instructions),
		server.WithHooks(hooks),
	)}
}

// answer lets mcp-go answer rq.
func (l *library) answer(ctx context.Context, rq *request) (frame, *rpcError) {
	b := []byte(`{"jsonrpc":"2.0","id":1,"method":`)
	b = rawjson.AppendString(b, rq.method)
	params := rq.params
	if rq.method == "initialize" && rq.ses.sse && rq.get("protocolVersion") == nil {
		params = withMember(params, `"protocolVersion":"`+mcp.ProtocolVersion20241105+`"`)
	}
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	b = append(b, '}')
	ctx = l.mcp.WithContext(ctx, (*librarySession)(rq.ses))
	switch r := l.mcp.HandleMessage(ctx, b).(type) {
	case mcp.JSONRPCResponse:
		body, err := json.Marshal(r.Result)
		if err != nil {
			return frame{}, &rpcError{code: spec.CodeInternal, message: err.Error()}
		}
		if r, ok := r.Result.(mcp.InitializeResult); ok {
			rq.ses.agree(r.ProtocolVersion, rq)
		}
		return resultFrame(rq.id, "", body), nil
	case mcp.JSONRPCError:
		e := &rpcError{code: r.Error.Code, message: r.Error.Message}
		if r.Error.Data != nil {
			e.data, _ = json.Marshal(r.Error.Data)
		}
		switch e.code {
		case spec.CodeInvalidRequest: // the envelope is ours, so it is the parameters
			e.code = spec.CodeInvalidParams
		case spec.CodeMethodNotFound:
			e.status = http.StatusNotFound
		case codeUnsupported:
			e.status = http.StatusBadRequest
		}
		return frame{}, e
	}
	return frame{}, &rpcError{code: spec.CodeInternal, message: "no answer"}
}

// withMember returns the object params, or an empty one, with a member put first.
func withMember(params json.RawMessage, member string) json.RawMessage {
	rest := orEmpty(params)[1:]
	if firstByte(rest) != '}' {
		member += ","
	}
	return append([]byte("{"+member), rest...)
}

func orEmpty(object json.RawMessage) json.RawMessage {
	if object == nil {
		return json.RawMessage("{}")
	}
	return object
}

// agree notes what initialize has settled.
func (ses *session) agree(version string, rq *request) {
	name, _ := rq.text("clientInfo", "name")
	ses.mu.Lock()
	ses.version, ses.client, ses.ready = version, name, false
	ses.capabilities = bytes.Clone(rq.get("capabilities"))
	ses.mu.Unlock()
	ses.srv.watchSession(ses)
}

// librarySession is a session as mcp-go wants it: it only keeps the log level.
type librarySession session

func (s *librarySession) Initialize()                                         {}
func (s *librarySession) Initialized() bool                                   { return true }
func (s *librarySession) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }
func (s *librarySession) SessionID() string                                   { return s.id }

func (s *librarySession) SetLogLevel(level mcp.LoggingLevel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = level
}

func (s *librarySession) GetLogLevel() mcp.LoggingLevel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.level
}
