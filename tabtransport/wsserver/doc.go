// Package wsserver carries tabs over WebSockets. It learns from the first frames of a
// connection which peer has opened it, translates its dialect to the messages of package spec,
// and attaches it to its user's transport. How frames are read and written is for package
// wsconn.
//
// A conn (conn.go, frames.go, send.go) belongs to the goroutine that reads it. What its
// transport sends goes into its queue. Registrations that take long to read have a
// goroutine while there are any (registrar.go, budget.go), so that calls do not wait for
// them. The dialects (dialect.go) are codecs without I/O: tabhub.v1 and the MCP-B proxies
// that speak it without hello (tabhub.go), the port messages of the first MCP-B extension
// (port.go) and webmcp.v1 (webmcp.go).
package wsserver
