// Package telemetry is what a hub reports of its work while it works, to be measured:
// what MCP clients ask for, the phases of each call, and how it ended.
//
// The package stores nothing. cmd/tabhub/internal/telemetry implements Observer
// for Prometheus. Observers get no arguments or results, and no names out of them.
//
// A client may say in the _meta of a request to which span of a trace it belongs (SEP-414). That
// travels in the context, and the page that is called gets it (Traceparent).
package telemetry
