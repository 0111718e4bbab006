package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tabhub/hub/cluster/forward"
	"tabhub/spec"
	"tabhub/storage/jetstream/natstest"
)

// forwarder is a node's listener behind a port forwarder: while the node is away, it accepts
// connections and closes them.
type forwarder struct {
	net.Listener
	nothing atomic.Bool
}

func (f *forwarder) Accept() (net.Conn, error) {
	for {
		conn, err := f.Listener.Accept()
		if err != nil || !f.nothing.Load() {
			return conn, err
		}
		conn.Close()
	}
}

// asking is a node that answers the others' questions, and asks its own.
type asking struct {
	*Users
	front *forwarder
}

// asked joins as such a node, with connections between the nodes.
func asked(t *testing.T, c *natstest.Cluster, p *natstest.Proxy, name string) asking {
	t.Helper()
	var users atomic.Pointer[Users]
	var serving sync.WaitGroup
	l := listen(t)
	front := &forwarder{Listener: l}
	server := &http.Server{ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		users.Load().ServeHTTP(w, r)
	})}
	t.Cleanup(func() { server.Close(); serving.Wait() })
	n := ready(t, c.ConnTo(t, p.URL()), name, func(o *Options) {
		o.URL = l.url()
		o.Serve = func(c *tls.Config) error {
			serving.Go(func() { _ = server.Serve(tls.NewListener(front, c)) })
			return nil
		}
	})
	u := NewUsers(UsersOptions{Node: n})
	t.Cleanup(u.forwarder.Close)
	users.Store(u)
	return asking{u, front}
}

// A node that is cut from NATS finds out that it is the only one, although the others refuse its
// connections. When NATS is gone for all, no node is isolated, even if the others cannot be reached.
func TestIsolation(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	pa, pb := natstest.NewProxy(t, c.URL(0)), natstest.NewProxy(t, c.URL(0))
	a, b := asked(t, c, pa, "a"), asked(t, c, pb, "b")
	until(t, a.node, "a knows b", func() bool { return a.node.Alive(b.node.ID()) })
	until(t, b.node, "b knows a", func() bool { return b.node.Alive(a.node.ID()) })
	ctx, stop := context.WithCancel(t.Context())
	lost := make(chan string, 4)
	var watching sync.WaitGroup
	for _, u := range []*Users{a.Users, b.Users} {
		watching.Go(func() { u.Watch(ctx, func(error) { lost <- u.node.Self().Name }) })
	}
	defer watching.Wait()
	defer stop()

	pa.Cut()
	select {
	case name := <-lost:
		if name != "a" {
			t.Errorf("%s is isolated", name)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("nothing is noticed")
	}
	pa.Mend()
	until(t, a.node, "a has a lease again", a.node.Lease().Held)
	until(t, b.node, "b knows a again", func() bool { return b.node.Alive(a.node.ID()) })

	pa.Cut()
	pb.Cut()
	until(t, a.node, "no lease is held", func() bool { return !a.node.Lease().Held() && !b.node.Lease().Held() })
	select {
	case name := <-lost:
		t.Errorf("%s is isolated", name)
	case <-time.After(2 * short.ttl):
	}

	b.front.nothing.Store(true)
	select {
	case name := <-lost:
		t.Errorf("%s is isolated, as the address of the other takes connections and closes them", name)
	case <-time.After(2 * short.ttl):
	}
}

// When NATS cannot store anything, as with a full disk, users learn so, at once when it has lasted
// for long, and the operator learns what to do. The node goes on by itself when there is room.
func TestStorageFull(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	n := ready(t, c.Conn(t), "a")
	u := NewUsers(UsersOptions{Node: n, Tenants: &slow{take: func(spec.UserID) (time.Duration, error) { return 0, nil }}})
	ctx, stop := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { u.Watch(ctx, func(error) {}) })
	defer watching.Wait()
	defer stop()
	limit := func(bytes int64) {
		t.Helper()
		config := n.nodes.stream.CachedInfo().Config
		config.MaxBytes = bytes
		if _, err := n.nodes.js.UpdateStream(t.Context(), config); err != nil {
			t.Fatal(err)
		}
	}
	limit(1)
	until(t, n, "Trouble says what to do", func() bool { return strings.Contains(u.Trouble(), "make room") })
	until(t, n, "users are closed", func() bool { return n.Stats().Lost == 1 })
	began := time.Now()
	err := u.awaitLease(t.Context())
	if public, ok := errors.AsType[*spec.Error](err); !ok || !strings.Contains(public.Message, "storage does not answer") || time.Since(began) > time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	limit(-1)
	until(t, n, "the lease is held again", n.Lease().Held)
	if err := u.awaitLease(t.Context()); err != nil || u.Trouble() != "" {
		t.Errorf("%v; %q", err, u.Trouble())
	}
}

// A failed connection to a node must not count as a refusal by it: this node would close all its
// users.
func TestAskUnreached(t *testing.T) {
	ends := errors.New("the handshake was cut short")
	for _, x := range []struct {
		what      string
		dial      func() (net.Conn, error)
		unreached bool
	}{
		{"no connection is made", func() (net.Conn, error) { return nil, ends }, true},
		{"the connection ends before an answer", func() (net.Conn, error) {
			here, there := net.Pipe()
			there.Close()
			return here, nil
		}, false},
	} {
		u := &Users{forwarder: forward.New(forward.Options{Dial: func(context.Context, string) (net.Conn, error) { return x.dial() }})}
		_, _, err := u.askNode(t.Context(), "b/0000000000000001", http.MethodPost, "/")
		u.forwarder.Close()
		if err == nil || errors.Is(err, ErrUnreachable) != x.unreached || x.unreached && !errors.Is(err, ends) {
			t.Errorf("%s: %v", x.what, err)
		}
	}
}
