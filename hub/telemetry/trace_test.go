package telemetry

import (
	"strings"
	"testing"
)

// What a client says is put into headers of others' traces: nothing passes but a traceparent.
func TestTraceparent(t *testing.T) {
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	const good = "00-" + trace + "-" + span + "-01"
	for said, want := range map[string]bool{
		good: true, "00-" + trace + "-" + span + "-00": true, "00-" + trace + "-" + span + "-ff": true,
		"": false, good[1:]: false, good + "0": false, good + "-x": false, "ff" + good[2:]: false, "01" + good[2:]: false,
		strings.ToUpper(good): false, strings.Replace(good, "-", "_", 1): false, good[:35] + "0" + good[36:]: false, good[:53] + "\"}": false,
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01": false, "00-" + trace + "-" + strings.Repeat("0", 16) + "-01": false,
	} {
		if got := Traceparent(WithTraceparent(t.Context(), said)); got != said && want || got != "" && !want {
			t.Errorf("of %q the page is told %q", said, got)
		}
	}
}
