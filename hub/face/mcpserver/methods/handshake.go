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
)

// discover serves server/discover.
func (s *Server) discover(_ context.Context, rq *Request) (jsonrpc.Frame, error) {
	can := s.capabilities()
	can["extensions"] = map[string]any{ExtTasks: struct{}{}}
	return s.introduce(rq, map[string]any{"supportedVersions": mcp.ValidProtocolVersions, "capabilities": can}, uncached), nil
}

func (s *Server) ping(_ context.Context, rq *Request) (jsonrpc.Frame, error) {
	return s.result(rq, json.RawMessage("{}"), ""), nil
}

// introduce answers rq with what the server says of itself; hints are as for result.
func (s *Server) introduce(rq *Request, result map[string]any, hints string) jsonrpc.Frame {
	if s.opts.Instructions != "" {
		result["instructions"] = s.opts.Instructions
	}
	b, _ := json.Marshal(result) // strings and booleans
	return s.result(rq, b, hints)
}

// capabilities are what this server can do, in each revision.
func (s *Server) capabilities() map[string]any {
	browser, changes := s.hub.Capabilities(), map[string]bool{"listChanged": true}
	c := map[string]any{
		"experimental": map[string]any{"browser": browser}, "logging": struct{}{}, "tools": changes, "prompts": changes,
		"resources": map[string]bool{"listChanged": true, "subscribe": true},
	}
	if browser.Completions { // a client asks for them from then on, whatever page is open
		c["completions"] = struct{}{}
	}
	return c
}

// MaxCapabilities bounds what a client declares, in bytes: a session holds it in memory and in
// the store.
const MaxCapabilities = 8 << 10

// initialize agrees on a revision with a client of before 2026-07-28.
func (s *Server) initialize(_ context.Context, rq *Request) (jsonrpc.Frame, error) {
	wanted, ok := rq.Text("protocolVersion")
	switch given := rq.get("protocolVersion"); {
	case given == nil && rq.ses.Transport == telemetry.SSE:
		wanted = mcp.ProtocolVersion20241105
	case given != nil && !ok && string(given) != "null":
		return jsonrpc.Frame{}, jsonrpc.InvalidParams("protocolVersion must be a string")
	}
	if len(rq.get("capabilities")) > MaxCapabilities {
		return jsonrpc.Frame{}, jsonrpc.InvalidParams(fmt.Sprintf("capabilities may be %d bytes", MaxCapabilities))
	}
	version := mcp.NegotiateLegacyVersion(wanted)
	rq.ses.agree(version, rq)
	return s.introduce(rq, map[string]any{
		"protocolVersion": version, "capabilities": s.capabilities(),
		"serverInfo": map[string]string{"name": s.opts.Name, "version": s.opts.Version},
	}, ""), nil
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
	name, _ := rq.Text("level")
	level := mcp.LoggingLevel(name)
	if !slices.Contains(logLevels, level) {
		return jsonrpc.Frame{}, jsonrpc.InvalidParams(fmt.Sprintf("invalid logging level '%s'", name))
	}
	rq.ses.mu.Lock()
	rq.ses.level = level
	rq.ses.mu.Unlock()
	rq.ses.saveChange()
	return s.result(rq, json.RawMessage("{}"), ""), nil
}
