package delivery

import "golang.org/x/sys/unix"

// States of a TCP connection: the client has closed it, or nobody can read or write any more.
const (
	tcpClose     = 7
	tcpCloseWait = 8
)

// peekTCP is peek for a TCP connection, of which ok reports whether it is one.
func peekTCP(fd int) (now seen, ok bool) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err == nil && info.State != tcpClose {
		// Linux reads the state before it waits for a write under way, and puts off until then what
		// has come in meanwhile. Asked once more, it tells the state from afterwards.
		info, err = unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	}
	if err != nil {
		return now, false
	}
	return seen{
		ended: info.State == tcpClose || info.State == tcpCloseWait,
		reset: info.State == tcpClose,
		// What is not Linux but says so may count nothing: a client has sent its request.
		counts: info.Bytes_received > 0, acked: info.Bytes_acked,
	}, true
}
