package portowner

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"tabhub/describe"
)

// maxName is how much of a process's name is shown, more than the kernel keeps. The
// process chooses it, and it may be another user's.
const maxName = 64

// process finds the process that listens on addr: the kernel's table of sockets
// gives the socket's inode, and the one process that has it open is it. Processes of
// other users cannot be looked into: of these only the user is known.
func process(addr string) (pid int, name, owner string) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return 0, "", ""
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return 0, "", ""
	}
	sockets := listeners(n)
	if len(sockets) == 0 {
		return 0, "", ""
	}
	fds, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return 0, "", ""
	}
	for _, fd := range fds {
		target, err := os.Readlink(fd)
		if err != nil {
			continue
		}
		inode, ok := strings.CutPrefix(target, "socket:[")
		if _, listens := sockets[strings.TrimSuffix(inode, "]")]; !ok || !listens {
			continue
		}
		dir := filepath.Dir(filepath.Dir(fd))
		pid, _ = strconv.Atoi(filepath.Base(dir))
		comm, _ := os.ReadFile(filepath.Join(dir, "comm"))
		return pid, describe.Clean(string(comm), maxName), ""
	}
	for _, uid := range sockets {
		if uid == strconv.Itoa(os.Geteuid()) {
			continue
		}
		owner = "with the id " + uid
		if u, err := user.LookupId(uid); err == nil {
			owner = describe.Clean(u.Username, maxName)
		}
	}
	return 0, "", owner
}

// listeners returns the sockets that listen on a port: by inode, the id of the user.
func listeners(port int) (users map[string]string) {
	const listening = "0A"
	suffix := fmt.Sprintf(":%04X", port)
	users = make(map[string]string)
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		for s := bufio.NewScanner(f); s.Scan(); {
			// sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …
			if fields := strings.Fields(s.Text()); len(fields) > 9 && fields[3] == listening && strings.HasSuffix(fields[1], suffix) {
				users[fields[9]] = fields[7]
			}
		}
		f.Close()
	}
	return users
}
