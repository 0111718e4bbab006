// Package mcpserver serves a hub as an MCP server: over newline-delimited streams
// (stdio and /attach), over SSE as MCP 2024-11-05 has it (spec/docs/RULES.md,
// "MCP over SSE"), and over Streamable HTTP, in every revision from 2024-11-05 to 2026-07-28.
//
// # What mcp-go does here and what it does not
//
// github.com/mark3labs/mcp-go knows the revisions: which there are, which one is agreed
// on, the methods, headers, members and parameters of each (its package mcp). What is
// about the connection and not about tabs is answered with its types (handshake.go).
// Its package server is not used: it compiles the meta-schemas of JSON Schema whenever
// a program starts, for validation that hub/offer/schema does, and that is half of a start.
//
// Lists, calls, resources, prompts and subscriptions are answered here, from bytes:
// ids, progress tokens, arguments, schemas and results are slices of what came in,
// spliced into what goes out. mcp-go's types would drop members they do not know and
// lose digits, and its lists are encoded anew each time.
//
// The transports are this package's own, too. mcp-go's lose notifications that are
// sent just before a result, show a call's progress to other calls, answer cancelled
// calls, let a foreign client cancel, drop what does not fit their channels, have no
// limit to a message and no deadline for a client that does not read; its stdio
// runs five calls at once. And they cost more, measured on two cores with tools that answer
// at once: a call over pipes 57 µs against 15, over HTTP 85 against 55, tools/list of 1,000
// tools 4.7 ms against 49 µs.
//
// # How it works
//
// A session is one client: a stream, an SSE connection, a Streamable HTTP session, or
// a single request of revision 2026-07-28, which has no sessions. It holds the requests
// under way, what the client follows, and the changes that it has not been told yet.
//
// Each connection has an outbox: a queue of frames and at most one writer. Whoever queues
// an answer while nobody writes becomes the writer, until the queue is empty; progress and
// changes, whose senders must not wait, start a goroutine for that. Answers follow the
// progress of their calls. Changes of the hub are not queued: they are flags, turned into
// notifications when the connection is free, so a client that is slow, or has no stream
// open, is told once. Progress beyond a bound replaces earlier progress of its call.
// Answers are never dropped: when too many wait, no further request is read from the
// client.
//
// The event streams of a Streamable HTTP session are more than their connections: replay.go keeps
// their events for a while. What a connection cannot be written any more is for the one over which
// the client goes on with the stream, at once or later. The goroutine that answers a POST only puts
// it there, and has that other connection's outbox write it.
//
// A request that may have to wait for a page counts against its session's limit, and only
// its own client can cancel it. A request that was cancelled gets no answer. Before
// 2026-07-28 a client that leaves does not cancel; from then on it does. A request with the id of
// one before it in the same session is the same call (calls.go, package ledger).
package mcpserver
