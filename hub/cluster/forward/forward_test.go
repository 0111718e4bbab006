package forward

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// between returns a Forwarder to nodes with the names of the handlers that they serve. It reaches no
// other node.
func between(t *testing.T, nodes map[string]http.HandlerFunc) *Forwarder {
	t.Helper()
	at := map[string]string{}
	for name, h := range nodes {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		at[name] = s.Listener.Addr().String()
	}
	f := New(Options{Dial: func(ctx context.Context, node string) (net.Conn, error) {
		if at[node] == "" {
			return nil, errors.New("no route")
		}
		return new(net.Dialer).DialContext(ctx, "tcp", at[node])
	}})
	t.Cleanup(f.Close)
	return f
}

// A request too large to be sent again fails once when its user has moved; the next one succeeds. If
// a node was unreachable, the next node gets the whole request.
func TestLargeBody(t *testing.T) {
	body := bytes.Repeat([]byte("x"), 3*maxKept)
	whole := func(w http.ResponseWriter, r *http.Request) {
		if b, err := io.ReadAll(r.Body); err != nil || !bytes.Equal(b, body) {
			t.Errorf("%d bytes came, %v", len(b), err)
		}
	}
	f := between(t, map[string]http.HandlerFunc{
		"old": func(w http.ResponseWriter, r *http.Request) {
			w.Header()[OwnerHeader] = []string{"new"}
			w.WriteHeader(http.StatusMisdirectedRequest)
		},
		"new": whole,
	})
	for _, chunked := range []bool{false, true} {
		for known, want := range map[string][]int{"old": {503, 200}, "gone": {200, 200}, "new": {200, 200}} {
			known := known
			for i, want := range want {
				to := f.To(known, func(_ context.Context, node, owner string) (string, error) {
					known = "new"
					if node == "old" && owner != "new" {
						t.Errorf("%s says that %q has the user", node, owner)
					}
					return known, nil
				})
				r := httptest.NewRequest("POST", "/mcp", bytes.NewReader(body))
				if chunked {
					r.ContentLength = -1
				}
				w := httptest.NewRecorder()
				to.ServeHTTP(w, r)
				if w.Code != want || want == 503 && w.Header().Get("Retry-After") == "" {
					t.Errorf("request %d, sent to %s: %d %s", i, to.(*target).node, w.Code, w.Body)
				}
			}
		}
	}
}

// The Forwarder tries an unreachable node for as long as its lease may be ending. If the lease does
// not end, the node is cut off from this one: requests fail at once, except one a second that tries
// again.
func TestNodeOutOfReach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reached := make(chan net.Conn, 1)
		f := New(Options{Dial: func(ctx context.Context, node string) (net.Conn, error) {
			select {
			case c := <-reached:
				return c, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}})
		defer f.Close()
		ask := func() (status int, took time.Duration) {
			w, began := httptest.NewRecorder(), time.Now()
			f.To("owner", func(context.Context, string, string) (string, error) { return "owner", nil }).ServeHTTP(w, httptest.NewRequest("GET", "/mcp", nil))
			return w.Code, time.Since(began)
		}
		for i, slowest := range []time.Duration{2*dialTimeout + maxWait, 0, dialTimeout, 0} {
			if i == 2 {
				time.Sleep(cutFor)
			}
			if status, took := ask(); status != 503 || took > slowest {
				t.Errorf("while it is away request %d is answered %d after %s", i, status, took)
			}
		}
		time.Sleep(cutFor)
		reached <- serve(t, func(http.ResponseWriter, *http.Request) {})
		if status, took := ask(); status != 200 || took > 0 {
			t.Errorf("when it is back it answers %d after %s", status, took)
		}
	})
}

