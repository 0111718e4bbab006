package wsserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/wsserver"
	"tabhub/tabtransport/wsserver/wstest"
)

// hub is a handler that admits every peer under the name that it gives.
type hub struct {
	mu       sync.Mutex
	conns    []tabtransport.Conn
	messages []string
	lost     []spec.PeerID
}

func (h *hub) Connect(c tabtransport.Conn) (tabtransport.Accepted, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns = append(h.conns, c)
	if c.Hello == nil {
		return tabtransport.Accepted{Peer: "tab"}, nil
	}
	return tabtransport.Accepted{Peer: spec.PeerID(string(c.Hello.BrowserID) + c.Hello.TabKey)}, nil
}

func (h *hub) Message(from spec.TabAddr, _ json.RawMessage, msg spec.Inbound) {
	_, params := wstest.Encode(msg)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages = append(h.messages, string(params))
}

func (h *hub) Disconnected(p spec.PeerID, _ error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = append(h.lost, p)
}

func (h *hub) got() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.messages)
}

func (h *hub) gone() []spec.PeerID {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.lost)
}

func (h *hub) last() tabtransport.Conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.conns[len(h.conns)-1]
}

// start serves /tabs in a bubble.
func start(t *testing.T, opts wsserver.Options) (*wsserver.Server, *hub, *wstest.Listener) {
	srv := wsserver.New(opts)
	h := &hub{}
	srv.Transport(spec.LocalUser).Handle(h)
	l := wstest.Serve(t, srv.Tabs())
	t.Cleanup(func() { srv.Close(context.Background()) })
	return srv, h, l
}

func lastOf(s []string) string { return s[len(s)-1] }

func send(t *testing.T, ws *websocket.Conn, frame string) {
	t.Helper()
	if err := ws.WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
		t.Errorf("send %.80s: %v", frame, err)
	}
}

// greet says hello as the single tab key.
func greet(t *testing.T, ws *websocket.Conn, key string) {
	t.Helper()
	send(t, ws, fmt.Sprintf(`{"jsonrpc":"2.0","method":"browser/hello","params":{"protocolVersion":"tabhub.v1","tabKey":%q}}`, key))
	synctest.Wait()
}

// readAll reads in the background until the connection ends. The result is the
// close code, 0 if there was none.
func readAll(ws *websocket.Conn) <-chan int {
	code := make(chan int, 1)
	go func() {
		for {
			if _, _, err := ws.ReadMessage(); err != nil {
				closed, _ := errors.AsType[*websocket.CloseError](err)
				if closed == nil {
					code <- 0
					return
				}
				code <- closed.Code
				return
			}
		}
	}()
	return code
}

func register(tools string) string {
	return `{"jsonrpc":"2.0","method":"browser/registerTools","params":{"tools":` + tools + `}}`
}

func TestTokenIsCheckedAndForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		_, h, l := start(t, wsserver.Options{
			Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			Authenticate: func(r *http.Request, hello *spec.Hello, _ *pairing.Exchange) (tabtransport.Admission, error) {
				if err := r.Context().Err(); err != nil {
					t.Errorf("the request's context has ended: %v", err)
				}
				if hello.Token != "the-secret-token" {
					return tabtransport.Admission{}, spec.Errorf(spec.CodeRefused, "wrong token: pass the one that tabhub token prints")
				}
				return tabtransport.Admission{Attested: true, Origin: "https://page.example.com"}, nil
			},
		})
		hello := `{"jsonrpc":"2.0","id":1,"method":"browser/hello","params":{"protocolVersion":"tabhub.v1","tabKey":"k","token":"%s-token"}}`
		ws := l.WebSocket(t, "/", nil, spec.Subprotocol)
		send(t, ws, fmt.Sprintf(hello, "the-guessed"))
		if code := <-readAll(ws); code != int(spec.CloseRefused) {
			t.Errorf("closed with %d", code)
		}
		ws = l.WebSocket(t, "/", http.Header{"Origin": {"http://127.0.0.1:3300"}}, spec.Subprotocol)
		send(t, ws, fmt.Sprintf(hello, "the-secret"))
		synctest.Wait()
		c := h.last()
		if !c.Attested || c.Origin != "https://page.example.com" || c.Hello.Token != "" {
			t.Errorf("the hub got %+v, token %q", c, c.Hello.Token)
		}
		if !strings.Contains(log.String(), "wrong token") || strings.Contains(log.String(), "-token") {
			t.Errorf("log: %s", log.String())
		}
	})
}

