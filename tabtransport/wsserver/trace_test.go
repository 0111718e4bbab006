package wsserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/wsserver"
)

// trace traces the local user until the test ends.
func trace(t *testing.T, srv *wsserver.Server) *[]tabtransport.Traced {
	t.Helper()
	var all []tabtransport.Traced // read while everybody waits
	go srv.Trace(t.Context(), spec.LocalUser, func(m *tabtransport.Traced) error {
		if m.Event != tabtransport.EventBegun {
			all = append(all, *m)
		}
		return nil
	})
	synctest.Wait()
	return &all
}

// inWords writes a message as who, what and how long.
func inWords(m *tabtransport.Traced) string {
	arrow := ">"
	if m.ToHub {
		arrow = "<"
	}
	s := fmt.Sprintf("%s %s %s", m.Tab, arrow, m.Event+m.Method)
	if m.Tool != "" {
		s += " " + m.Tool
	}
	if m.Answer {
		s += fmt.Sprintf(" answered in %s, failed %t", m.Took, m.Failed)
	}
	if m.Body == nil && m.Event == "" {
		s += ": " + m.Text
	}
	return s
}

// userOf admits who says in a token which user they are of, as the browser of a pairing.
func userOf(_ *http.Request, hello *spec.Hello, _ *pairing.Exchange) (tabtransport.Admission, error) {
	user, _, _ := strings.Cut(hello.Token, "-")
	return tabtransport.Admission{User: spec.UserID(user), Pairing: "p"}, nil
}

const helloOf = `{"jsonrpc":"2.0","id":1,"method":"browser/hello","params":{"protocolVersion":"tabhub.v1","tabKey":%q,"token":"%s-hush"}}`

// Who writes a page must find in the trace what it and the hub have said, in order, and
// nothing that opens a door.
func TestTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, _, l := start(t, wsserver.Options{
			Authenticate: userOf,
			Dashboard:    func(tabtransport.Admission) (string, error) { return "http://hub/?code=hush", nil },
		})
		srv.Transport("ann").Handle(&hub{})
		all := trace(t, srv)
		ws := l.WebSocket(t, "/", nil, spec.Subprotocol)
		send(t, ws, fmt.Sprintf(helloOf, "k", "local"))
		answers := make(chan string, 8)
		go func() {
			for {
				_, b, err := ws.ReadMessage()
				if err != nil {
					return
				}
				var m struct{ ID, Method string }
				if json.Unmarshal(b, &m) == nil && (m.Method == spec.MethodExecuteTool || m.Method == spec.MethodAsk) {
					time.Sleep(20 * time.Millisecond)
					ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, <-answers, m.ID))
				}
			}
		}()
		send(t, ws, register(`[{"name":"a"}]`))
		synctest.Wait()
		call := func(req spec.Request, answer string) {
			answers <- answer
			_, _ = srv.Transport(spec.LocalUser).SendRequest(t.Context(), spec.TabAddr{Peer: "k"}, req, tabtransport.Wait{})
			synctest.Wait()
		}
		call(&spec.ExecuteTool{ToolName: "a"}, `{"jsonrpc":"2.0","id":%q,"result":{"success":true,"payload":"fine"}}`)
		call(&spec.ExecuteTool{ToolName: "a"}, `{"jsonrpc":"2.0","id":%q,"result":{"success":false,"payload":"why"}}`)
		call(&spec.Ask{}, `{"jsonrpc":"2.0","id":%q,"result":{"reach":"once","code":"hush"}}`)
		send(t, ws, `{"jsonrpc":"2.0","id":7,"method":"browser/dashboard"}`)
		send(t, ws, `{"jsonrpc":"2.0","id":8,"method":"browser/hello","params":{"token":"local-hush"}}`)
		send(t, ws, `{"jsonrpc":"2.0","id":"nobody","result":"hush"}`)
		send(t, ws, `{"token":"local-hush`)
		synctest.Wait()

		other := l.WebSocket(t, "/", nil, spec.Subprotocol)
		readAll(other)
		send(t, other, fmt.Sprintf(helloOf, "hers", "ann"))
		send(t, other, register(`[{"name":"hers"}]`))
		synctest.Wait()
		ws.Close()
		synctest.Wait()

		want := []string{
			"k < joined",
			"k < browser/registerTools",
			"k > browser/executeTool a",
			"k < browser/executeTool a answered in 20ms, failed false",
			"k > browser/executeTool a",
			"k < browser/executeTool a answered in 20ms, failed true",
			"k > browser/ask: left out: it may hold a secret",
			"k < browser/ask answered in 20ms, failed false: left out: it may hold a secret",
			"k < browser/dashboard: left out: it may hold a secret",
			"k > browser/dashboard answered in 0s, failed false: left out: it may hold a secret",
			"k < browser/hello: left out: it may hold a secret",
			"k > browser/hello answered in 0s, failed true: left out: it may hold a secret",
			"k <  answered in 0s, failed false: left out: nobody knows what it answers",
			"k < : left out: it is no message: ",
			"k < left",
		}
		for i := range max(len(*all), len(want)) {
			if i >= len(*all) || i >= len(want) {
				t.Fatalf("%d messages, want %d: %+v", len(*all), len(want), *all)
			}
			if got := inWords(&(*all)[i]); !strings.HasPrefix(got, want[i]) {
				t.Errorf("message %d: %q, want %q", i, got, want[i])
			}
		}
		b, _ := json.Marshal(*all)
		if strings.Contains(string(b), "hush") || strings.Contains(string(b), "hers") || !strings.Contains(string(b), `"payload":"fine"`) {
			t.Errorf("%s", b)
		}
	})
}

