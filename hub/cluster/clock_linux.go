package cluster

import (
	"time"

	"golang.org/x/sys/unix"
)

func bootClock() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic("CLOCK_BOOTTIME: " + err.Error()) // Linux has it since 2.6.39
	}
	return time.Duration(t.Nano())
}

func (i *instant) bootWithin(d time.Duration) bool { return bootClock()-i.boot < d }
