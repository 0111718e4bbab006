package bridge

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach puts the process out of reach of the console and of what happens to this
// process's group.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP,
	}
}

var errParentGone = errors.New("the parent process has ended")

// WatchParent ends the context when the process that started this one has ended.
func WatchParent(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	parent, err := os.FindProcess(os.Getppid())
	if err != nil {
		return ctx, func() { cancel(nil) }
	}
	go func() {
		if _, err := parent.Wait(); err == nil {
			cancel(errParentGone)
		}
	}()
	return ctx, func() { cancel(nil) }
}
