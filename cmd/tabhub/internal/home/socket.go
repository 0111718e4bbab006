package home

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
)

// SocketURL begins the addresses of requests that Client makes. The host in it says
// nothing: there is one hub behind the socket.
const SocketURL = "http://hub.sock"

// Listen listens on hub.sock, in place of a file that a killed hub has left. The
// listener gives out only connections of this process's user and of root; others are
// closed, and logged. The caller holds HubLock; RemoveHub deletes the file.
func (d Dir) Listen(log *slog.Logger) (net.Listener, error) {
	ln, err := d.bind()
	if errors.Is(err, errTooLong) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("the data directory cannot be used (%w); pass another --data-dir", err)
	}
	// RemoveHub does that: the listener knows the file by another name.
	ln.SetUnlinkOnClose(false)
	return &listener{ln, log}, nil
}

// listener checks whose connections it accepts.
type listener struct {
	*net.UnixListener
	log *slog.Logger
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if err := checkPeer(conn); err != nil {
			l.log.Warn("a program was turned away from hub.sock", "err", err)
			conn.Close()
			continue
		}
		return conn, nil
	}
}

// Dial connects to the hub that listens on hub.sock. Before anything is sent it makes
// sure that this is a process of the same user, or of root.
func (d Dir) Dial(ctx context.Context) (net.Conn, error) {
	var conn net.Conn
	err := d.withAddress(socketName, func(addr string) (err error) {
		conn, err = new(net.Dialer).DialContext(ctx, "unix", addr)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := checkPeer(conn.(*net.UnixConn)); err != nil {
		conn.Close()
		return nil, fmt.Errorf("what listens on %s is not your hub: %w", d.Socket(), err)
	}
	return conn, nil
}

// Client is an HTTP client whose requests all go to the hub's socket.
func (d Dir) Client() *http.Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return d.Dial(ctx) }
	return &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
}

// errTooLong says that a socket in the directory cannot be addressed.
var errTooLong = errors.New("the path of the data directory is too long for a socket in it")
