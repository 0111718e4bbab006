//go:build unix

package instance

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// usedBy says what uses a user data directory, "" if nothing does. A browser leaves
// its lock behind, so only one that answers at its socket counts. The lock of another
// machine is none, see unlock.
func usedBy(data string) string {
	host, pid := locker(data)
	if here, err := os.Hostname(); host == "" || err == nil && host != here {
		return ""
	}
	// It is a link because the path of a socket must be short.
	socket, err := os.Readlink(filepath.Join(data, "SingletonSocket"))
	if err != nil {
		return ""
	}
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return ""
	}
	conn.Close()
	return fmt.Sprintf("a running browser (process %s)", pid)
}

// locker returns the machine and the process that have locked a user data directory, "" if none has.
func locker(data string) (host, pid string) {
	lock, err := os.Readlink(filepath.Join(data, lockName))
	if err != nil {
		return "", ""
	}
	i := strings.LastIndexByte(lock, '-')
	if i < 0 {
		return "", ""
	}
	return lock[:i], lock[i+1:]
}

const lockName = "SingletonLock"

// unlock removes the lock from a profile that a browser left under another name
// of this machine, as in a container that is no more. A browser would take it for that
// of another machine, for ever; but only one hub has the profile, and no browser
// outlives that.
func unlock(data string) {
	host, _ := locker(data)
	if here, err := os.Hostname(); err == nil && host != "" && host != here {
		_ = os.Remove(filepath.Join(data, lockName)) // the browser says what is wrong
	}
}
