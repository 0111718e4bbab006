//go:build !linux

package home

import "fmt"

// withAddress calls f with the address of a socket in the directory.
func (d Dir) withAddress(name string, f func(addr string) error) error {
	path := d.path(name)
	if len(path) > maxAddress {
		return fmt.Errorf("%w: %s has more than %d bytes; pass a shorter --data-dir", errTooLong, path, maxAddress)
	}
	return f(path)
}
