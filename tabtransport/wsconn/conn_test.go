package wsconn_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/wsconn"
	"tabhub/tabtransport/wsserver/wstest"
)

var config = wsconn.Config{
	MaxFrame: 1 << 20, MaxFirstFrame: 4 << 10, MaxUnadmitted: 2,
	MaxQueueFrames: 8, MaxQueue: 1 << 20,
	WriteTimeout: 10 * time.Second, KeepAlive: 15 * time.Second,
	Awaited: "said hello",
}

// served is a connection in a bubble: the hub's side and the peer's.
type served struct {
	*wsconn.Conn
	srv  *wsconn.Server
	peer *websocket.Conn
	got  chan string // what the hub has read
	end  chan error  // why it has stopped
}

func serve(t *testing.T, c wsconn.Config, o wsconn.Options) *served {
	s := &served{srv: wsconn.NewServer(c), got: make(chan string, 100), end: make(chan error, 1)}
	made := make(chan *wsconn.Conn)
	l := wstest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := s.srv.Serve(w, r, o, func(c *wsconn.Conn, r *http.Request) {
			made <- c
			s.end <- c.Read(func(kind wsconn.Kind, frame []byte) { s.got <- fmt.Sprintf("%d %s", kind, frame) })
			if r.Context().Err() == nil {
				t.Error("the request's context outlives the connection")
			}
		})
		if err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(func() { s.srv.Close(t.Context()) })
	s.peer = l.WebSocket(t, "/", nil)
	s.Conn = <-made
	return s
}

// closeCode reads to the end of the connection.
func closeCode(ws *websocket.Conn) (frames []string, code spec.CloseCode) {
	for {
		_, frame, err := ws.ReadMessage()
		if err != nil {
			return frames, wstest.CloseCode(err)
		}
		frames = append(frames, string(frame))
	}
}

// request is a frame that may be given up.
type request struct {
	frame  string
	sent   atomic.Bool
	unsent atomic.Bool
}

func (r *request) Sending() bool { r.sent.Store(true); return true }
func (r *request) Unsent()       { r.unsent.Store(true) }

func (r *request) buffer() *wsconn.Buffer {
	b := wsconn.NewBuffer()
	b.B = append(b.B, r.frame...)
	return b
}

// A peer that is closed still gets what was queued, in order, then the reason, and a
// request that was not sent says so.
func TestCloseSendsWhatIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, config, wsconn.Options{Admitted: true})
		first, second := &request{frame: "first"}, &request{frame: "second"}
		if err := s.SendRequest(first.buffer(), first); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.Send([]byte("a"))
		if err := s.SendRequest(second.buffer(), second); err != nil {
			t.Fatal(err)
		}
		s.Send([]byte("b"))
		s.Close(spec.CloseRefused, strings.Repeat("é", 100))
		s.Close(spec.CloseGoingAway, "too late")
		if err := s.Send([]byte("c")); !errors.Is(err, tabtransport.ErrNotConnected) {
			t.Errorf("after Close: %v", err)
		}
		if !second.unsent.Load() || second.sent.Load() || first.unsent.Load() {
			t.Error("a request that waits must end as unsent, and no other")
		}
		frames, code := closeCode(s.peer)
		if !slices.Equal(frames, []string{"first", "a", "b"}) || code != spec.CloseRefused {
			t.Errorf("the peer got %q, then %d", frames, code)
		}
		if err := <-s.end; err == nil || !strings.Contains(err.Error(), "closed by the hub") {
			t.Errorf("ended with %v", err)
		}
	})
}

