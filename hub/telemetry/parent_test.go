package telemetry

import (
	"strings"
	"testing"
)

// What a client says is put into headers of others' traces: nothing passes but a traceparent.
func TestParseParent(t *testing.T) {
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	const good = "00-" + trace + "-" + span + "-01"
	for said, want := range map[string]bool{
		good: true, "00-" + trace + "-" + span + "-00": true, "00-" + trace + "-" + span + "-ff": true,
		"": false, good[1:]: false, good + "0": false, good + "-x": false, "ff" + good[2:]: false, "01" + good[2:]: false,
		strings.ToUpper(good): false, strings.Replace(good, "-", "_", 1): false, good[:35] + "0" + good[36:]: false, good[:53] + "\"}": false,
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01": false, "00-" + trace + "-" + strings.Repeat("0", 16) + "-01": false,
	} {
		if p, ok := ParseParent(said, "a=1"); ok != want || ok != (p == Parent{said, "a=1"}) {
			t.Errorf("%q: %+v, %v", said, p, ok)
		}
	}
	if p, ok := ParseParent(good, strings.Repeat("a", 513)); !ok || p.Tracestate != "" {
		t.Errorf("a long tracestate: %+v, %v", p, ok)
	}
}
