//go:build unix

package bridge

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// detach puts the process out of reach of the terminal and of signals to this
// process's group.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// parentCheck is how often WatchParent looks.
const parentCheck = time.Second

var errParentGone = errors.New("the parent process has ended")

// WatchParent ends the context when the process that started this one has ended
// without closing its pipes, as one that is killed while a third process holds them.
func WatchParent(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	parent := os.Getppid()
	if parent == 1 {
		return ctx, func() { cancel(nil) } // started by init, or already an orphan
	}
	go func() {
		tick := time.NewTicker(parentCheck)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if os.Getppid() != parent {
					cancel(errParentGone)
					return
				}
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}