func TestConnectionEndsWithItsCredential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good, revoke := context.WithCancel(t.Context())
		_, _, l := start(t, wsserver.Options{Authenticate: func(_ *http.Request, hello *spec.Hello, _ *pairing.Exchange) (tabtransport.Admission, error) {
			if hello.TabKey == "origin" {
				return tabtransport.Admission{}, nil
			}
			if hello.TabKey == "brief" {
				return tabtransport.Admission{Expires: time.Now().Add(20 * time.Second)}, nil
			}
			return tabtransport.Admission{Revoked: good}, nil
		}})
		brief, began := l.WebSocket(t, "/", nil, spec.Subprotocol), time.Now()
		greet(t, brief, "brief")
		if code := <-readAll(brief); code != int(spec.CloseRefused) || time.Since(began) != 20*time.Second {
			t.Errorf("one that expires was closed with %d after %v", code, time.Since(began))
		}
		byToken, byOrigin := l.WebSocket(t, "/", nil, spec.Subprotocol), l.WebSocket(t, "/", nil, spec.Subprotocol)
		greet(t, byToken, "token")
		greet(t, byOrigin, "origin")
		ended, other := readAll(byToken), readAll(byOrigin)
		revoke()
		if code := <-ended; code != int(spec.CloseRefused) {
			t.Errorf("closed with %d", code)
		}
		synctest.Wait()
		select {
		case code := <-other:
			t.Errorf("the peer without a credential was closed, too, with %d", code)
		default:
		}
	})
}

func TestUsersNeverSeeEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, local, l := start(t, wsserver.Options{Authenticate: func(_ *http.Request, hello *spec.Hello, _ *pairing.Exchange) (tabtransport.Admission, error) {
			return tabtransport.Admission{User: spec.UserID(hello.Token)}, nil
		}})
		ann := &hub{}
		srv.Transport("ann").Handle(ann)
		ws := l.WebSocket(t, "/", nil, spec.Subprotocol)
		readAll(ws)
		send(t, ws, `{"jsonrpc":"2.0","method":"browser/hello","params":{"protocolVersion":"tabhub.v1","tabKey":"k","token":"ann"}}`)
		synctest.Wait()
		if len(local.conns) != 0 || len(ann.conns) != 1 {
			t.Errorf("%d connections at the local user, %d at ann", len(local.conns), len(ann.conns))
		}
		if _, err := srv.Transport(spec.LocalUser).SendRequest(t.Context(), spec.TabAddr{Peer: "k"}, &spec.Text{}, tabtransport.Wait{}); !errors.Is(err, tabtransport.ErrNotConnected) {
			t.Errorf("another user reaches the tab: %v", err)
		}
	})
}

func TestTabsThatComeBeforeTheHubIsReadyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := wsserver.New(wsserver.Options{})
		t.Cleanup(func() { srv.Close(context.Background()) })
		l := wstest.Serve(t, srv.Tabs())
		ws := l.WebSocket(t, "/", nil, spec.Subprotocol)
		readAll(ws)
		send(t, ws, register(`[{"name":"a"}]`))
		time.Sleep(3 * time.Second)
		h := &hub{}
		srv.Transport(spec.LocalUser).Handle(h)
		synctest.Wait()
		if !slices.Equal(h.got(), []string{`{"tools":[{"name":"a"}]}`}) {
			t.Errorf("the hub has got %q", h.got())
		}

		unready := wsserver.New(wsserver.Options{})
		t.Cleanup(func() { unready.Close(context.Background()) })
		never := wstest.Serve(t, unready.Tabs()).WebSocket(t, "/", nil, spec.Subprotocol)
		send(t, never, register(`[]`))
		if code := <-readAll(never); code != int(spec.CloseGoingAway) {
			t.Errorf("a tab whose hub never comes was closed with %d", code)
		}
	})
}

