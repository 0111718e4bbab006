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

// peek reports whether nothing more can be read from a connection, and whether it was reset. It
// does not block. Linux says so of TCP whenever it is asked, others once: here, or to who reads.
func peek(conn net.Conn) (ended, reset bool) {
	inner, ok := conn.(syscall.Conn)
	if !ok {
		return false, false
	}
	raw, err := inner.SyscallConn()
	if err != nil {
		return false, false
	}
	_ = raw.Control(func(fd uintptr) {
		if ended, reset, ok = peekTCP(int(fd)); ok {
			return
		}
		if code, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ERROR); err == nil && code != 0 {
			ended, reset = true, isReset(syscall.Errno(code))
			return
		}
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		ended, reset = n == 0 && err == nil, isReset(err)
	})
	return ended, reset
}
