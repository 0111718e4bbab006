package methods

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/describe"
	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/telemetry"
	"tabhub/spec"
)

// discover serves server/discover.
func (s *Server) discover(_ context.Context, rq *Request) (jsonrpc.Frame, error) {
	c := s.capabilities()
	c.Extensions = map[string]any{ExtTasks: struct{}{}}
	return s.marshal(rq, mcp.DiscoverResult{
		SupportedVersions: mcp.ValidProtocolVersions,
		Capabilities:      c,
		Instructions:      s.opts.Instructions,
	}, uncached)
}

func (s *Server) ping(_ context.Context, rq *Request) (jsonrpc.Frame, error) {
	if e := rq.decode(new(mcp.PingRequest)); e != nil {
		return jsonrpc.Frame{}, e
	}
	return s.result(rq, json.RawMessage("{}"), ""), nil
}

// decode reads the parameters of rq into a request of mcp-go.
func (rq *Request) decode(to any) *jsonrpc.Error {
	b := []byte("{}")
	if rq.Params != nil {
		b = slices.Concat([]byte(`{"params":`), rq.Params, []byte("}"))
	}
	if err := json.Unmarshal(b, to); err != nil {
		return jsonrpc.InvalidParams(fmt.Sprintf("unparsable %s request: %v", rq.Method, err))
	}
	return nil
}

// marshal answers rq with a result of mcp-go; hints are as for result.
func (s *Server) marshal(rq *Request, result any, hints string) (jsonrpc.Frame, error) {
	b, err := json.Marshal(result)
	if err != nil {
		return jsonrpc.Frame{}, &jsonrpc.Error{Code: spec.CodeInternal, Message: err.Error()}
	}
	return s.result(rq, b, hints), nil
}

// capabilities are what this server can do, in each revision.
func (s *Server) capabilities() mcp.ServerCapabilities {
	browser := s.hub.Capabilities()
	c := mcp.ServerCapabilities{
		Experimental: map[string]any{"browser": browser},
		Logging:      &struct{}{},
	}
	if browser.Completions { // a client asks for them from then on, whatever page is open
		c.Completions = &struct{}{}
	}
	setNew(&c.Tools).ListChanged = true
	setNew(&c.Prompts).ListChanged = true
	r := setNew(&c.Resources)
	r.Subscribe, r.ListChanged = true, true
	return c
}

// setNew points *p, whose type has no name, to a new value.
func setNew[T any](p **T) *T {
	*p = new(T)
	return *p
}

// MaxCapabilities bounds what a client declares, in bytes: a session holds it in memory and in
// the store.
const MaxCapabilities = 8 << 10

// initialize agrees on a revision with a client of before 2026-07-28.
func (s *Server) initialize(_ context.Context, rq *Request) (jsonrpc.Frame, error) {
	var in mcp.InitializeRequest
	if e := rq.decode(&in); e != nil {
		return jsonrpc.Frame{}, e
	}
	if len(rq.get("capabilities")) > MaxCapabilities {
		return jsonrpc.Frame{}, jsonrpc.InvalidParams(fmt.Sprintf("capabilities may be %d bytes", MaxCapabilities))
	}
	wanted := in.Params.ProtocolVersion
	if rq.ses.Transport == telemetry.SSE && rq.get("protocolVersion") == nil {
		wanted = mcp.ProtocolVersion20241105
	}
	version := mcp.NegotiateLegacyVersion(wanted)
	rq.ses.agree(version, rq)
	return s.marshal(rq, mcp.InitializeResult{
		ProtocolVersion: version,
		Capabilities:    s.capabilities(),
		ServerInfo:      mcp.Implementation{Name: s.opts.Name, Version: s.opts.Version},
		Instructions:    s.opts.Instructions,
	}, "")
}

// agree notes what initialize has settled.
func (ses *Session) agree(version string, rq *Request) {
	name := rq.name("clientInfo", "name")
	clientVer, _ := rq.Text("clientInfo", "version")
	ses.mu.Lock()
	begins := ses.version == "" && !ses.ended
	if begins {
		ses.agreed = time.Now()
	}
	ses.version, ses.client, ses.clientVer, ses.ready = version, name, describe.Clean(clientVer, MaxVersion), false
	ses.capabilities = bytes.Clone(rq.get("capabilities"))
	ses.mu.Unlock()
	if begins {
		ses.srv.opts.Telemetry.BeginSession(ses.Transport)
	}
	ses.srv.watchSession(ses, ses.info(), rq.caller(nil, nil))
}

// logLevels are the levels that MCP knows.
var logLevels = []mcp.LoggingLevel{
	mcp.LoggingLevelDebug, mcp.LoggingLevelInfo, mcp.LoggingLevelNotice, mcp.LoggingLevelWarning,
	mcp.LoggingLevelError, mcp.LoggingLevelCritical, mcp.LoggingLevelAlert, mcp.LoggingLevelEmergency,
}

func (s *Server) setLevel(_ context.Context, rq *Request) (jsonrpc.Frame, error) {
	var in mcp.SetLevelRequest
	if e := rq.decode(&in); e != nil {
		return jsonrpc.Frame{}, e
	}
	if !slices.Contains(logLevels, in.Params.Level) {
		return jsonrpc.Frame{}, jsonrpc.InvalidParams(fmt.Sprintf("invalid logging level '%s'", in.Params.Level))
	}
	rq.ses.mu.Lock()
	rq.ses.level = in.Params.Level
	rq.ses.mu.Unlock()
	rq.ses.changedSaved()
	return s.result(rq, json.RawMessage("{}"), ""), nil
}
