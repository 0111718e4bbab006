//go:build unix

package home

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"tabhub/storage/filelock"
)

// CanHandOver says whether HandOver works on this system.
const CanHandOver = true

// lockEnv tells the program that takes a process's place which file holds the lock:
// PID:DESCRIPTOR. In another process it means nothing.
const lockEnv = "TABHUB_HELD_LOCK"

// HandOver runs a program in place of this process. The process keeps its ID, its terminal
// and the lock, which the program takes up with Inherited: nobody else gets it meanwhile. It
// returns only if that fails.
func (l *Lock) HandOver(program string, args []string) error {
	syscall.ForkLock.RLock() // no other program that is started meanwhile gets the lock
	defer syscall.ForkLock.RUnlock()
	if _, err := unix.FcntlInt(l.f.Fd(), unix.F_SETFD, 0); err != nil {
		return err
	}
	held := fmt.Sprintf("%s=%d:%d", lockEnv, os.Getpid(), l.f.Fd())
	return fmt.Errorf("%s cannot be run: %w", program, syscall.Exec(program, args, append(os.Environ(), held)))
}

// Inherited returns the lock of that name if the program that ran in this process before has
// handed it over, or nil.
func (d Dir) Inherited(name string) *Lock {
	var pid, fd int
	n, _ := fmt.Sscanf(os.Getenv(lockEnv), "%d:%d", &pid, &fd)
	os.Unsetenv(lockEnv)
	if n != 2 || pid != os.Getpid() || fd < 3 {
		return nil
	}
	f := os.NewFile(uintptr(fd), d.path(name))
	if f == nil {
		return nil
	}
	unix.CloseOnExec(fd)
	held, err := f.Stat()
	file, e := os.Stat(d.path(name))
	if err != nil || e != nil || !os.SameFile(held, file) || filelock.Lock(f, true, false) != nil {
		f.Close()
		return nil
	}
	return &Lock{f}
}
