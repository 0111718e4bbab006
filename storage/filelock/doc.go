// Package filelock locks files between processes, and between openings of a file in one process.
package filelock

import "errors"

// ErrHeld says that a lock is held: by another process, or over another opening of the file.
var ErrHeld = errors.New("another process holds the lock")
