package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/describe"
	"tabhub/hub/telemetry"
	"tabhub/spec"
)

// protocol answers what is about the connection and not about tabs: what is agreed on
// at its start, pings, the log level, and methods that there are not.
func (s *Server) protocol(rq *request) (frame, error) {
	method := mcp.MCPMethod(rq.method)
	switch method {
	case mcp.MethodInitialize, mcp.MethodPing, mcp.MethodSetLogLevel, mcp.MethodTasksList, "resources/subscribe", "resources/unsubscribe":
		if rq.modern {
			return frame{}, noMethod("%q was removed in protocol version %s", method, mcp.ProtocolVersion20260728)
		}
	case mcp.MethodServerDiscover, methodListen:
		if !rq.modern {
			return frame{}, noMethod("%q requires protocol version %s or later", method, mcp.ProtocolVersion20260728)
		}
	}
	switch method {
	case mcp.MethodInitialize:
		return s.initialize(rq)
	case mcp.MethodServerDiscover:
		c := s.capabilities()
		c.Extensions = map[string]any{extTasks: struct{}{}}
		return s.marshal(rq, mcp.DiscoverResult{
			SupportedVersions: mcp.ValidProtocolVersions,
			Capabilities:      c,
			Instructions:      s.opts.Instructions,
		}, uncached)
	case mcp.MethodPing:
		if e := rq.decode(new(mcp.PingRequest)); e != nil {
			return frame{}, e
		}
		return s.result(rq, json.RawMessage("{}"), ""), nil
	case mcp.MethodSetLogLevel:
		return s.setLevel(rq)
	case methodGetTask, methodUpdateTask, methodCancelTask:
		if rq.modern {
			return s.aboutTask(rq)
		}
		return frame{}, noMethod("tasks not supported")
	case mcp.MethodTasksList, mcp.MethodTasksResult:
		return frame{}, noMethod("tasks not supported")
	}
	return frame{}, noMethod("Method %s not found", method)
}

// decode reads the parameters of rq into a request of mcp-go.
func (rq *request) decode(to any) *rpcError {
	b := []byte("{}")
	if rq.params != nil {
		b = slices.Concat([]byte(`{"params":`), rq.params, []byte("}"))
	}
	if err := json.Unmarshal(b, to); err != nil {
		return invalidParams(fmt.Sprintf("unparsable %s request: %v", rq.method, err))
	}
	return nil
}

// marshal answers rq with a result of mcp-go; hints are as for result.
func (s *Server) marshal(rq *request, result any, hints string) (frame, error) {
	b, err := json.Marshal(result)
	if err != nil {
		return frame{}, &rpcError{code: spec.CodeInternal, message: err.Error()}
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

// maxCapabilities bounds what a client declares, in bytes: it is kept as long as the session, in
// memory and in the store.
const maxCapabilities = 8 << 10

// initialize agrees on a revision with a client of before 2026-07-28.
func (s *Server) initialize(rq *request) (frame, error) {
	var in mcp.InitializeRequest
	if e := rq.decode(&in); e != nil {
		return frame{}, e
	}
	if len(rq.get("capabilities")) > maxCapabilities {
		return frame{}, invalidParams(fmt.Sprintf("capabilities may be %d bytes", maxCapabilities))
	}
	wanted := in.Params.ProtocolVersion
	if rq.ses.transport == telemetry.SSE && rq.get("protocolVersion") == nil {
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
func (ses *session) agree(version string, rq *request) {
	name := rq.name("clientInfo", "name")
	clientVer, _ := rq.text("clientInfo", "version")
	ses.mu.Lock()
	begins := ses.version == "" && !ses.ended
	if begins {
		ses.agreed = time.Now()
	}
	ses.version, ses.client, ses.clientVer, ses.ready = version, name, describe.Clean(clientVer, maxVersion), false
	ses.capabilities = bytes.Clone(rq.get("capabilities"))
	ses.mu.Unlock()
	if begins {
		ses.srv.opts.Telemetry.BeginSession(ses.transport)
	}
	ses.srv.watchSession(ses, ses.info(), rq.caller(nil, nil))
}

// logLevels are the levels that MCP knows.
var logLevels = []mcp.LoggingLevel{
	mcp.LoggingLevelDebug, mcp.LoggingLevelInfo, mcp.LoggingLevelNotice, mcp.LoggingLevelWarning,
	mcp.LoggingLevelError, mcp.LoggingLevelCritical, mcp.LoggingLevelAlert, mcp.LoggingLevelEmergency,
}

func (s *Server) setLevel(rq *request) (frame, error) {
	var in mcp.SetLevelRequest
	if e := rq.decode(&in); e != nil {
		return frame{}, e
	}
	if !slices.Contains(logLevels, in.Params.Level) {
		return frame{}, invalidParams(fmt.Sprintf("invalid logging level '%s'", in.Params.Level))
	}
	rq.ses.mu.Lock()
	rq.ses.level = in.Params.Level
	rq.ses.mu.Unlock()
	rq.ses.save(nil)
	return s.result(rq, json.RawMessage("{}"), ""), nil
}
