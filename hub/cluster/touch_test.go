package cluster

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tabhub/storage/jetstream/natstest"
)

// asked joins as a node that answers the others, and asks them, over connections of nodes.
func asked(t *testing.T, c *natstest.Cluster, p *natstest.Proxy, name string) *Users {
	t.Helper()
	var users atomic.Pointer[Users]
	var serving sync.WaitGroup
	l := listen(t)
	server := &http.Server{ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		users.Load().ServeHTTP(w, r)
	})}
	t.Cleanup(func() { server.Close(); serving.Wait() })
	n := ready(t, c.ConnTo(t, p.URL()), name, func(o *Options) {
		o.URL = l.url()
		o.Serve = func(c *tls.Config) error {
			serving.Go(func() { _ = server.Serve(tls.NewListener(l, c)) })
			return nil
		}
	})
	u := NewUsers(UsersOptions{Node: n, Log: slog.New(slog.DiscardHandler), Ask: func(ctx context.Context, id, method, path string) (int, []byte, error) {
		m, _ := n.Member(id)
		transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			d := tls.Dialer{Config: n.ClientTLS(m)}
			return d.DialContext(ctx, "tcp", m.Addr())
		}}
		r, err := http.NewRequestWithContext(ctx, method, "http://node"+path, nil)
		if err != nil {
			return 0, nil, err
		}
		resp, err := transport.RoundTrip(r)
		if err != nil {
			return 0, nil, err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return resp.StatusCode, body, err
	}})
	users.Store(u)
	return u
}

// A node that is cut from NATS finds out that it is the only one, although the others do not
// talk to it any more; when NATS is gone for all, none is.
func TestIsolation(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t, 1)
	pa, pb := natstest.NewProxy(t, c.URL(0)), natstest.NewProxy(t, c.URL(0))
	a, b := asked(t, c, pa, "a"), asked(t, c, pb, "b")
	until(t, a.node, "a knows b", func() bool { return a.node.Alive(b.node.ID()) })
	until(t, b.node, "b knows a", func() bool { return b.node.Alive(a.node.ID()) })
	ctx, stop := context.WithCancel(t.Context())
	lost := make(chan string, 4)
	var watching sync.WaitGroup
	for _, u := range []*Users{a, b} {
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
}
