package cluster

import (
	"testing"
	"time"
)

// Each call asks whether the lease is held, so it must cost next to nothing.
func BenchmarkHeld(b *testing.B) {
	l := Lease{hold: time.Hour}
	l.grant(now())
	for b.Loop() {
		if !l.Held() {
			b.Fatal("not held")
		}
	}
}
