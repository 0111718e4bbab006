package cluster

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// short is a lease that lets tests run fast. Its proportions are the usual ones.
var short = timing{ttl: 1200 * time.Millisecond, hold: 900 * time.Millisecond, renew: 300 * time.Millisecond, retry: 30 * time.Millisecond, lose: 3 * time.Second}

var secret = []byte("0123456789abcdef0123456789abcdef")

// listener is a node's: it completes the handshake with each peer and says hello.
type listener struct {
	net.Listener
	wg sync.WaitGroup
}

func listen(t testing.TB) *listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &listener{Listener: l}
	t.Cleanup(func() { l.Close(); s.wg.Wait() })
	return s
}

func (l *listener) url() string { return "https://" + l.Addr().String() }

func (l *listener) serve(c *tls.Config) error {
	l.wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			l.wg.Go(func() {
				s := tls.Server(conn, c)
				defer s.Close()
				if s.Handshake() == nil {
					_, _ = io.WriteString(s, "hello")
				}
			})
		}
	})
	return nil
}

// join joins as a node with the usual options of tests, changed by change.
func join(t testing.TB, nc *nats.Conn, name string, change ...func(*Options)) (*Node, error) {
	t.Helper()
	return joinAs(t, optionsOf(t, nc, name, change...))
}

// optionsOf returns the usual options of a node in tests, changed by change. It listens for the node.
func optionsOf(t testing.TB, nc *nats.Conn, name string, change ...func(*Options)) Options {
	t.Helper()
	l := listen(t)
	o := Options{Conn: nc, Name: name, URL: l.url(), Secret: secret, Version: "v1", Replicas: 1, Serve: l.serve, timing: short}
	if os.Getenv("CLUSTER_LOG") != "" {
		o.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})).With("self", name)
	}
	for _, f := range change {
		f(&o)
	}
	return o
}

// joinAs joins with options. It does not fail the test, so any goroutine may call it.
func joinAs(t testing.TB, o Options) (*Node, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	return Join(ctx, o)
}

// ready joins and takes users. The node leaves with the test.
func ready(t testing.TB, nc *nats.Conn, name string, change ...func(*Options)) *Node {
	t.Helper()
	n, err := join(t, nc, name, change...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { leave(n) })
	n.Ready()
	return n
}

// leave makes a node leave. If NATS is gone, it waits only a moment.
func leave(n *Node) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_ = n.Leave(ctx)
}

// crash ends a node as a kill does: it sends nothing more.
func crash(n *Node) {
	n.mu.Lock()
	n.self.State = Left
	n.mu.Unlock()
	n.lease.leave()
	n.stop()
	n.wg.Wait()
	close(n.done)
}

// until waits for something that a node's signal announces.
func until(t testing.TB, n *Node, what string, is func() bool) {
	t.Helper()
	timeout := time.After(30 * time.Second)
	for {
		changed := n.Changed().Wait()
		if is() {
			return
		}
		select {
		case <-changed:
		case <-time.After(20 * time.Millisecond): // what time alone changes
		case <-timeout:
			t.Fatalf("waited for too long until %s; members of %s: %+v; %+v", what, n.self.Name, n.Members(), n.Stats())
		}
	}
}
