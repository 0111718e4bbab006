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

// heldBy says what holds a user data directory, "" if nothing does. A browser leaves
// its lock behind, so only one that answers at its socket counts.
func heldBy(data string) string {
	lock, err := os.Readlink(filepath.Join(data, "SingletonLock"))
	if err != nil {
		return ""
	}
	i := strings.LastIndexByte(lock, '-')
	if i < 0 {
		return ""
	}
	host, pid := lock[:i], lock[i+1:]
	if own, err := os.Hostname(); err == nil && host != own {
		return fmt.Sprintf("a browser on the machine %s", host)
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
