package cluster

import "time"

// instant is a moment by the clocks of this machine: Go's monotonic one, which may stand still
// while the machine sleeps, the wall clock, which may be set, and the boot clock, which does
// neither, but costs a system call.
type instant struct {
	time time.Time
	boot time.Duration
}

func now() *instant { return &instant{time.Now(), bootClock()} }

// tolerance is by how much the wall clock may run differently from the monotonic one within a
// lease. A shorter sleep goes unnoticed; the margin of the lease is several times as long.
const tolerance = 100 * time.Millisecond

// within reports whether less than d has passed since i, sleep included.
func (i *instant) within(d time.Duration) bool {
	now := time.Now()
	passed := now.Sub(i.time)
	wall := time.Duration(now.UnixNano() - i.time.UnixNano())
	if passed >= d {
		return false
	}
	if off := wall - passed; -tolerance < off && off < tolerance {
		return true // on waking, the system adds the same to the wall clock and to the boot clock
	}
	return i.bootWithin(d) // the machine has slept, or the wall clock was set
}
