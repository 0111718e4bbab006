// Package telemetry is what a hub tells of its work, while it does it, to whoever measures it
// or traces it: what MCP clients ask for, the phases of each call, and how it ended.
//
// It knows of no way to keep or to send what it is told. Those who do implement Observer:
// cmd/tabhub/internal/telemetry does, with Prometheus and OpenTelemetry. The names in a
// Request come from clients and pages; arguments and results are never told.
//
// A client may say in the _meta of a request to which trace it belongs (SEP-414). That is its
// Parent, which travels in the context, and the call's page is told of the span to go on from
// (Observer.Traceparent).
package telemetry
