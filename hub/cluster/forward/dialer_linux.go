package forward

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// control has the connections of a dialer break off when nothing is acknowledged for so long.
func control(timeout time.Duration) func(network, address string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			// A connection that cannot have it is better than none.
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(timeout.Milliseconds()))
		})
	}
}
