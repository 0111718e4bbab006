// Package telemetry measures and traces a hub process: for Prometheus, which reads what was
// counted at /metrics, and with OpenTelemetry, which sends to a collector.
//
// A Telemetry is the telemetry.Observer of all hubs and MCP servers of a process. It always
// counts for Prometheus, which costs less than a microsecond a call. It has OpenTelemetry's
// SDK only if the environment asks for that, see fromEnv. spec/docs/METRICS.md lists what is
// measured; the tests compare.
//
// No label is a name that a page or a client has chosen, or a user's: there are few series,
// whoever uses the hub, and they tell no one where its users have been. Spans do name tools.
//
// Traces and metrics are sent over OTLP/HTTP by otlp.go, which is OpenTelemetry's own exporter
// but for the transport: theirs links gRPC, and all of that is initialised in each bridge and
// each command as well, which makes them start a tenth later.
package telemetry
