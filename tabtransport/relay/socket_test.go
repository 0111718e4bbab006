package relay

import (
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
)

// busy is a connection on which each write makes one more necessary.
type busy struct {
	net.Conn
	more *atomic.Pointer[func()]
}

func (c busy) Write(b []byte) (int, error) {
	if more := c.more.Load(); more != nil {
		(*more)()
	}
	return c.Conn.Write(b)
}

type busyListener struct {
	net.Listener
	more atomic.Pointer[func()]
}

func (l *busyListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return busy{c, &l.more}, nil
}

// Who keeps the writer of a socket busy does not outlast their token.
func TestTokenEndsWhileTheWriterIsBusy(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln := &busyListener{Listener: inner}
	served := make(chan struct{})
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(served)
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		s := newSocket(ws, Limits{}.withDefaults(), &counters{})
		defer s.end()
		more := func() { s.send([]byte(`{}`)) }
		ln.more.Store(&more)
		more()
		s.endsAt(time.Now().Add(100*time.Millisecond), "the token has expired")
		s.frames(func([]byte) {})
	})}
	go srv.Serve(ln)
	defer srv.Close()

	ws, _, err := websocket.DefaultDialer.Dial("ws://"+inner.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	for err == nil {
		_, _, err = ws.ReadMessage()
	}
	if !websocket.IsCloseError(err, int(spec.CloseRefused)) {
		t.Error(err)
	}
	ws.Close()
	<-served
}
