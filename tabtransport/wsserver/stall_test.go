package wsserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
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
