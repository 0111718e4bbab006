//go:build unix && !linux

package instance

import (
	"os/exec"
	"syscall"
)

// prepare makes the browser the leader of a process group. Nothing ends it here if
// this program is killed; the next one is told that the profile is in use.
func prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
