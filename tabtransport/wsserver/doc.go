// Package wsserver carries tabs over WebSockets. It accepts connections, learns
// from their first frames who they are, translates their dialect to the messages of
// package spec, and lets them take part in their user's transport.
//
// A connection (conn.go) has one goroutine that reads and owns all that concerns
// incoming frames, and one writer at a time (write.go). The dialects (dialect.go)
// are codecs without I/O: tabhub.v1 and the seed-only proxies that speak it without
// hello (tabhub.go), the port messages of the first MCP-B extension (port.go) and
// webmcp.v1 (webmcp.go). A server that relays the tools of others, webmcp-relay.v1,
// would be another kind of connection beside them: it registers nothing itself.
package wsserver
