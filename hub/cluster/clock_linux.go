package cluster

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bootClock returns the time since the machine was started, sleep included. It is asked for at
// each call, so it is the system call and nothing else.
func bootClock() time.Duration {
	var t unix.Timespec
	if _, _, err := syscall.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_BOOTTIME, uintptr(unsafe.Pointer(&t)), 0); err != 0 {
		panic("clock_gettime(CLOCK_BOOTTIME): " + err.Error()) // Linux has it since 2.6.39
	}
	return time.Duration(t.Nano())
}
