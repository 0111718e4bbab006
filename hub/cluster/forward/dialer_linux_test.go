package forward

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// partition is a listener that can be cut from the network, with its connections. Packets to them
// are then dropped without an acknowledgement.
type partition struct {
	*net.TCPListener
	mu      sync.Mutex
	sockets []syscall.Conn
}

// Accept implements net.Listener.
func (p *partition) Accept() (net.Conn, error) {
	c, err := p.AcceptTCP()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sockets = append(p.sockets, c)
	return c, nil
}

func (p *partition) cut(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	none := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K}
	for _, s := range append(p.sockets, p.TCPListener) {
		raw, err := s.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var filter error
		err = raw.Control(func(fd uintptr) {
			filter = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &none})
		})
		if err != nil || filter != nil {
			t.Fatal(err, filter)
		}
	}
}

// through returns a Forwarder to a node that listens on a partition and serves h. Its connections
// break off after a second.
func through(t *testing.T, h http.HandlerFunc) (*Forwarder, *partition) {
	t.Helper()
	var plain net.ListenConfig
	plain.SetMultipathTCP(false) // has no filters
	ln, err := plain.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &partition{TCPListener: ln.(*net.TCPListener)}
	s := &http.Server{Handler: h}
	go s.Serve(p)
	t.Cleanup(func() { s.Close() })
	d := dialer(time.Second)
	f := New(Options{Dial: func(ctx context.Context, _ string) (net.Conn, error) {
		return d.DialContext(ctx, "tcp", ln.Addr().String())
	}})
	t.Cleanup(f.Close)
	return f, p
}

// post sends a request to a node, and returns 0 if no answer comes soon.
func post(t *testing.T, f *Forwarder, path string, body io.Reader) (status int) {
	ctx, cancel := context.WithTimeout(t.Context(), moveTimeout)
	defer cancel()
	defer func() { _ = recover() }()
	w := httptest.NewRecorder()
	to := f.To("owner", func(context.Context, string, string) (string, error) { return "owner", nil })
	to.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "POST", path, body))
	return w.Code
}

// A client whose request went to a node that the network has lost soon learns that it may have taken
// effect. No further request goes over that connection.
func TestPartition(t *testing.T) {
	var came atomic.Int64
	var both sync.WaitGroup
	both.Add(2)
	f, p := through(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/call" {
			came.Add(1)
			return
		}
		both.Done()
		both.Wait()
	})
	var asking sync.WaitGroup
	for range 2 {
		asking.Go(func() {
			if status := post(t, f, "/", nil); status != 200 {
				t.Errorf("%d before the network was cut", status)
			}
		})
	}
	asking.Wait()
	if f.Len() != 2 {
		t.Fatalf("there are %d connections", f.Len())
	}
	p.cut(t)
	if status := post(t, f, "/call", nil); status != 502 || came.Load() != 0 {
		t.Errorf("%d; it came %d times", status, came.Load())
	}
	if f.Len() != 0 {
		t.Errorf("%d connections wait for another request", f.Len())
	}
}

// A connection also breaks off if a hub does not read its requests. Other connections to the node
// stay.
func TestUnreadBody(t *testing.T) {
	opening := make(chan struct{})
	f, _ := through(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-opening
		}
	})
	defer close(opening)
	if status := post(t, f, "/slow", bytes.NewReader(make([]byte, 32<<20))); status != 502 {
		t.Errorf("the waiting request is answered %d", status)
	}
	if status := post(t, f, "/", nil); status != 200 {
		t.Errorf("another request is answered %d", status)
	}
}
