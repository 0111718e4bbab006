package wsconn_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gorilla/websocket"

	"tabhub/spec"
	"tabhub/tabtransport/wsconn"
	"tabhub/tabtransport/wsserver/wstest"
)

// detaching serves connections that are detached at the frame "go". It returns what the
// handler that takes them over has read.
func detaching(t *testing.T, openings int) (srv *wsconn.Server, peer *websocket.Conn, read chan string) {
	srv, read = wsconn.NewServer(config), make(chan string, 1)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Err() != nil {
			t.Error("the request has ended")
		}
		conn, buf, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		buf.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		if err := buf.Flush(); err != nil {
			t.Error(err)
		}
		early, _ := buf.Reader.Peek(buf.Reader.Buffered())
		rest, _ := io.ReadAll(conn)
		read <- string(early) + string(rest)
		conn.Close()
	})
	l := wstest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		srv.Serve(w, r, wsconn.Options{Detachable: true}, func(c *wsconn.Conn, r *http.Request) {
			c.Read(func(_ wsconn.Kind, frame []byte) {
				switch string(frame) {
				case "go":
					c.Detach(h, r, openings)
				case "ask":
					c.Send([]byte("answer"))
				}
			})
		})
	}))
	t.Cleanup(func() { srv.Close(t.Context()) })
	return srv, l.WebSocket(t, "/", nil), read
}

// frame returns a text frame as a client sends it, not masked.
func frame(text string) []byte {
	return append([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...)
}

// The new owner of a detached connection gets each byte of the peer, and the peer gets none twice.
func TestDetach(t *testing.T) {
	for _, c := range []struct {
		name     string
		openings int
		first    string // before "go"
		again    bool   // it is said again
	}{
		{"what was not answered is said again", 0, "name", true},
		{"what was answered is not", 0, "ask", false},
		{"unless that will not be said again", 1, "ask", true},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, peer, read := detaching(t, c.openings)
				conn := peer.NetConn()
				answers := make(chan []byte, 1)
				go func() { b, _ := io.ReadAll(conn); answers <- b }()
				later := append(frame("go"), 0x81, 0xff, 0) // with the beginning of the next
				conn.Write(frame(c.first))
				synctest.Wait()
				conn.Write(later)
				synctest.Wait()
				if srv.Len() != 0 {
					t.Error("the server still has it")
				}
				conn.Write([]byte("rest"))
				conn.Close()
				want := append(bytes.Clone(later), "rest"...)
				if c.again {
					want = append(frame(c.first), want...)
				}
				if got := <-read; got != string(want) {
					t.Errorf("it goes on with %q, want %q", got, want)
				}
				want = nil
				if c.first == "ask" {
					want = append([]byte{0x81, 6}, "answer"...)
				}
				if got := <-answers; !bytes.Equal(got, want) {
					t.Errorf("the peer got %q, want %q", got, want)
				}
			})
		})
	}
}

// What a peer sends before its hello is buffered up to a limit; beyond it the connection cannot
// be detached.
func TestDetachIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, peer, _ := detaching(t, 0)
		for range 3 {
			peer.WriteMessage(websocket.TextMessage, make([]byte, config.MaxFirstFrame/2))
		}
		peer.WriteMessage(websocket.TextMessage, []byte("go"))
		if _, code := closeCode(peer); code != spec.CloseTooFast {
			t.Errorf("closed with %d", code)
		}
	})
}
