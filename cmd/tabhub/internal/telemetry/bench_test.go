package telemetry

import (
	"testing"
	"time"

	"tabhub/hub/telemetry"
	"tabhub/spec"
)

// What it adds to a call: all that a hub and an MCP server tell of one, which spec/docs/OPERATE.md
// has the numbers of.
func BenchmarkCall(b *testing.B) {
	o := New("1")
	b.ReportAllocs()
	for b.Loop() {
		r := &telemetry.Request{Method: "tools/call", Transport: telemetry.Stdio, Began: time.Now()}
		telemetry.Begin(o, telemetry.Decide).End("allow")
		telemetry.Begin(o, telemetry.Execute).End("ok")
		o.Called(spec.KindTool, "ok", time.Millisecond)
		o.EndRequest(r)
	}
}
