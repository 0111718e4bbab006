package home

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// withAddress calls f with an address of a socket in the directory, which is good until
// f returns. Where the path is too long for an address, it leads through a descriptor
// of the directory.
func (d Dir) withAddress(name string, f func(addr string) error) error {
	if path := d.path(name); len(path) <= maxAddress {
		return f(path)
	}
	fd, err := unix.Open(string(d), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", d, err)
	}
	defer unix.Close(fd)
	return f(fmt.Sprintf("/proc/self/fd/%d/%s", fd, name))
}
