package home

import (
	"bytes"
	"fmt"
	"os"
)

// holdsLock reports whether a process holds HubLock: the kernel lists with each of its
// open files the locks that are held through it.
func (d Dir) holdsLock(pid int) bool {
	lock, err := os.Stat(d.path(HubLock))
	if err != nil {
		return false
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return false
	}
	for _, f := range files {
		fi, err := os.Stat(fmt.Sprintf("/proc/%d/fd/%s", pid, f.Name()))
		if err != nil || !os.SameFile(fi, lock) {
			continue
		}
		info, _ := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%s", pid, f.Name()))
		if bytes.Contains(info, []byte("FLOCK  ADVISORY  WRITE")) {
			return true
		}
	}
	return false
}
