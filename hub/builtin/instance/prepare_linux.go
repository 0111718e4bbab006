package instance

import (
	"os/exec"
	"syscall"
)

// prepare makes the browser the leader of a process group that dies with this
// program.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
