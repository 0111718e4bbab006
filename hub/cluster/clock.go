package cluster

import "time"

// instant is a moment by the clocks of this machine.
type instant struct {
	mono time.Duration // Go's; may stand still while the machine sleeps
	wall time.Duration // may be set
	boot time.Duration // neither, but costs a system call
}

var started = time.Now()

// quick reads the clocks that need no system call.
func quick() instant {
	now := time.Now()
	return instant{mono: now.Sub(started), wall: time.Duration(now.UnixNano())}
}

// now reads all clocks.
func now() *instant {
	i := quick()
	i.boot = bootClock()
	return &i
}

// tolerance is how far the wall clock and the monotonic one may drift apart within a lease. A
// shorter sleep goes unnoticed; the margin of the lease is several times as long.
const tolerance = 100 * time.Millisecond

// within reports whether less than d has passed since i, sleep included.
func (i *instant) within(d time.Duration) bool {
	now := quick()
	passed := now.mono - i.mono
	if passed >= d {
		return false
	}
	if off := now.wall - i.wall - passed; -tolerance < off && off < tolerance {
		return true // no sleep: after one, the system advances the wall clock with the boot clock
	}
	return i.bootWithin(d) // the machine has slept, or the wall clock was set
}
