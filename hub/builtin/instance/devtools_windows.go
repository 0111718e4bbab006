package instance

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// inherit gives a browser its ends of the pipes, whose handles are in its command line.
func inherit(cmd *exec.Cmd, ends [2]*os.File) error {
	var handles []syscall.Handle
	for _, f := range ends {
		if err := windows.SetHandleInformation(windows.Handle(f.Fd()), windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
			return err
		}
		handles = append(handles, syscall.Handle(f.Fd()))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{AdditionalInheritedHandles: handles}
	cmd.Args = append(cmd.Args, fmt.Sprintf("--remote-debugging-io-pipes=%d,%d", handles[0], handles[1]))
	return nil
}
