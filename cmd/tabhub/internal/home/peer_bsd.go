//go:build darwin || freebsd

package home

import "golang.org/x/sys/unix"

// peerUID returns the user of the process that connected, or that listens.
func peerUID(fd int) (int, error) {
	const solLocal = 0 // SOL_LOCAL
	c, err := unix.GetsockoptXucred(fd, solLocal, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(c.Uid), nil
}