// Neither a peer that does not read nor one that does not answer keeps the hub waiting.
func TestCloseIsBounded(t *testing.T) {
	for frames, limit := range map[int]time.Duration{0: 2 * time.Second, 5: 6 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, config, wsconn.Options{Admitted: true})
			for range frames {
				s.Send([]byte("x"))
			}
			began := time.Now()
			s.Close(spec.CloseGoingAway, "bye")
			s.CloseAt(time.Time{}, 0, "")
			<-s.end
			if took := time.Since(began); took > limit {
				t.Errorf("%d frames: it took %v", frames, took)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, config, wsconn.Options{Admitted: true})
		s.Send([]byte("x"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := s.srv.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// A peer that does not read gets the reason, no half frame, and is soon disconnected.
func TestQueueThatOverflows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, config, wsconn.Options{Admitted: true})
		s.Send([]byte("in progress"))
		synctest.Wait()
		waiting := &request{frame: "waiting"}
		if err := s.SendRequest(waiting.buffer(), waiting); err != nil {
			t.Fatal(err)
		}
		for range config.MaxQueueFrames - 1 {
			if err := s.Send([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Send([]byte("x")); !errors.Is(err, tabtransport.ErrBusy) || s.Closing() {
			t.Errorf("one too many: %v", err)
		}
		s.MustSend([]byte("x"))
		if !waiting.unsent.Load() {
			t.Error("a request that waits is not ended")
		}
		frames, code := closeCode(s.peer)
		if !slices.Equal(frames, []string{"in progress"}) || code != spec.CloseSlow || s.srv.Slow() != 1 {
			t.Errorf("the peer got %q, then %d; %d slow", frames, code, s.srv.Slow())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := config
		c.Reserve, c.MaxQueue = 4, 100
		s := serve(t, c, wsconn.Options{Admitted: true})
		s.Send(make([]byte, 200)) // alone it may be larger
		if err := s.Send([]byte("x")); !errors.Is(err, tabtransport.ErrBusy) {
			t.Errorf("too many bytes: %v", err)
		}
		synctest.Wait()
		for range c.MaxQueueFrames + c.Reserve {
			s.MustSend(make([]byte, 200))
		}
		if s.Closing() {
			t.Error("closed before its reserve is used up")
		}
		if s.MustSend(nil); !s.Closing() {
			t.Error("not closed when its reserve is used up")
		}
	})
}

// Write blocks until the peer has room, so the sender keeps the peer's pace.
func TestWriteWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, config, wsconn.Options{Admitted: true})
		written := make(chan int)
		go func() {
			for i := range 3 {
				s.Write([]byte("x"))
				written <- i
			}
			close(written)
		}()
		synctest.Wait()
		select {
		case <-written:
			t.Error("a frame was written before the peer read")
		default:
		}
		s.peer.ReadMessage()
		<-written
		synctest.Wait()
		s.Abort(errors.New("cut")) // ends the second, and the third at once
		if n := len(slices.Collect(func(yield func(int) bool) {
			for i := range written {
				yield(i)
			}
		})); n != 2 {
			t.Errorf("%d writes have ended", n)
		}
	})
}

// The writer answers pings between two frames, and only the last ping.
func TestPingsAreAnsweredBetweenFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, config, wsconn.Options{Admitted: true})
		s.Send([]byte("a"))
		s.Send([]byte("b"))
		synctest.Wait()
		for i := range 3 {
			if err := s.peer.WriteControl(websocket.PingMessage, fmt.Append(nil, i), time.Time{}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		var got []string
		s.peer.SetPongHandler(func(data string) error { got = append(got, "pong "+data); return nil })
		for range 2 {
			_, frame, err := s.peer.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(frame))
		}
		if want := []string{"a", "pong 2", "b"}; !slices.Equal(got, want) {
			t.Errorf("the peer got %q, want %q", got, want)
		}
	})
}

// A ping may be a message, a WebSocket ping, or both in turn. A peer that sends nothing for
// three intervals is closed; half a frame counts.
func TestSilentPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, config, wsconn.Options{Admitted: true})
		began, messages, pings := time.Now(), 0, 0
		s.KeepAlive(func() []byte {
			if messages++; messages == 2 {
				return nil
			}
			return []byte("ping")
		})
		s.peer.SetPingHandler(func(string) error { pings++; return nil })
		w, err := s.peer.NextWriter(websocket.TextMessage)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(20 * time.Second)
			w.Write(make([]byte, 10<<10)) // more than the peer's buffer: it goes out
		}()
		frames, code := closeCode(s.peer)
		if took := time.Since(began); code != spec.CloseSlow || took != 4*config.KeepAlive || len(frames) != 2 || pings != 1 {
			t.Errorf("closed with %d after %v, %d messages and %d pings", code, took, len(frames), pings)
		}
	})
}