// A GET whose connection breaks off is sent again on a new connection, not on each idle one: if the
// network has lost the node, it would wait for each of them.
func TestGetIsSentAgain(t *testing.T) {
	const idle = 5
	var all sync.WaitGroup
	all.Add(idle)
	var broken atomic.Int64
	f := between(t, map[string]http.HandlerFunc{"owner": func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/":
			all.Done()
			all.Wait()
		case broken.Add(1) == 1:
			panic(http.ErrAbortHandler)
		}
	}})
	to := f.To("owner", func(context.Context, string, string) (string, error) { return "owner", nil })
	get := func(path string) int {
		w := httptest.NewRecorder()
		to.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w.Code
	}
	var asking sync.WaitGroup
	for range idle {
		asking.Go(func() { get("/") })
	}
	asking.Wait()
	if f.Len() != idle {
		t.Fatalf("there are %d connections", f.Len())
	}
	if status := get("/breaks"); status != 200 || f.Len() != 1 {
		t.Errorf("%d over one of %d connections", status, f.Len())
	}
}

// A client that gives up while its node is being located does not count as unserved.
func TestClientGivesUp(t *testing.T) {
	var log bytes.Buffer
	f := New(Options{
		Dial: func(context.Context, string) (net.Conn, error) { return nil, errors.New("no route") },
		Log:  slog.New(slog.NewTextHandler(&log, nil)),
	})
	t.Cleanup(f.Close)
	for _, upgrade := range []string{"", "websocket"} {
		ctx, giveUp := context.WithCancel(t.Context())
		to := f.To("owner", func(ctx context.Context, _, _ string) (string, error) {
			giveUp()
			<-ctx.Done()
			return "", context.Cause(ctx)
		})
		r := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
		if upgrade != "" {
			r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {upgrade}}
		}
		func() {
			defer func() {
				if err := recover(); err != http.ErrAbortHandler {
					t.Errorf("upgrade to %q: %v", upgrade, err)
				}
			}()
			to.ServeHTTP(httptest.NewRecorder(), r)
		}()
	}
	if n := f.Stats().Unreached; n != 0 || log.Len() > 0 {
		t.Errorf("%d were not served; %s", n, &log)
	}
}

// A connection to a node that dies while it is being made is closed.
func TestNodeDiesWhileConnecting(t *testing.T) {
	var dead atomic.Bool
	var f *Forwarder
	local, remote := net.Pipe()
	defer remote.Close()
	f = New(Options{
		Dial: func(context.Context, string) (net.Conn, error) {
			dead.Store(true)
			f.CloseMember("owner")
			return local, nil
		},
		Alive: func(string) bool { return !dead.Load() },
	})
	t.Cleanup(f.Close)
	_, err := f.dial(t.Context(), "owner")
	if _, nothingSent := errors.AsType[*unreachedError](err); !nothingSent || f.Len() != 0 {
		t.Fatalf("%v; %d connections are left", err, f.Len())
	}
	if _, err := remote.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the node reads %v", err)
	}
}

// A user whose hub is slow must not keep other users from the node.
func TestUpgradeWithoutAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opening := make(chan struct{})
		f := New(Options{Dial: func(ctx context.Context, node string) (net.Conn, error) {
			return serve(t, func(w http.ResponseWriter, r *http.Request) {
				if isUpgrade(r) {
					<-opening
				}
			}), nil
		}})
		defer f.Close()
		defer close(opening)
		to := f.To("owner", func(context.Context, string, string) (string, error) { return "owner", nil })
		ask := func(header http.Header) int {
			w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
			r.Header = header
			to.ServeHTTP(w, r)
			return w.Code
		}
		if status := ask(http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}); status != 503 {
			t.Errorf("the waiting request is answered %d", status)
		}
		if status := ask(http.Header{}); status != 200 {
			t.Errorf("another request is answered %d", status)
		}
	})
}

// serve returns a connection on which h is served.
func serve(t *testing.T, h http.HandlerFunc) net.Conn {
	local, remote := net.Pipe()
	s := &http.Server{Handler: h}
	go s.Serve(&once{remote, make(chan struct{})})
	t.Cleanup(func() { s.Close() })
	return local
}

// once is a listener of one connection.
type once struct {
	conn   net.Conn
	closed chan struct{}
}

// Accept implements net.Listener.
func (o *once) Accept() (net.Conn, error) {
	if c := o.conn; c != nil {
		o.conn = nil
		return c, nil
	}
	<-o.closed
	return nil, net.ErrClosed
}

// Close implements net.Listener.
func (o *once) Close() error { close(o.closed); return nil }

// Addr implements net.Listener.
func (o *once) Addr() net.Addr { return &net.TCPAddr{} }
