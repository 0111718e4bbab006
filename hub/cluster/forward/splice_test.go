package forward

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// nodes are a node that clients connect to, an owner node, and TLS 1.3 between them.
type nodes struct {
	forwarder *Forwarder
	entrance  net.Addr
	owner     net.Addr
}

// start serves h on the owner node; if h is nil, it echoes after an upgrade.
func start(tb testing.TB, h http.HandlerFunc) *nodes {
	tb.Helper()
	if h == nil {
		h = echo
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		tb.Fatal(err)
	}
	cert := []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}
	owner := httptest.NewUnstartedServer(h)
	owner.TLS = &tls.Config{Certificates: cert, ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS13}
	owner.StartTLS()
	n := &nodes{owner: owner.Listener.Addr()}
	client := &tls.Config{Certificates: cert, InsecureSkipVerify: true, MinVersion: tls.VersionTLS13} // whom it meets is not what is tested
	n.forwarder = New(Options{Dial: func(ctx context.Context, node string) (net.Conn, error) {
		if node != "owner" {
			return nil, fmt.Errorf("no node %s", node)
		}
		d := &tls.Dialer{Config: client}
		return d.DialContext(ctx, "tcp", n.owner.String())
	}})
	to := n.forwarder.To("owner", func(context.Context, string, string) (string, error) { return "owner", nil })
	entrance := httptest.NewServer(to)
	n.entrance = entrance.Listener.Addr()
	tb.Cleanup(func() {
		n.forwarder.Close()
		entrance.Close()
		owner.Close()
	})
	return n
}

func echo(w http.ResponseWriter, r *http.Request) {
	conn, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	head, _ := buf.Reader.Peek(buf.Reader.Buffered())
	conn.Write(head)
	go func() {
		defer conn.Close()
		b := make([]byte, 512)
		for {
			n, err := conn.Read(b)
			if n > 0 {
				conn.Write(b[:n])
			}
			if err != nil {
				return
			}
		}
	}()
}

// upgraded returns a connection that echoes.
func upgraded(tb testing.TB, to net.Addr) (net.Conn, *bufio.Reader) {
	tb.Helper()
	conn, err := net.Dial("tcp", to.String())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	r := bufio.NewReaderSize(conn, 64)
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != 101 {
		tb.Fatal(resp, err)
	}
	return conn, r
}

// All data of each side reaches the other, however large, up to the end of both.
func TestSplice(t *testing.T) {
	n := start(t, nil)
	conn, r := upgraded(t, n.entrance)
	said := make([]byte, 12<<20)
	rand.Read(said)
	go func() {
		conn.Write([]byte("ping"))
		conn.Write(said)
		conn.(*net.TCPConn).CloseWrite()
	}()
	got, err := io.ReadAll(r)
	if err != nil || string(got) != "ping"+string(said) {
		t.Errorf("%d bytes came back, %v", len(got), err)
	}
	conn.Close()
	for deadline := time.Now().Add(10 * time.Second); n.forwarder.Stats().Splices > 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the splice does not end")
		}
	}
	if n.forwarder.Len() != 0 {
		t.Errorf("%d connections are left", n.forwarder.Len())
	}
}

// A dead node's sockets close, and no others.
func TestSpliceEndsWithTheNode(t *testing.T) {
	n := start(t, nil)
	conn, r := upgraded(t, n.entrance)
	n.forwarder.CloseMember("another")
	fmt.Fprint(conn, "x")
	if b, err := r.ReadByte(); b != 'x' || err != nil {
		t.Fatal(b, err)
	}
	n.forwarder.CloseMember("owner")
	if _, err := r.ReadByte(); err == nil {
		t.Error("the connection stays open")
	}
	n.forwarder.Close()
	if _, err := n.forwarder.dial(t.Context(), "owner"); err == nil {
		t.Error("a closed Forwarder connects")
	}
}

// A client that does not read must not keep a node from ending, nor a dead node's connection open.
func TestEndWithSlowReader(t *testing.T) {
	for name, end := range map[string]func(*Forwarder){"this node": (*Forwarder).Close, "the other": func(f *Forwarder) { f.CloseMember("owner") }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := New(Options{Dial: func(context.Context, string) (net.Conn, error) {
					return serve(t, func(w http.ResponseWriter, _ *http.Request) {
						conn, _, _ := http.NewResponseController(w).Hijack()
						defer conn.Close()
						fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
						conn.Write(make([]byte, 1<<20))
					}), nil
				}})
				defer f.Close()
				client := serve(t, f.To("owner", nil).ServeHTTP)
				defer client.Close()
				fmt.Fprint(client, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
				if resp, err := http.ReadResponse(bufio.NewReaderSize(client, 16), nil); err != nil || resp.StatusCode != 101 {
					t.Fatal(resp, err)
				}
				synctest.Wait()
				began := time.Now()
				end(f)
				synctest.Wait()
				if took, left := time.Since(began), f.Stats().Splices; took > 0 || left > 0 || f.Len() > 0 {
					t.Errorf("it ends after %s, and %d sockets are left", took, left)
				}
			})
		})
	}
}

