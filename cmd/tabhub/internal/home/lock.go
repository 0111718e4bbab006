package home

import (
	"context"
	"errors"
	"fmt"
	"os"

	"tabhub/storage/filelock"
)

// ErrHeld says that another process holds a lock.
var ErrHeld = filelock.ErrHeld

// Lock is a lock between processes. The operating system frees it when its owner
// ends, however it ends.
type Lock struct{ f *os.File }

// TryLock takes the lock of that name, or returns ErrHeld.
func (d Dir) TryLock(name string) (*Lock, error) {
	f, err := d.openLock(name)
	if err != nil {
		return nil, err
	}
	if err := filelock.Lock(f, true, false); err != nil {
		f.Close()
		return nil, err
	}
	return &Lock{f}, nil
}

// Lock waits for the lock of that name until ctx is done.
func (d Dir) Lock(ctx context.Context, name string) (*Lock, error) {
	if l, err := d.TryLock(name); !errors.Is(err, ErrHeld) {
		return l, err
	}
	f, err := d.openLock(name)
	if err != nil {
		return nil, err
	}
	taken := make(chan error, 1)
	go func() { taken <- filelock.Lock(f, true, true) }()
	select {
	case err := <-taken:
		if err != nil {
			f.Close()
			return nil, err
		}
		return &Lock{f}, nil
	case <-ctx.Done():
		// The system call cannot be interrupted; what it takes is given back.
		go func() {
			<-taken
			f.Close()
		}()
		return nil, ctx.Err()
	}
}

// Held reports whether a process holds the lock of that name.
func (d Dir) Held(name string) bool {
	f, err := os.OpenFile(d.path(name), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(filelock.Lock(f, false, false), ErrHeld)
}

// Unlock frees the lock.
func (l *Lock) Unlock() { l.f.Close() }

func (d Dir) openLock(name string) (*os.File, error) {
	f, err := os.OpenFile(d.path(name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the data directory cannot be used (%w); pass another --data-dir", err)
	}
	return f, nil
}