// A frame that is too large or too deep is skipped: the connection stays open, and a request
// that waits for the frame fails at once.
func TestFrameThatIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h, l := start(t, wsserver.Options{MaxFrame: 4000})
		ws := l.WebSocket(t, "/", nil, spec.Subprotocol)
		greet(t, ws, "k")
		deep := strings.Repeat("[", spec.MaxDepth+1) + strings.Repeat("]", spec.MaxDepth+1)
		large := `"` + strings.Repeat("x", 5000) + `"`
		for _, value := range []string{large, deep} {
			send(t, ws, register(value))
			send(t, ws, `{"jsonrpc":"2.0","id":7,"method":"browser/registerTools","params":`+value+`}`)
			_, got, _ := ws.ReadMessage()
			if !strings.HasPrefix(string(got), `{"jsonrpc":"2.0","id":7,"error":{"code":-32003,"message":"a frame may `) {
				t.Errorf("a request is answered %s", got)
			}
			failed := make(chan error, 1)
			go func() {
				_, err := srv.Transport(spec.LocalUser).SendRequest(t.Context(), spec.TabAddr{Peer: "k"}, &spec.ExecuteTool{ToolName: "a"}, tabtransport.Wait{Timeout: time.Minute})
				failed <- err
			}()
			_, call, _ := ws.ReadMessage()
			id, _ := rawjson.String(rawjson.Get(call, "id"))
			send(t, ws, `{"jsonrpc":"2.0","id":"`+id+`","result":{"success":true,"payload":`+value+`}}`)
			began := time.Now()
			if err, ok := errors.AsType[*spec.Error](<-failed); !ok || err.Code != spec.CodeLimit || time.Since(began) > time.Second {
				t.Errorf("a call ends with %v after %v", err, time.Since(began))
			}
		}
		send(t, ws, register(`[]`))
		synctest.Wait()
		if s := srv.Stats(); s.TooBig != 3 || s.Malformed != 6 || len(h.got()) != 1 || len(h.gone()) != 0 {
			t.Errorf("%+v, messages %q, lost %v", s, h.got(), h.gone())
		}
		code := readAll(ws)
		go ws.WriteMessage(websocket.TextMessage, []byte(register(`["`+strings.Repeat("x", 20_000)+`"]`)))
		if got := <-code; got != int(spec.CloseTooBig) {
			t.Errorf("after far too much closed with %d", got)
		}
	})
}

// A frame that is no message gets an error if it has an id, but for what may be an
// answer itself: two peers must not go on answering each other's errors.
func TestFrameThatIsNoMessageIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, l := start(t, wsserver.Options{})
		ws := l.WebSocket(t, "/", nil, spec.Subprotocol)
		send(t, ws, `{"id":"first"}`)
		greet(t, ws, "k")
		for _, frame := range []string{
			`{"id":0}`, `{"jsonrpc":"1.0","id":1,"method":"browser/ping"}`, `{"jsonrpc":"2.0","id":2,"method":5}`, `{"jsonrpc":"2.0","id":3}`,
			`{"id":4,"result":{}}`, `{"jsonrpc":"1.0","id":5,"error":{"code":1,"message":""}}`, `{"jsonrpc":"2.0","id":6,"result":{}}`, `{"id":{}}`,
			`{"jsonrpc":"2.0","id":"last","method":"browser/ping"}`,
		} {
			send(t, ws, frame)
		}
		for _, want := range []string{`"first"`, "0", "1", "2", "3", `"last"`} {
			_, got, err := ws.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			code := string(rawjson.Get(got, "error", "code"))
			if id := string(rawjson.Get(got, "id")); id != want || (code == "-32600") != (want != `"last"`) {
				t.Errorf("got %s, want an answer to %s", got, want)
			}
		}
	})
}

