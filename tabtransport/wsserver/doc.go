// Package wsserver carries tabs over WebSockets. It accepts connections, learns
// from their first frames who they are, translates their dialect to the messages of
// package spec, and lets them take part in their user's transport.
//
// A connection (conn.go) has one goroutine that reads and owns all that concerns
// incoming frames, and one writer at a time (write.go, stream.go). Registrations that
// take long to read have a goroutine while there are any (registrar.go, budget.go), so
// that calls do not wait for them. The dialects
// (dialect.go) are codecs without I/O: tabhub.v1 and the MCP-B proxies that speak
// it without hello (tabhub.go), the port messages of the first MCP-B extension
// (port.go) and webmcp.v1 (webmcp.go).
//
// A webmcp-relay.v1 client (client.go, clientwire.go) is another kind of connection:
// a relay that has found this hub on its port, and lists and calls the hub's tools.
package wsserver
