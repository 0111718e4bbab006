package home

import "golang.org/x/sys/unix"

// peerUID returns the user of the process that connected, or that listens.
func peerUID(fd int) (int, error) {
	c, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(c.Uid), nil
}