func TestFramesOverTheLimit(t *testing.T) {
	for _, c := range []struct {
		name   string
		skip   bool
		size   int
		code   spec.CloseCode // 0: the connection lives
		handed string
	}{
		{"at the limit", false, 100, 0, "0 "},
		{"over the limit", false, 101, spec.CloseTooBig, ""},
		{"over it, which is skipped", true, 300, 0, "2 "},
		{"far over it", true, 401, spec.CloseTooBig, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limited := config
				limited.MaxFrame = 100
				s := serve(t, limited, wsconn.Options{Admitted: true, SkipTooBig: c.skip})
				go func() {
					s.peer.WriteMessage(websocket.TextMessage, []byte(strings.Repeat("x", c.size)))
					s.peer.WriteMessage(websocket.BinaryMessage, []byte("next"))
				}()
				if c.code != 0 {
					if _, code := closeCode(s.peer); code != c.code {
						t.Errorf("closed with %d", code)
					}
					if e, ok := errors.AsType[*wsconn.TooBigError](<-s.end); !ok || s.srv.TooBig() != 1 {
						t.Errorf("ended with %v", e)
					}
					return
				}
				if got := <-s.got; !strings.HasPrefix(got, c.handed+"xxx") {
					t.Errorf("handled %s", got)
				}
				if got := <-s.got; got != "1 next" {
					t.Errorf("the next frame is %s", got)
				}
			})
		})
	}
}

// Credentials end, and are renewed, while the connection stays.
func TestCloseAtAndWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, config, wsconn.Options{Admitted: true})
		old, revokeOld := context.WithCancel(t.Context())
		s.CloseAt(time.Now().Add(time.Minute), spec.CloseRefused, "old")
		s.CloseWhen(old, spec.CloseRefused, "old")
		renewed, revoke := context.WithCancel(t.Context())
		s.CloseAt(time.Time{}, 0, "")
		s.CloseWhen(renewed, spec.CloseRefused, "revoked")
		revokeOld()
		time.Sleep(time.Hour)
		if s.Closing() {
			t.Fatal("the old credential has closed the connection")
		}
		revoke()
		if _, code := closeCode(s.peer); code != spec.CloseRefused {
			t.Errorf("closed with %d", code)
		}
	})
}

// A peer whose user's hub moves to another process reconnects; the close code does not say that
// its credential is no longer valid.
func TestCloseWhenTheHubGoesElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, config, wsconn.Options{Admitted: true})
		valid, end := context.WithCancelCause(t.Context())
		s.CloseWhen(valid, spec.CloseRefused, "revoked")
		end(tabtransport.ErrGoingAway)
		if _, code := closeCode(s.peer); code != spec.CloseGoingAway {
			t.Errorf("closed with %d", code)
		}
	})
}

// No peer is admitted while the hub ends, and all get the reason.
func TestServerThatCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := wsconn.NewServer(config)
		l := wstest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			srv.Serve(w, r, wsconn.Options{}, func(c *wsconn.Conn, _ *http.Request) { c.Read(func(wsconn.Kind, []byte) {}) })
		}))
		before := l.WebSocket(t, "/", nil)
		synctest.Wait()
		if srv.Len() != 1 {
			t.Errorf("%d connections", srv.Len())
		}
		told := make(chan spec.CloseCode)
		go func() {
			_, code := closeCode(before)
			told <- code
		}()
		if err := srv.Close(t.Context()); err != nil || srv.Len() != 0 {
			t.Errorf("%v, %d connections are left", err, srv.Len())
		}
		if code := <-told; code != spec.CloseGoingAway {
			t.Errorf("the connected peer was closed with %d", code)
		}
		if _, code := closeCode(l.WebSocket(t, "/", nil)); code != spec.CloseGoingAway {
			t.Errorf("the late peer was closed with %d", code)
		}
	})
}

// busyConn is a connection on which each write makes one more necessary.
type busyConn struct {
	net.Conn
	more *atomic.Pointer[func()]
}

func (c busyConn) Write(b []byte) (int, error) {
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
	return busyConn{c, &l.more}, nil
}

// A peer that keeps the writer busy is still closed when its credential ends.
func TestCredentialEndsWhileTheWriterIsBusy(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln := &busyListener{Listener: inner}
	srv := wsconn.NewServer(config)
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		srv.Serve(w, r, wsconn.Options{Admitted: true}, func(c *wsconn.Conn, _ *http.Request) {
			more := func() { c.Send([]byte(`{}`)) }
			ln.more.Store(&more)
			more()
			c.CloseAt(time.Now().Add(100*time.Millisecond), spec.CloseRefused, "expired")
			c.Read(func(wsconn.Kind, []byte) {})
		})
	})}
	go web.Serve(ln)
	defer web.Close()
	ws, _, err := websocket.DefaultDialer.Dial("ws://"+inner.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if _, code := closeCode(ws); code != spec.CloseRefused {
		t.Errorf("closed with %d", code)
	}
	if err := srv.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
