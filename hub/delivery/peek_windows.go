package delivery

import (
	"errors"
	"net"
	"syscall"
)

// isReset reports whether what could not be read says that the client has left something unread.
func isReset(err error) bool { return errors.Is(err, syscall.WSAECONNRESET) }

// peek knows nothing: who reads is told.
func peek(net.Conn) (ended, reset bool) { return false, false }
