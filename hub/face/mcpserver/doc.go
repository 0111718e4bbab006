// Package mcpserver serves a hub as an MCP server: over newline-delimited streams
// (stdio and /attach), over SSE as MCP 2024-11-05 has it (spec/PROTOCOL.md,
// "MCP over SSE"), and over Streamable HTTP, in every revision from 2024-11-05 to 2026-07-28.
//
// The package is about connections: it reads what comes in over one, finds or begins the session
// that it belongs to, and writes what goes out. Below it,
//
//   - methods answers the requests of a session, over whichever transport they came,
//   - jsonrpc reads and makes the messages and queues them for a connection,
//   - expose chooses which sites the lists show when not all fit.
//
// # What mcp-go does here and what it does not
//
// github.com/mark3labs/mcp-go knows the revisions: which there are, which one is agreed
// on, the methods, headers, members and parameters of each (its package mcp). What is
// about the connection and not about tabs is answered with its types (methods/handshake.go).
// Its package server is not used: it compiles the meta-schemas of JSON Schema whenever
// a program starts, for validation that hub/offer/schema does, and that is half of a start.
//
// mcp-go's transports are not used either. They lose notifications that are
// sent just before a result, show a call's progress to other calls, answer cancelled
// calls, let a foreign client cancel, drop what does not fit their channels, have no
// limit to a message and no deadline for a client that does not read; its stdio
// runs five calls at once. And they cost more, measured on two cores with tools that answer
// at once: a call over pipes 57 µs against 15, over HTTP 85 against 55, tools/list of 1,000
// tools 4.7 ms against 49 µs.
//
// # Event streams
//
// The event streams of a Streamable HTTP session outlast their connections: replay.go keeps
// their events for a while. What a connection cannot be written any more is for the one over which
// the client resumes the stream, at once or later. The goroutine that answers a POST only puts
// it there, and has that other connection's outbox write it.
//
// Before 2026-07-28 a client that disconnects does not cancel its requests; from then on it does.
package mcpserver
