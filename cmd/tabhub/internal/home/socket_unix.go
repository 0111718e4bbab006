//go:build unix

package home

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// bind makes hub.sock under another name first: it must never be there with a mode
// that lets others connect.
func (d Dir) bind() (*net.UnixListener, error) {
	fresh := "." + socketName
	path := d.path(fresh)
	os.Remove(path) // a hub that was killed may have left it
	var ln *net.UnixListener
	err := d.withAddress(fresh, func(addr string) (err error) {
		ln, err = net.ListenUnix("unix", &net.UnixAddr{Name: addr, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, err
	}
	ln.SetUnlinkOnClose(false)
	if err = os.Chmod(path, 0o600); err == nil {
		err = os.Rename(path, d.Socket())
	}
	if err != nil {
		ln.Close()
		os.Remove(path)
		return nil, err
	}
	return ln, nil
}

// maxAddress is how long the path of a socket may be.
const maxAddress = len(syscall.RawSockaddrUnix{}.Path) - 1

// checkPeer makes sure that the process at the other end belongs to the user of this
// one, or to root.
func checkPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var uid int
	var failed error
	if err := raw.Control(func(fd uintptr) { uid, failed = peerUID(int(fd)) }); err != nil {
		return err
	}
	if failed != nil {
		return fmt.Errorf("its user cannot be told: %w", failed)
	}
	if uid != 0 && uid != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d", uid)
	}
	return nil
}