// A peer that has not said hello cannot make the hub hold much.
func TestFrameBeforeHelloIsSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, h, l := start(t, wsserver.Options{})
		large := register(`["` + strings.Repeat("x", 5<<20) + `"]`)
		ws := l.WebSocket(t, "/", nil, spec.Subprotocol)
		code := readAll(ws)
		go ws.WriteMessage(websocket.TextMessage, []byte(large))
		if got := <-code; got != int(spec.CloseTooBig) {
			t.Errorf("closed with %d", got)
		}
		ws = l.WebSocket(t, "/", nil, spec.Subprotocol)
		readAll(ws)
		greet(t, ws, "k")
		send(t, ws, large)
		synctest.Wait()
		if len(h.got()) != 1 {
			t.Errorf("messages %d, want the one after hello", len(h.got()))
		}
	})
}

func TestMalformedFramesAreCountedLoggedOnceAndSurvived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		srv, h, l := start(t, wsserver.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		ws := l.WebSocket(t, "/", nil, spec.Subprotocol)
		code := readAll(ws)
		greet(t, ws, "k")
		deep := strings.Repeat("[", spec.MaxDepth+1) + strings.Repeat("]", spec.MaxDepth+1)
		bad := []string{``, `{`, `[]`, `null`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"1.0","method":"browser/ping"}`, `{"type":"hello"}`,
			`{"jsonrpc":"2.0","method":7}`, "{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}", register(deep), register(`7`), `{"jsonrpc":"2.0","method":"no/such"}`,
			`{"jsonrpc":"2.0","id":{},"method":"browser/ping"}`, `{"jsonrpc":"2.0","method":"browser/progress","params":{"progress":1}}`}
		for _, frame := range bad {
			send(t, ws, frame)
		}
		ws.WriteMessage(websocket.BinaryMessage, []byte(register(`[]`)))
		send(t, ws, register(`[{"name":"alive"}]`))
		synctest.Wait()
		if got := srv.Stats().Malformed; got != uint64(len(bad)+1) {
			t.Errorf("%d malformed frames counted, sent %d", got, len(bad)+1)
		}
		if !slices.Equal(h.got(), []string{`{"tools":[{"name":"alive"}]}`}) {
			t.Errorf("the hub has got %q", h.got())
		}
		if n := strings.Count(log.String(), "malformed"); n != 1 {
			t.Errorf("logged %d times: %s", n, log.String())
		}
		for range 100 {
			if ws.WriteMessage(websocket.TextMessage, []byte("junk")) != nil {
				break
			}
		}
		if got := <-code; got != int(spec.CloseTooFast) {
			t.Errorf("after a flood of junk closed with %d", got)
		}
	})
}

func TestFloodOfMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, _, l := start(t, wsserver.Options{})
		ws := l.WebSocket(t, "/", nil, spec.Subprotocol)
		code := readAll(ws)
		greet(t, ws, "k")
		frame := []byte(`{"jsonrpc":"2.0","method":"browser/tabState","params":{"active":true}}`)
		n := 0
		for ; n < 20_000 && ws.WriteMessage(websocket.TextMessage, frame) == nil; n++ {
		}
		if got := <-code; got != int(spec.CloseTooFast) || srv.Stats().TooFast != 1 {
			t.Errorf("after %d messages closed with %d, %+v", n, got, srv.Stats())
		}
	})
}

// What a page registered last must win, also when it registers much too often and
// then goes away.
func TestLastRegistrationWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h, l := start(t, wsserver.Options{})
		ws := l.WebSocket(t, "/", nil, spec.Subprotocol)
		readAll(ws)
		greet(t, ws, "k")
		for i := range 500 {
			send(t, ws, register(fmt.Sprintf("[%d]", i)))
		}
		synctest.Wait()
		if len(h.got()) != spec.MaxRegistrations {
			t.Errorf("%d registrations in no time", len(h.got()))
		}
		time.Sleep(time.Second / spec.MaxRegistrations)
		synctest.Wait()
		if got := lastOf(h.got()); got != `{"tools":[499]}` {
			t.Errorf("last is %s", got)
		}
		for i := range 50 {
			send(t, ws, register(fmt.Sprintf("[%d]", 1000+i)))
		}
		ws.NetConn().Close()
		synctest.Wait()
		if got := lastOf(h.got()); got != `{"tools":[1049]}` {
			t.Errorf("last before the connection was lost is %s", got)
		}
		if srv.Stats().Throttled < 400 {
			t.Errorf("%+v", srv.Stats())
		}
	})
}

// A tab that does not read must not take others with it, and its calls must say
// that they were not sent.
func TestTabThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h, l := start(t, wsserver.Options{})
		tr := srv.Transport(spec.LocalUser)
		stuck, other := l.WebSocket(t, "/", nil, spec.Subprotocol), l.WebSocket(t, "/", nil, spec.Subprotocol)
		readAll(other)
		greet(t, stuck, "stuck")
		greet(t, other, "other")

		const calls = 1500
		errs := make(chan error, calls)
		for range calls {
			go func() {
				_, err := tr.SendRequest(t.Context(), spec.TabAddr{Peer: "stuck"}, &spec.ExecuteTool{ToolName: "x"}, tabtransport.Wait{Timeout: time.Minute})
				errs <- err
			}()
		}
		synctest.Wait()
		if _, err := tr.SendRequest(t.Context(), spec.TabAddr{Peer: "other"}, &spec.Text{}, tabtransport.Wait{Timeout: time.Second}); !errors.Is(err, tabtransport.ErrTimeout) {
			t.Errorf("a call to another tab: %v", err)
		}
		// One frame is being written; it counts as sent until the hub gives the tab up.
		time.Sleep(12 * time.Second)
		synctest.Wait()
		if !slices.Equal(h.gone(), []spec.PeerID{"stuck"}) {
			t.Fatalf("lost %v", h.gone())
		}
		tr.Disconnect(spec.TabAddr{Peer: "stuck"}, spec.CloseSlow, "")
		count := map[error]int{}
		for range calls {
			count[<-errs]++
		}
		if count[tabtransport.ErrLost] != 1 || count[tabtransport.ErrBusy] != calls-1-1024 || count[tabtransport.ErrNotConnected] != 1024 {
			t.Errorf("calls ended with %v", count)
		}
	})
}

// A call that waits in the queue can still be given up, and is then never sent.
func TestQueuedCallThatIsGivenUpIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, _, l := start(t, wsserver.Options{})
		tr := srv.Transport(spec.LocalUser)
		ws := l.WebSocket(t, "/", nil, spec.Subprotocol)
		greet(t, ws, "k")
		call := func(name string, timeout time.Duration) <-chan error {
			ch := make(chan error, 1)
			go func() {
				_, err := tr.SendRequest(t.Context(), spec.TabAddr{Peer: "k"}, &spec.ExecuteTool{ToolName: name}, tabtransport.Wait{Timeout: timeout})
				ch <- err
			}()
			synctest.Wait()
			return ch
		}
		first, second, third := call("first", 20*time.Second), call("second", time.Second), call("third", 2*time.Minute)
		if err := <-second; !errors.Is(err, tabtransport.ErrBusy) {
			t.Errorf("the call that waited too long in the queue ended with %v", err)
		}
		for _, want := range []string{"first", "third"} {
			_, frame, err := ws.ReadMessage()
			if err != nil || !strings.Contains(string(frame), `"toolName":"`+want+`"`) {
				t.Errorf("the tab has got %s, %v; want the call of %s", frame, err, want)
			}
		}
		readAll(ws)
		if err := <-first; !errors.Is(err, tabtransport.ErrTimeout) {
			t.Errorf("first: %v", err)
		}
		ws.NetConn().Close()
		synctest.Wait()
		tr.Disconnect(spec.TabAddr{Peer: "k"}, spec.CloseGoingAway, "")
		if err := <-third; !errors.Is(err, tabtransport.ErrLost) {
			t.Errorf("third: %v", err)
		}
	})
}
