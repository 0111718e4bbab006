package cluster

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func joined(urls []string) string { return strings.Join(urls, ",") }

// wire is a TCP proxy that can be cut, as networks are: nothing passes, and neither end is told.
// What was written meanwhile arrives when it is mended.
type wire struct {
	ln     net.Listener
	target string
	mu     sync.Mutex
	mended chan struct{} // closed unless the wire is cut
	conns  map[net.Conn]bool
	ended  sync.WaitGroup
}

func newWire(t testing.TB, target string) *wire {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{ln: ln, target: target, mended: make(chan struct{}), conns: map[net.Conn]bool{}}
	close(w.mended)
	w.ended.Go(func() { w.accept() })
	t.Cleanup(w.close)
	return w
}

func (w *wire) addr() string { return w.ln.Addr().String() }

func (w *wire) close() {
	w.ln.Close()
	w.mend()
	w.mu.Lock()
	for c := range w.conns {
		c.Close()
	}
	w.conns = nil
	w.mu.Unlock()
	w.ended.Wait()
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mended = make(chan struct{})
}

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.mended:
	default:
		close(w.mended)
	}
}

// await waits until the wire is whole.
func (w *wire) await() {
	w.mu.Lock()
	mended := w.mended
	w.mu.Unlock()
	<-mended
}

// add notes a connection; it returns false once the wire is closed.
func (w *wire) add(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conns == nil {
		c.Close()
		return false
	}
	w.conns[c] = true
	return true
}

func (w *wire) drop(c net.Conn) {
	c.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.conns, c)
}

func (w *wire) accept() {
	for {
		c, err := w.ln.Accept()
		if err != nil {
			return
		}
		if !w.add(c) {
			return
		}
		w.ended.Go(func() {
			defer w.drop(c)
			w.await()
			far, err := net.Dial("tcp", w.target)
			if err != nil || !w.add(far) {
				return
			}
			defer w.drop(far)
			pump(c, far, w.await)
		})
	}
}

// pump copies both ways until one way ends. Before it passes anything on it calls before.
func pump(a, b net.Conn, before func()) {
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		both.Go(func() {
			defer a.Close()
			defer b.Close()
			for buf := make([]byte, 32<<10); ; {
				n, err := way[0].Read(buf)
				if before != nil {
					before()
				}
				if n > 0 {
					if _, werr := way[1].Write(buf[:n]); werr != nil {
						return
					}
				}
				if err != nil {
					return
				}
			}
		})
	}
	both.Wait()
}

// How often the balancer asks each node whether it is ready, and how long it waits.
const (
	checkEvery = 250 * time.Millisecond
	checkFor   = 1 * time.Second
)

// balancer gives each new connection to the next of the nodes that say that they are ready, as balancers of TCP do. Of a node that does not answer at all it closes the connections;
// one that is not ready keeps those it has.
type balancer struct {
	ln       net.Listener
	backends []*backend
	next     atomic.Uint32
	refused  atomic.Int64 // connections for which there was no node
	stop     context.CancelFunc
	ended    sync.WaitGroup
}

type backend struct {
	addr   string
	health string // where it is asked
	client http.Client
	taken  atomic.Int64 // connections, in all
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
		far, err := net.DialTimeout("tcp", be.addr, checkFor)
		if err != nil {
			continue
		}
		be.taken.Add(1)
		be.mu.Lock()
		be.conns[c], be.conns[far] = true, true
		be.mu.Unlock()
		pump(c, far, nil)
		be.mu.Lock()
		delete(be.conns, c)
		delete(be.conns, far)
		be.mu.Unlock()
		return
	}
	b.refused.Add(1)
}
