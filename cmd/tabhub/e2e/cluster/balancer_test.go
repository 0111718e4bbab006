//go:build nightly && unix

package cluster

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// pump copies in both directions until one of them ends.
func pump(a, b net.Conn) {
	var both sync.WaitGroup
	for _, pair := range [][2]net.Conn{{a, b}, {b, a}} {
		both.Go(func() {
			defer a.Close()
			defer b.Close()
			io.Copy(pair[1], pair[0])
		})
	}
	both.Wait()
}

// How often the balancer asks each node whether it is ready, and its timeout.
const (
	checkEvery = 250 * time.Millisecond
	checkFor   = 3 * time.Second
)

// balancer gives each new connection to the next ready node, as TCP balancers do. It closes the
// connections to a node that does not answer; a node that is not ready keeps its connections.
type balancer struct {
	ln       net.Listener
	backends []*backend
	next     atomic.Uint32
	stop     context.CancelFunc
	ended    sync.WaitGroup
}

type backend struct {
	addr   string
	health string // where it is asked
	client http.Client
	mu     sync.Mutex
	ready  bool
	conns  map[net.Conn]bool
}

func newBalancer(t testing.TB, addrs []string, health string) *balancer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	b := &balancer{ln: ln, stop: cancel}
	for _, addr := range addrs {
		be := &backend{addr: addr, health: health, conns: map[net.Conn]bool{}, client: http.Client{Timeout: checkFor, Transport: &http.Transport{DisableKeepAlives: true}}}
		b.backends = append(b.backends, be)
		b.ended.Go(func() { be.watch(ctx) })
	}
	b.ended.Go(b.accept)
	t.Cleanup(func() {
		cancel()
		ln.Close()
		for _, be := range b.backends {
			be.drop()
		}
		b.ended.Wait()
	})
	return b
}

func (b *balancer) addr() string { return b.ln.Addr().String() }

// watch asks the node again and again.
func (be *backend) watch(ctx context.Context) {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		resp, err := be.client.Get("http://" + be.addr + be.health)
		if err == nil {
			resp.Body.Close()
		}
		be.mu.Lock()
		be.ready = err == nil && resp.StatusCode == http.StatusOK
		be.mu.Unlock()
		if err != nil {
			be.drop()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (be *backend) isReady() bool {
	be.mu.Lock()
	defer be.mu.Unlock()
	return be.ready
}

// drop closes the connections of a node.
func (be *backend) drop() {
	be.mu.Lock()
	defer be.mu.Unlock()
	for c := range be.conns {
		c.Close()
	}
}

func (b *balancer) accept() {
	for {
		c, err := b.ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		b.ended.Go(func() { b.serve(c) })
	}
}

func (b *balancer) serve(c net.Conn) {
	defer c.Close()
	n := int(b.next.Add(1))
	for i := range b.backends {
		be := b.backends[(n+i)%len(b.backends)]
		if !be.isReady() {
			continue
		}
		backend, err := net.DialTimeout("tcp", be.addr, checkFor)
		if err != nil {
			continue
		}
		be.mu.Lock()
		be.conns[c], be.conns[backend] = true, true
		be.mu.Unlock()
		pump(c, backend)
		be.mu.Lock()
		delete(be.conns, c)
		delete(be.conns, backend)
		be.mu.Unlock()
		return
	}
}
