// Package telemetry counts what a hub process does for Prometheus, which reads it at /metrics.
//
// A Telemetry is the telemetry.Observer of all hubs and MCP servers of a process; it costs less
// than a microsecond a call. spec/docs/OPERATE.md lists what is measured; the tests compare.
//
// No label is a user's name, or one that a page or a client has chosen: the series stay few, and do
// not show where users have been.
package telemetry