// Who reads slowly must learn that the trace has a gap, and must not hold up the tab or
// make the hub keep all that is said.
func TestTraceOfASlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h, l := start(t, wsserver.Options{})
		ws := l.WebSocket(t, "/", nil, spec.Subprotocol)
		readAll(ws)
		greet(t, ws, "k")
		reads, seen, missed := make(chan struct{}), 0, ""
		go srv.Trace(t.Context(), spec.LocalUser, func(m *tabtransport.Traced) error {
			switch m.Event {
			case tabtransport.EventBegun:
				<-reads
			case tabtransport.EventMissed:
				missed = m.Text
			default:
				seen++
			}
			return nil
		})
		synctest.Wait()
		const n = 4900 // what may be said at once
		for range n {
			send(t, ws, `{"jsonrpc":"2.0","method":"browser/resourceUpdated","params":{"uri":"page://x"}}`)
		}
		synctest.Wait()
		if got := len(h.got()); got != n {
			t.Errorf("the hub has %d messages, want %d", got, n)
		}
		close(reads)
		synctest.Wait()
		if want := fmt.Sprintf("%d messages", n-seen); seen < 4096 || seen > 4200 || missed != want {
			t.Errorf("%d seen, %q missed, want %q", seen, missed, want)
		}
	})
}

// A trace that has ended leaves nothing behind that frames would be copied for.
func TestTraceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, _, l := start(t, wsserver.Options{})
		all := trace(t, srv)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- srv.Trace(ctx, spec.LocalUser, func(*tabtransport.Traced) error { return nil })
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		ws := l.WebSocket(t, "/", nil, spec.Subprotocol)
		readAll(ws)
		greet(t, ws, "k")
		send(t, ws, register(`[{"name":"`+strings.Repeat("x", 2<<20)+`"}]`))
		synctest.Wait()
		if last := (*all)[len(*all)-1]; last.Method != spec.MethodRegisterTools || last.Body != nil || last.Text != "left out: it is large" || last.Size < 2<<20 {
			t.Errorf("of a large message: %s", inWords(&last))
		}
	})
}
