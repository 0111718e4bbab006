package wsserver_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
	"tabhub/tabtransport/wsserver"
)

// A user who gives a call up must not wait for a page that is stuck, and the page
// must get all that was begun once it reads again.
func TestCallBeingWrittenCanBeGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, _, l := start(t, wsserver.Options{})
		tr := srv.Transport(spec.LocalUser)
		ws := l.WebSocket(t, "/", nil, spec.Subprotocol)
		greet(t, ws, "k")
		long := &spec.ExecuteTool{ToolName: "long", Args: json.RawMessage(`{"text":"` + strings.Repeat("x", 100<<10) + `"}`)}

		began := time.Now()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("the user has waited long enough"))
		defer cancel()
		_, err := tr.SendRequest(ctx, spec.TabAddr{Peer: "k"}, long, tabtransport.Wait{Timeout: time.Minute})
		if !errors.Is(err, context.Cause(ctx)) || time.Since(began) != time.Second {
			t.Errorf("ended after %v with %v", time.Since(began), err)
		}
		// The pong must not come in the middle of what is still being written.
		if err := ws.WriteControl(websocket.PingMessage, []byte("there?"), time.Now().Add(time.Second)); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		pongs := 0
		ws.SetPongHandler(func(string) error { pongs++; return nil })
		for _, want := range []string{`"toolName":"long"`, `"browser/cancel"`} {
			_, frame, err := ws.ReadMessage()
			if err != nil || rawjson.Valid(frame, spec.MaxDepth) != nil || !strings.Contains(string(frame), want) {
				t.Errorf("the tab has got %.200s, %v; want %s", frame, err, want)
			}
		}
		if pongs != 1 {
			t.Errorf("%d pongs", pongs)
		}
		go func() {
			_, frame, _ := ws.ReadMessage()
			send(t, ws, `{"jsonrpc":"2.0","id":`+string(rawjson.Get(frame, "id"))+`,"result":{"success":true,"payload":"alive"}}`)
		}()
		resp, err := tr.SendRequest(t.Context(), spec.TabAddr{Peer: "k"}, &spec.ExecuteTool{ToolName: "short"}, tabtransport.Wait{})
		if err != nil || string(resp.Result) != `"alive"` {
			t.Errorf("the next call ended with %s, %v", resp.Result, err)
		}
	})
}

// What a full socket has taken in part must be continued, not repeated or dropped.
func TestFullSocketIsContinued(t *testing.T) {
	tr, url := serveWebMCP(t, 1)
	d := websocket.Dialer{Subprotocols: []string{"webmcp.v1"}, NetDialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err == nil {
			err = conn.(*net.TCPConn).SetReadBuffer(32 << 10)
		}
		return conn, err
	}}
	ws, _, err := d.Dial(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	ws.WriteMessage(websocket.TextMessage, []byte(`{"type":"hello","tabId":"tab"}`))
	<-tr.joined

	// Calls are sent until one finds the socket full and the next has to wait.
	sent := 0
	for err = error(nil); !errors.Is(err, tabtransport.ErrBusy); {
		args := fmt.Appendf(nil, `{"n":%d,"text":"%s"}`, sent, strings.Repeat("x", 100<<10))
		_, err = tr.SendRequest(t.Context(), spec.TabAddr{Peer: "tab"}, &spec.ExecuteTool{ToolName: "t", Args: args}, tabtransport.Wait{Timeout: 5 * time.Millisecond})
		if errors.Is(err, tabtransport.ErrTimeout) {
			sent++
		}
	}
	readBack := func(n int) {
		t.Helper()
		for {
			_, frame, err := ws.ReadMessage()
			if err != nil || rawjson.Valid(frame, spec.MaxDepth) != nil {
				t.Fatalf("frame %d: %.100s, %v", n, frame, err)
			}
			if got := rawjson.Get(frame, "args", "n"); got != nil {
				if string(got) != fmt.Sprint(n) {
					t.Fatalf("call %s came in place of %d", got, n)
				}
				return
			}
		}
	}
	for n := range sent {
		readBack(n)
	}
	last := make(chan error, 1)
	go func() {
		_, err := tr.SendRequest(t.Context(), spec.TabAddr{Peer: "tab"}, &spec.ExecuteTool{ToolName: "t", Args: fmt.Appendf(nil, `{"n":%d}`, sent)}, tabtransport.Wait{})
		last <- err
	}()
	readBack(sent)
	ws.Close()
	tr.Disconnect(spec.TabAddr{Peer: "tab"}, spec.CloseGoingAway, "")
	if err := <-last; !errors.Is(err, tabtransport.ErrLost) {
		t.Errorf("the last call ended with %v", err)
	}
}

// Over TLS a tab gets and gives all that it does without: small frames and large, many
// at once.
func TestTabsOverTLS(t *testing.T) {
	s := wsserver.New(wsserver.Options{})
	tr := benchTransport{s.Transport(spec.LocalUser), make(chan struct{}, 1)}
	tr.Handle(quiet{tr.joined})
	srv := httptest.NewTLSServer(s.WebMCP())
	defer srv.Close()
	defer s.Close(context.Background())

	d := websocket.Dialer{Subprotocols: []string{"webmcp.v1"}, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	ws, _, err := d.Dial(wsURL(srv), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	ws.WriteMessage(websocket.TextMessage, []byte(`{"type":"hello","tabId":"tab"}`))
	go func() {
		for {
			_, frame, err := ws.ReadMessage()
			if err != nil {
				return
			}
			if id := rawjson.Get(frame, "callId"); id != nil {
				ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"type":"result","callId":%s,"result":%s}`, id, rawjson.Get(frame, "args")))
			}
		}
	}()
	<-tr.joined
	wait := tabtransport.Wait{Timeout: time.Hour} // how long they take together is the machine's affair
	var calls sync.WaitGroup
	for i := range 200 {
		calls.Go(func() {
			args := fmt.Sprintf(`{"n":%d,"text":"%s"}`, i, strings.Repeat("x", 1<<(i%19)))
			resp, err := tr.SendRequest(t.Context(), spec.TabAddr{Peer: "tab"}, &spec.ExecuteTool{ToolName: "echo", Args: json.RawMessage(args)}, wait)
			if err != nil || string(resp.Result) != args {
				t.Errorf("call %d of %d bytes ended with %.100s, %v", i, len(args), resp.Result, err)
			}
		})
	}
	calls.Wait()
}
