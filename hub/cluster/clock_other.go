//go:build !linux

package cluster

import "time"

var started = time.Now()

// bootClock returns the time since the program started. It stands still while the machine
// sleeps: a node that has slept finds out at its next renewal.
func bootClock() time.Duration { return time.Since(started) }
