package delivery

import "golang.org/x/sys/unix"

// States of a TCP connection: the client has closed it, or nobody can read or write any more.
const (
	tcpClose     = 7
	tcpCloseWait = 8
)

// peekTCP is peek for a TCP connection, of which ok reports whether it is one.
func peekTCP(fd int) (ended, reset, ok bool) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return false, false, false
	}
	return info.State == tcpClose || info.State == tcpCloseWait, info.State == tcpClose, true
}
