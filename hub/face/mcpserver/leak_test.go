package mcpserver

import (
	"bufio"
	"context"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/call/ledger"
	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/trust/policy"
)

// inUse returns the goroutines and the bytes that are in use, with everything that
// ends having ended. It is for bubbles.
func inUse() (goroutines int, bytes int64) {
	time.Sleep(time.Hour) // for timers, among them those of net/http
	synctest.Wait()
	runtime.GC()
	runtime.GC() // the first only tells pools to let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return runtime.NumGoroutine(), int64(m.HeapAlloc)
}

// makeGoroutines lets n goroutines run at once. The runtime keeps what it has allocated
// for each, and gives it to later ones: without them the bytes in use would grow with
// the most that happen to run at once.
func makeGoroutines(n int) {
	var all sync.WaitGroup
	end := make(chan struct{})
	for range n {
		all.Go(func() { <-end })
	}
	close(end)
	all.Wait()
}

// sessionsOf returns how many sessions s has.
func sessionsOf(s *Server) int {
	synctest.Wait()
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	return len(s.sessions.byID)
}

// A hub runs for months, and clients come and go: nothing of a session that has
// ended may stay, be it that the client says so or that it just goes.
func TestEndedSessionsLeaveNothing(t *testing.T) {
	const sessions, abreast = 200, 25
	for name, session := range map[string]func(t *testing.T, c *web){
		"SSE": func(t *testing.T, c *web) {
			ctx, drop := context.WithCancel(t.Context())
			defer drop()
			resp := c.doContext(ctx, "GET", "/sse", "")
			defer resp.Body.Close()
			e := &events{t: t, body: resp.Body, r: bufio.NewReader(resp.Body)} // readEvents would keep it
			_, endpoint, err := e.next()
			if err != nil {
				t.Error(err)
				return
			}
			path := strings.TrimPrefix(endpoint, c.url)
			for _, m := range []string{
				initializeLine("2024-11-05"),
				`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
				`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"tabhub://a/x"}}`,
				`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}`,
			} {
				if status, body := c.message(path, m); status != 202 {
					t.Errorf("%s: %d %s", m, status, body)
				}
			}
			for range 3 { // the answers, in whatever order
				if _, _, err := e.next(); err != nil {
					t.Error(err)
				}
			}
		},
		"Streamable HTTP": func(t *testing.T, shared *web) {
			c := &web{t, shared.http, shared.url, http.Header{}}
			c.initialize("2025-11-25")
			resp := c.do("GET", "/mcp", "", "Accept", "text/event-stream")
			defer resp.Body.Close()
			get := &events{t: t, body: resp.Body, r: bufio.NewReader(resp.Body)}
			for _, m := range []string{
				`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"tabhub://a/x"}}`,
				`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}`,
			} {
				if status, body := c.post(m); status != 200 {
					t.Errorf("%s: %d %s", m, status, body)
				}
			}
			end := c.do("DELETE", "/mcp", "")
			end.Body.Close()
			if end.StatusCode != http.StatusNoContent {
				t.Errorf("DELETE: %s", end.Status)
			}
			get.wantEnd()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newScripted()
				s := New(h, Options{})
				c := inBubble(t, s)
				run := func(n int) {
					t.Helper()
					var clients sync.WaitGroup
					for range abreast {
						clients.Go(func() {
							for range n / abreast {
								session(t, c)
							}
						})
					}
					clients.Wait()
					c.http.CloseIdleConnections()
				}
				makeGoroutines(40 * abreast)
				run(sessions) // maps and pools grow to their size
				goroutines, bytes := inUse()
				run(sessions)
				nowGoroutines, nowBytes := inUse()
				if nowGoroutines != goroutines {
					stacks := make([]byte, 64<<10)
					t.Errorf("%d goroutines, and %d after %d sessions\n%s", goroutines, nowGoroutines, sessions, stacks[:runtime.Stack(stacks, true)])
				}
				// The smallest session has more, and maps and pools keep some in any case.
				if more := nowBytes - bytes; more > 160*sessions {
					t.Errorf("%d bytes are in use, and %d after %d sessions", bytes, nowBytes, sessions)
				}
				if n := sessionsOf(s); n != 0 {
					t.Errorf("%d sessions left", n)
				}
				if n := len(s.Sessions()); n != 0 {
					t.Errorf("%d sessions are still told of changes", n)
				}
				if n := h.followed["tabhub://a/x"]; n != 0 {
					t.Errorf("%d subscriptions left", n)
				}
			})
		})
	}
}

// A client that opens an event stream and does not read it is let go, and with it
// what waits to be read.
func TestClientThatDoesNotReadIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(newScripted(), Options{})
		c := inBubble(t, s)
		resp := c.do("GET", "/sse", "")
		e := readEvents(t, resp)
		_, endpoint, err := e.next()
		if err != nil {
			t.Fatal(err)
		}
		path := strings.TrimPrefix(endpoint, c.url)
		big := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":"` + strings.Repeat("x", 1<<20) + `"}}}`
		taken := 0
		for {
			status, _ := c.message(path, big)
			if status != http.StatusAccepted {
				if status != http.StatusTooManyRequests {
					t.Errorf("with %d answers unread: %d", taken, status)
				}
				break
			}
			taken++
			synctest.Wait()
		}
		if taken > 2*jsonrpc.MaxQueuedBytes>>20 {
			t.Errorf("%d MB wait for a client that does not read", taken)
		}
		time.Sleep(time.Minute)
		if n := sessionsOf(s); n != 0 {
			t.Errorf("a minute later there are %d sessions", n)
		}
		if status, _ := c.message(path, big); status != http.StatusNotFound {
			t.Errorf("its session afterwards: %d", status)
		}
		time.Sleep(time.Second) // net/http lingers on the connection
	})
}

// A request that comes when its session is at its end is not begun: nothing would end it.
func TestNothingIsBegunAtTheEnd(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`
	s := New(newScripted(), Options{})
	ses := s.methods.Restore(t.Context(), "1", methods.SavedSession{Version: "2025-03-26"}, methods.Identity{Principal: policy.Nobody})
	out := jsonrpc.NewOutbox(&lineSink{}, nil, nil)
	ses.FinishCalls(time.Second)
	ses.Receive(out, []byte(call), true)
	ses.Receive(out, []byte("["+call+"]"), false)
	if r := s.hub.Ledger().Report(ses.Identity.Session("1"), "", nil); r.State != ledger.NotKnown {
		t.Errorf("a call is %s", r.State)
	}
}
