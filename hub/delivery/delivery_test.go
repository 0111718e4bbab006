package delivery

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// answer is one that tells what has become of it.
type answer chan string

func (a answer) Delivered() { a <- "delivered" }
func (a answer) Lost()      { a <- "lost" }

// pair returns both ends of a connection.
func pair(t *testing.T) (conn *socket, client *net.TCPConn) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := Listen(inner)
	defer l.Close()
	there, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	here, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close(); there.Close() })
	io.WriteString(there, "?") // its request
	if _, err := here.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return here.(*socket), there.(*net.TCPConn)
}

// write writes an answer, as a server does that reads meanwhile.
func (s *socket) write(t *testing.T, a Answer, text string) {
	t.Helper()
	s.of.Writing(a)
	if _, err := io.WriteString(s, text); err != nil {
		t.Fatal(err)
	}
	s.of.Wrote(a)
}

// What has become of an answer follows from what its client does next.
func TestAnswer(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
		t.Skip("the system does not reset a connection of which something was not read")
	}
	const text = "some words"
	for name, test := range map[string]struct {
		does func(t *testing.T, client *net.TCPConn)
		want string
	}{
		"reads it and leaves":       {func(t *testing.T, client *net.TCPConn) { read(t, client, len(text)); client.Close() }, "delivered"},
		"leaves":                    {func(_ *testing.T, client *net.TCPConn) { client.Close() }, "lost"},
		"reads a part and leaves":   {func(t *testing.T, client *net.TCPConn) { read(t, client, 3); client.Close() }, "lost"},
		"says nothing more, leaves": {func(t *testing.T, client *net.TCPConn) { client.CloseWrite(); client.Close() }, "lost"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, client := pair(t)
			a := make(answer, 1)
			conn.write(t, a, text)
			test.does(t, client)
			if !conn.of.IsGone() && runtime.GOOS == "linux" {
				t.Error("it is not gone")
			}
			if lost := conn.of.IsLost(a); lost != (test.want == "lost") && runtime.GOOS == "linux" {
				t.Errorf("before anybody reads, lost: %t", lost)
			}
			_, _ = conn.Read(make([]byte, 100))
			if got := <-a; got != test.want {
				t.Errorf("it is %s", got)
			}
			if conn.of.IsLost(a) {
				t.Error("it is known after it was told")
			}
		})
	}
}

func read(t *testing.T, client net.Conn, n int) {
	t.Helper()
	if _, err := io.ReadFull(client, make([]byte, n)); err != nil {
		t.Fatal(err)
	}
}

// Who asks for something else has read what was there.
func TestAnswerBeforeAnother(t *testing.T) {
	conn, client := pair(t)
	first, second := make(answer, 1), make(answer, 1)
	conn.write(t, first, "first")
	if conn.of.IsGone() || conn.of.IsLost(first) {
		t.Error("it is lost already")
	}
	read(t, client, len("first"))
	conn.of.Asked()
	if got := <-first; got != "delivered" {
		t.Errorf("the first is %s", got)
	}
	conn.write(t, second, "second")
	read(t, client, len("second"))
	client.Close()
	_, _ = conn.Read(make([]byte, 1))
	if got := <-second; got != "delivered" {
		t.Errorf("the second is %s", got)
	}
}

// Who has left before anything is written has not read it, though it can be written.
func TestAnswerToNobody(t *testing.T) {
	conn, client := pair(t)
	client.CloseWrite()
	if _, err := conn.Read(make([]byte, 1)); err != io.EOF {
		t.Fatal(err)
	}
	a := make(answer, 1)
	conn.write(t, a, "some words")
	if got := <-a; got != "lost" {
		t.Errorf("it is %s", got)
	}
}

// A connection that is answered again and again keeps nothing of what is long past.
func TestManyAnswers(t *testing.T) {
	conn, client := pair(t)
	answers := make(answer, 8)
	for range 8 {
		conn.write(t, answers, "text")
	}
	read(t, client, 8*len("text"))
	conn.of.mu.Lock()
	armed := conn.of.armed
	for _, w := range conn.of.known {
		w.at = w.at.Add(-within)
	}
	conn.of.mu.Unlock()
	conn.of.expire()
	for range 8 {
		if got := <-answers; got != "delivered" {
			t.Errorf("one is %s", got)
		}
	}
	if !armed || len(conn.of.known) != 0 {
		t.Errorf("armed %t, %d are known", armed, len(conn.of.known))
	}
}

// One that fails is told nothing: who writes knows.
func TestAnswerThatFails(t *testing.T) {
	conn, _ := pair(t)
	a := make(answer, 1)
	conn.of.Writing(a)
	conn.of.Failed(a)
	conn.Close()
	select {
	case got := <-a:
		t.Errorf("it is %s", got)
	default:
	}
}

// A request over TLS is one, and finds its connection.
func TestRequestOverTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if FromContext(r.Context()) == nil || r.TLS == nil {
			t.Errorf("connection %v, TLS %v", FromContext(r.Context()), r.TLS)
		}
	}))
	s.Listener, s.Config.ConnContext = Listen(s.Listener), WithConn
	s.StartTLS()
	defer s.Close()
	resp, err := s.Client().Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// A request finds its connection, and who takes the connection over gets the system's.
func TestRequest(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if FromContext(r.Context()) == nil {
			t.Error("the request knows of no connection")
		}
		conn, rw, err := http.NewResponseController(Hijacker{w}).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		if _, ok := conn.(*net.TCPConn); !ok {
			t.Errorf("it is a %T", conn)
		}
		_, _ = io.WriteString(rw, "HTTP/1.1 204 No Content\r\n\r\n")
		_ = rw.Flush()
	}))
	s.Listener, s.Config.ConnContext = Listen(s.Listener), WithConn
	s.Start()
	defer s.Close()
	resp, err := http.Post(s.URL, "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		t.Error(resp.Status)
	}
}
