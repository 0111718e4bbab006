package natstest

import (
	"fmt"
	"syscall"
)

// hold reserves a port for a server until free is called: Linux lets a socket listen on a port to
// which another is only bound, if both have SO_REUSEADDR, and does not assign such a port.
func hold() (port int, free func(), err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, fmt.Errorf("hold a port: %w", err)
	}
	free = func() { syscall.Close(fd) }
	err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err == nil {
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	var addr syscall.Sockaddr
	if err == nil {
		addr, err = syscall.Getsockname(fd)
	}
	if err != nil {
		free()
		return 0, nil, fmt.Errorf("hold a port: %w", err)
	}
	return addr.(*syscall.SockaddrInet4).Port, free, nil
}