// When a client does not read, the owner node waits, and no more is buffered than sockets hold.
func TestSlowReader(t *testing.T) {
	written := make(chan int, 1)
	n := start(t, func(w http.ResponseWriter, r *http.Request) {
		var all int
		piece := make([]byte, 64<<10)
		rc := http.NewResponseController(w)
		rc.SetWriteDeadline(time.Now().Add(2 * time.Second))
		for {
			n, err := w.Write(piece)
			all += n
			if err != nil {
				written <- all
				return
			}
		}
	})
	conn, err := net.Dial("tcp", n.entrance.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if all := <-written; all > 32<<20 {
		t.Errorf("%d MiB were buffered for a client that does not read", all>>20)
	}
}

// An answer that breaks off at the node breaks off at the client.
func TestBrokenAnswer(t *testing.T) {
	n := start(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "half")
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	resp, err := http.Get("http://" + n.entrance.String())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); string(b) != "half" || err == nil {
		t.Errorf("%q, %v", b, err)
	}
}

// A client that offers an upgrade gets each event of a stream at once.
func TestStreamWithOfferedUpgrade(t *testing.T) {
	for _, protocol := range []string{"h2c", "TLS/1.2", "HTTP/2.0, TLS/1.3"} {
		read := make(chan struct{})
		n := start(t, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "first\n")
			http.NewResponseController(w).Flush()
			select {
			case <-read:
				fmt.Fprint(w, "second\n")
			case <-r.Context().Done():
			}
		})
		req, _ := http.NewRequestWithContext(t.Context(), "GET", "http://"+n.entrance.String(), nil)
		req.Header = http.Header{"Connection": {"keep-alive, Upgrade"}, "Upgrade": {protocol}}
		resp, err := new(http.Transport).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		events := bufio.NewReader(resp.Body)
		if line, err := events.ReadString('\n'); line != "first\n" {
			t.Errorf("%s: %q, %v", protocol, line, err)
		}
		close(read)
		if line, err := events.ReadString('\n'); line != "second\n" {
			t.Errorf("%s: then %q, %v", protocol, line, err)
		}
	}
}

// A request that the node may have handled is sent once, whatever its headers say.
func TestSentOnce(t *testing.T) {
	for _, header := range []string{"Idempotency-Key", "X-Idempotency-Key", "X-Other"} {
		times := 0
		n := start(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				return // the connection can be used again
			}
			times++
			_, _ = io.Copy(io.Discard, r.Body)
			panic(http.ErrAbortHandler)
		})
		if _, err := http.Get("http://" + n.entrance.String()); err != nil {
			t.Fatal(err)
		}
		req, _ := http.NewRequest(http.MethodPost, "http://"+n.entrance.String(), http.NoBody)
		req.Header.Set(header, "1")
		resp, err := new(http.Transport).RoundTrip(req)
		if err != nil || resp.StatusCode != http.StatusBadGateway || times != 1 {
			t.Errorf("%s: %v, %v, handled %d times", header, resp, err, times)
		}
	}
}

// BenchmarkIdleSplice reports how much more a forwarded socket costs than a local one. Both ends of
// the connection between the nodes are in this process, and count.
func BenchmarkIdleSplice(b *testing.B) {
	const count = 2000
	n := start(b, nil)
	cost := func(open func()) (kib, goroutines float64) {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&before)
		was := runtime.NumGoroutine()
		for range count {
			open()
		}
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&after)
		used := after.HeapAlloc + after.StackInuse - before.HeapAlloc - before.StackInuse
		return float64(used) / count / 1024, float64(runtime.NumGoroutine()-was) / count
	}
	for b.Loop() {
		plain := httptest.NewServer(http.HandlerFunc(echo))
		here, g1 := cost(func() { upgraded(b, plain.Listener.Addr()) })
		there, g2 := cost(func() { upgraded(b, n.entrance) })
		b.ReportMetric(there-here, "KiB/socket")
		b.ReportMetric(g2-g1, "goroutines/socket")
	}
}

// BenchmarkRequest compares a forwarded request with a local one.
func BenchmarkRequest(b *testing.B) {
	answer := func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }
	n := start(b, answer)
	plain := httptest.NewServer(http.HandlerFunc(answer))
	defer plain.Close()
	for name, at := range map[string]string{"local": plain.URL, "remote": "http://" + n.entrance.String()} {
		b.Run(name, func(b *testing.B) {
			client := &http.Client{Transport: &http.Transport{}}
			body := make([]byte, 500)
			for b.Loop() {
				resp, err := client.Post(at, "application/json", &reader{b: body})
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
}

type reader struct{ b []byte }

func (r *reader) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.b)
	r.b = r.b[n:]
	return n, nil
}
