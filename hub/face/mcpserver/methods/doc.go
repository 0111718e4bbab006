// Package methods answers the requests of MCP clients on behalf of a hub: what initialize,
// tools/list, tools/call, subscriptions/listen and the others do, in each revision of MCP.
// It does not know how a message travels: package mcpserver gives it sessions, messages and the
// outbox of the connection on which each is answered.
//
// A Session is one client: a stream, an SSE connection, a Streamable HTTP session, or
// a single request of revision 2026-07-28, which has no sessions. It holds what the client has
// declared, what it follows, and the changes that it has not been notified of yet. The requests in
// flight are in the hub's ledger.
//
// Lists, calls, resources, prompts and subscriptions are answered from bytes:
// ids, progress tokens, arguments, schemas and results are slices of what came in,
// spliced into what goes out. mcp-go's types would drop members they do not know and
// lose digits, and its lists are encoded anew each time.
//
// A request that may have to wait for a page counts against its session's limit, and only
// its own client can cancel it. A request that was cancelled gets no answer. A request with the id
// of an earlier one in the same session is the same call (call.go, package ledger).
package methods
