package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// processes returns the command lines of the processes of this place that go on
// running. One that is about to end is waited for.
func (p *place) processes() []string {
	var out []string
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		p.t.Fatal(err)
	}
	for _, file := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue // it has ended meanwhile
		}
		line, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(line), string(p.dir)) && !exits(fd) {
			out = append(out, strings.ReplaceAll(string(line), "\x00", " "))
		}
		unix.Close(fd)
	}
	return out
}

// exits waits for the end of a process. The end of any child interrupts that.
func exits(pidfd int) bool {
	for late := time.Now().Add(timeout); ; {
		left := max(0, time.Until(late))
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, int(left.Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n == 1
		}
	}
}
