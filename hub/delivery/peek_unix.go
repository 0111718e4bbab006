//go:build unix

package delivery

import (
	"errors"
	"net"
	"syscall"
)

// isReset reports whether what could not be read says that the client has left something unread.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// peek looks at a connection. It does not block. Linux tells of TCP whenever it is asked, others
// tell of a reset once: here, or to who reads.
func peek(conn net.Conn) (now seen) {
	inner, ok := conn.(syscall.Conn)
	if !ok {
		return now
	}
	raw, err := inner.SyscallConn()
	if err != nil {
		return now
	}
	_ = raw.Control(func(fd uintptr) {
		if now, ok = peekTCP(int(fd)); ok {
			return
		}
		if code, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ERROR); err == nil && code != 0 {
			now.ended, now.reset = true, isReset(syscall.Errno(code))
			return
		}
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		now.ended, now.reset = n == 0 && err == nil, isReset(err)
	})
	return now
}
