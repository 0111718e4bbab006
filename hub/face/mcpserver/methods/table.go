package methods

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/hub/face/mcpserver/jsonrpc"
)

// method is a method of MCP that a client may call.
type method struct {
	revisions
	// waits says that answering may have to wait for a page: such a request is begun in the ledger.
	waits bool
	// subject is the member of the parameters that says what is asked for; "" if there is none.
	subject string
	serve   func(*Server, context.Context, *Request) (jsonrpc.Frame, error)
}

// revisions says which revisions have a method.
type revisions int

const (
	always revisions = iota
	before           // 2026-07-28
	since            // 2026-07-28
)

const (
	// MethodListen is the method by which a client of 2026-07-28 is notified of changes.
	MethodListen = "subscriptions/listen"

	methodCall       = "tools/call"
	methodInitialize = "initialize"
)

// table has each method by name.
var table = map[string]*method{
	methodInitialize:      {revisions: before, serve: (*Server).initialize},
	"server/discover":     {revisions: since, serve: (*Server).discover},
	"ping":                {revisions: before, serve: (*Server).ping},
	"logging/setLevel":    {revisions: before, serve: (*Server).setLevel},
	MethodListen:          {revisions: since, waits: true, serve: (*Server).listen},
	"tools/list":          {serve: (*Server).list},
	"resources/list":      {serve: (*Server).list},
	"prompts/list":        {serve: (*Server).list},
	methodCall:            {waits: true, subject: "name", serve: (*Server).call},
	"resources/read":      {waits: true, subject: "uri", serve: (*Server).read},
	"prompts/get":         {waits: true, subject: "name", serve: (*Server).prompt},
	"completion/complete": {waits: true, serve: (*Server).complete},
	"resources/subscribe": {revisions: before, waits: true, serve: (*Server).subscribe},
	"tasks/get":           {subject: "taskId", serve: (*Server).aboutTask},
	"tasks/update":        {subject: "taskId", serve: (*Server).aboutTask},
	"tasks/cancel":        {subject: "taskId", serve: (*Server).aboutTask},
	"tasks/list":          {revisions: before, serve: noTasks},
	"tasks/result":        {serve: noTasks},
	// Some clients send this notification as a request (spec/PROTOCOL.md, "MCP over SSE").
	"initialized": {serve: (*Server).initialized},

	"resources/templates/list": {serve: (*Server).list},
	"resources/unsubscribe":    {revisions: before, waits: true, serve: (*Server).unsubscribe},
}

// method returns the method of rq, or why there is none in its revision.
func (rq *Request) method() (*method, error) {
	m := table[rq.Method]
	switch {
	case m == nil, rq.Method == "initialized" && rq.Modern:
		return nil, jsonrpc.NoMethod("Method %s not found", rq.Method)
	case m.revisions == before && rq.Modern:
		return nil, jsonrpc.NoMethod("%q was removed in protocol version %s", rq.Method, mcp.ProtocolVersion20260728)
	case m.revisions == since && !rq.Modern:
		return nil, jsonrpc.NoMethod("%q requires protocol version %s or later", rq.Method, mcp.ProtocolVersion20260728)
	}
	return m, nil
}

// subject returns the member of the parameters of a method that says what is asked for.
func subject(method string) string {
	if m := table[method]; m != nil {
		return m.subject
	}
	return ""
}

func noTasks(*Server, context.Context, *Request) (jsonrpc.Frame, error) {
	return jsonrpc.Frame{}, jsonrpc.NoMethod("tasks not supported")
}

func (s *Server) initialized(_ context.Context, rq *Request) (jsonrpc.Frame, error) {
	return jsonrpc.Result(rq.ID, "", json.RawMessage("{}")), nil
}
