//go:build !linux

package natstest

import "net"

// hold finds a free port. It cannot reserve it.
func hold() (port int, free func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, err
	}
	return l.Addr().(*net.TCPAddr).Port, func() {}, l.Close()
}
