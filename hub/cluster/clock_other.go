//go:build !linux

package cluster

import "time"

func bootClock() time.Duration { return 0 }

// bootWithin knows no clock that could tell a sleep from a wall clock that was set. The next
// renewal is less than a second away.
func (i *instant) bootWithin(time.Duration) bool { return false }
