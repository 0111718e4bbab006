//go:build unix

package instance

import (
	"os"
	"os/exec"
)

// inherit gives a browser its ends of the pipes, as the files 3 and 4.
func inherit(cmd *exec.Cmd, ends [2]*os.File) error {
	cmd.ExtraFiles = ends[:]
	return nil
}
