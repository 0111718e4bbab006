// Package wstest connects tests to the hub's WebSockets: over a listener in memory,
// which works in a testing/synctest bubble, or over the network, as raw frames (Peer) or
// as the tabtest.End that speaks tabhub.v1. It plays transcripts (Replay).
package wstest

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/gorilla/websocket"
)

// Listener is a net.Listener in memory.
type Listener struct {
	conns chan net.Conn
	done  chan struct{}
	close sync.Once
}

// NewListener returns an open Listener.
func NewListener() *Listener {
	return &Listener{conns: make(chan net.Conn), done: make(chan struct{})}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	l.close.Do(func() { close(l.done) })
	return nil
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return addr{} }

// Dial returns the client's side of a new connection.
func (l *Listener) Dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

type addr struct{}

func (addr) Network() string { return "memory" }
func (addr) String() string  { return "memory" }

// Serve serves h over a Listener until the test ends.
func Serve(t testing.TB, h http.Handler) *Listener {
	l := NewListener()
	srv := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Serve(l)
	}()
	t.Cleanup(func() {
		srv.Close()
		<-done
	})
	return l
}

// WebSocket opens a WebSocket to what the Listener serves. It is cut when the test ends.
func (l *Listener) WebSocket(t testing.TB, path string, header http.Header, subprotocols ...string) *websocket.Conn {
	t.Helper()
	d := websocket.Dialer{
		Subprotocols:   subprotocols,
		NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) },
	}
	ws, resp, err := d.DialContext(t.Context(), "ws://127.0.0.1:3300"+path, header)
	if err != nil {
		status := ""
		if resp != nil {
			status = resp.Status
		}
		t.Fatalf("WebSocket to %s: %v %s", path, err, status)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}
