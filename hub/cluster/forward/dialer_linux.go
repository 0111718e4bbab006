package forward

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// control makes a dialer's connections break off when sent data stays unacknowledged for timeout.
func control(timeout time.Duration) func(network, address string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			// A connection without the option is better than none.
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(timeout.Milliseconds()))
		})
	}
}
