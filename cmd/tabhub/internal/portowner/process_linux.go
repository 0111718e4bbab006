package portowner

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tabhub/describe"
)

// maxName is how much of a process's name is shown, more than the kernel keeps. The
// process chooses it, and it may be another user's.
const maxName = 64

// process returns the process that listens on addr: the kernel's table of sockets gives the
// socket's inode, and the process has it open. It does not find processes of other users.
func process(addr string) (pid int, name string) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return 0, ""
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return 0, ""
	}
	sockets := listeners(n)
	if len(sockets) == 0 {
		return 0, ""
	}
	fds, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return 0, ""
	}
	for _, fd := range fds {
		target, err := os.Readlink(fd)
		if err != nil {
			continue
		}
		inode, ok := strings.CutPrefix(target, "socket:[")
		if !ok || !sockets[strings.TrimSuffix(inode, "]")] {
			continue
		}
		dir := filepath.Dir(filepath.Dir(fd))
		pid, _ = strconv.Atoi(filepath.Base(dir))
		comm, _ := os.ReadFile(filepath.Join(dir, "comm"))
		return pid, describe.Clean(string(comm), maxName)
	}
	return 0, ""
}

// listeners returns the inodes of the sockets that listen on a port.
func listeners(port int) (inodes map[string]bool) {
	const listening = "0A"
	suffix := fmt.Sprintf(":%04X", port)
	inodes = make(map[string]bool)
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		for s := bufio.NewScanner(f); s.Scan(); {
			// sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …
			if fields := strings.Fields(s.Text()); len(fields) > 9 && fields[3] == listening && strings.HasSuffix(fields[1], suffix) {
				inodes[fields[9]] = true
			}
		}
		f.Close()
	}
	return inodes
}
