package wsserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport/wsserver"
	"tabhub/tabtransport/wsserver/wstest"
)

// toolset is a hub as a webmcp-relay.v1 client sees it.
type toolset struct {
	mu       sync.Mutex
	tools    []wsserver.Tool
	watchers map[int]func()
	ended    []error // causes of calls that were given up
}

func (s *toolset) Tools() ([]wsserver.Tool, []wsserver.Source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools, []wsserver.Source{{ID: "a.com 1", Tab: "a.com tab 1", Title: "A", ConnectedAt: 1, LastSeenAt: 2, ToolCount: 1}}
}

func (s *toolset) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	switch name {
	case "echo":
		return fmt.Appendf(nil, `{"content":[{"type":"text","text":%q}]}`, args), nil
	case "odd":
		return json.RawMessage(`{"content":[{"type":"video","url":"x"}]}`), nil
	case "picture":
		return json.RawMessage(`{"content":[{"type":"image","mimeType":"image/png","data":` + string(rawjson.Get(args, "data")) + `}]}`), nil
	case "hang":
		<-ctx.Done()
		s.mu.Lock()
		s.ended = append(s.ended, context.Cause(ctx))
		s.mu.Unlock()
		return nil, context.Cause(ctx)
	}
	return nil, errors.New("unknown tool " + name)
}

func (s *toolset) Watch(f func()) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.watchers)
	s.watchers[n] = f
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, n)
	}
}

func (s *toolset) set(tools ...wsserver.Tool) {
	s.mu.Lock()
	s.tools = tools
	watchers := s.watchers
	s.mu.Unlock()
	for _, f := range watchers {
		f()
	}
}

func tool(name, members string) wsserver.Tool {
	return wsserver.Tool{Name: name, Definition: fmt.Appendf(nil, `{"name":%q%s}`, name, members), Sources: []string{"a.com 1"}}
}

// serveClients serves a toolset in a bubble, and connects as a relay does.
func serveClients(t *testing.T, opts wsserver.Options) (*wsserver.Server, *toolset, *websocket.Conn) {
	set := &toolset{watchers: map[int]func(){}}
	opts.Clients = func(context.Context, spec.UserID) (wsserver.Toolset, error) { return set, nil }
	srv := wsserver.New(opts)
	t.Cleanup(func() { srv.Close(context.Background()) })
	ws := wstest.Serve(t, srv.WebMCP()).WebSocket(t, "/", nil, "webmcp-relay.v1", "webmcp.v1")
	if ws.Subprotocol() != "webmcp-relay.v1" {
		t.Fatalf("subprotocol %q", ws.Subprotocol())
	}
	return srv, set, ws
}

func receive(t *testing.T, ws *websocket.Conn) string {
	t.Helper()
	_, frame, err := ws.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	return string(frame)
}

// The published relay loses what it reads together with the hub's hello.
func TestNothingComesWithTheHello(t *testing.T) {
	for _, noPong := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			_, set, ws := serveClients(t, wsserver.Options{})
			set.set(tool("a", ""))
			send(t, ws, `{"type":"relay/hello"}`)
			send(t, ws, `{"type":"relay/list-tools"}`)
			receive(t, ws)
			begin := time.Now()
			ws.SetPingHandler(func(data string) error {
				if noPong {
					return nil
				}
				time.Sleep(300 * time.Millisecond)
				return ws.WriteControl(websocket.PongMessage, []byte(data), time.Time{})
			})
			if got := receive(t, ws); !strings.Contains(got, `"relay/tools"`) {
				t.Errorf("got %s", got)
			}
			if took := time.Since(begin); !noPong && took != 300*time.Millisecond || noPong && took != time.Second {
				t.Errorf("the tools came %v after the hello", took)
			}
			set.set(tool("b", ""))
			begin = time.Now()
			if got := receive(t, ws); !strings.Contains(got, `"relay/tools-changed"`) || time.Since(begin) != 0 {
				t.Errorf("got %s after %v", got, time.Since(begin))
			}
		})
	}
}

func TestRelayListsFollowsAndCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, set, ws := serveClients(t, wsserver.Options{Instance: "hub-1"})
		set.set(tool("a", `,"description":"does a","inputSchema":{"type":"object","properties":{"x":{"type":"string"}}},"annotations":{"readOnlyHint":true}`))
		if got := receive(t, ws); !strings.Contains(got, `"type":"server-hello","service":"webmcp-local-relay","version":1`) || !strings.Contains(got, `"relayId":"hub-1"`) {
			t.Errorf("the first frame is %s", got)
		}
		send(t, ws, `{"type":"relay/hello"}`)
		send(t, ws, `{"type":"relay/list-tools"}`)
		if got, want := receive(t, ws), `{"type":"relay/tools","tools":[{"name":"a","description":"does a","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"x":{"type":"string"}}}}],"toolSourceMap":{"a":["a.com 1"]},"sources":[{"sourceId":"a.com 1","tabId":"a.com tab 1","title":"A","connectedAt":1,"lastSeenAt":2,"toolCount":1}]}`; got != want {
			t.Errorf("listed\n%s, want\n%s", got, want)
		}
		// While the client does not read, later lists replace earlier ones.
		for i := range 100 {
			set.set(tool(fmt.Sprint("b", i), ""))
		}
		synctest.Wait()
		lists := []string{receive(t, ws)}
		for !strings.Contains(lastOf(lists), `"b99"`) {
			lists = append(lists, receive(t, ws))
		}
		if len(lists) > 2 || !strings.HasPrefix(lists[0], `{"type":"relay/tools-changed","tools":[{"name":"b`) {
			t.Errorf("%d lists for 100 changes: %q", len(lists), lists)
		}
		for _, c := range []struct{ tool, args, want string }{
			{"echo", `{"x":[1, 2]}`, `{"content":[{"type":"text","text":"{\"x\":[1, 2]}"}]}`},
			{"odd", `{}`, `{"content":[{"type":"text","text":"the tool's result is not one that MCP knows: {\"content\":[{\"type\":\"video\",\"url\":\"x\"}]}"}],"isError":true}`},
			{"picture", `{"data":"aGk="}`, `{"content":[{"type":"image","mimeType":"image/png","data":"aGk="}]}`},
			{"picture", `{"data":"data:a"}`, `{"content":[{"type":"text","text":"the tool's result is not one that MCP knows: {\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"data:a\"}]}"}],"isError":true}`},
			{"none", `{}`, `{"content":[{"type":"text","text":"unknown tool none"}],"isError":true}`},
		} {
			send(t, ws, fmt.Sprintf(`{"type":"relay/invoke","callId":"1\u0022","toolName":%q,"args":%s}`, c.tool, c.args))
			got := receive(t, ws)
			for strings.HasPrefix(got, `{"type":"relay/tools-changed"`) {
				got = receive(t, ws)
			}
			if want := `{"type":"relay/result","callId":"1\u0022","result":` + c.want + `}`; got != want {
				t.Errorf("%s gave\n%s, want\n%s", c.tool, got, want)
			}
		}
	})
}

// One odd tool must not cost the client all the others: it checks the list as a whole.
func TestRelayIsSentOnlyWhatFitsItsSchema(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, set, ws := serveClients(t, wsserver.Options{})
		set.set(
			tool("none", ``),
			tool("type", `,"inputSchema":{"type":["object"]}`),
			tool("property", `,"inputSchema":{"type":"object","properties":{"x":true}},"outputSchema":{"type":"array"}`),
			tool("required", `,"inputSchema":{"type":"object","required":[1]}`),
			tool("hint", `,"annotations":{"readOnlyHint":"yes"},"title":7,"icons":[{}],"_meta":1`),
		)
		receive(t, ws)
		send(t, ws, `{"type":"relay/list-tools"}`)
		got := receive(t, ws)
		for _, name := range []string{"none", "type", "property", "required", "hint"} {
			if want := fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name); !strings.Contains(got, want) {
				t.Errorf("want %s in %s", want, got)
			}
		}
	})
}

func TestRelayThatGoesAwayEndsItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, set, ws := serveClients(t, wsserver.Options{})
		receive(t, ws)
		send(t, ws, `{"type":"relay/hello"}`)
		send(t, ws, `{"type":"relay/invoke","callId":"1","toolName":"hang"}`)
		for _, junk := range []string{`{`, `[]`, `{"x":1}`, `{"type":"relay/invoke"}`} {
			send(t, ws, junk)
		}
		synctest.Wait()
		if got := srv.Stats(); got.Malformed != 4 || got.Connections != 1 {
			t.Errorf("%+v", got)
		}
		ws.NetConn().Close()
		synctest.Wait()
		if len(set.ended) != 1 || len(set.watchers) != 0 || srv.Stats().Connections != 0 {
			t.Errorf("calls ended %v, %d watchers, %+v", set.ended, len(set.watchers), srv.Stats())
		}
	})
}

// A relay whose machine has gone to sleep says nothing more.
func TestRelayThatDoesNotAnswerPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, _, ws := serveClients(t, wsserver.Options{})
		var asleep atomic.Bool
		pong := ws.PingHandler()
		ws.SetPingHandler(func(data string) error {
			if asleep.Load() {
				return nil
			}
			return pong(data)
		})
		readAll(ws)
		time.Sleep(5 * time.Minute)
		if srv.Stats().Connections != 1 {
			t.Error("a relay that answers pings was dropped")
		}
		asleep.Store(true)
		time.Sleep(time.Minute)
		if srv.Stats().Connections != 0 {
			t.Error("a relay that does not is still connected")
		}
	})
}

func TestRelayIsToldWhenTheHubEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, _, ws := serveClients(t, wsserver.Options{})
		code := readAll(ws)
		send(t, ws, `{"type":"relay/invoke","callId":"1","toolName":"hang"}`)
		synctest.Wait()
		if err := srv.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if got := <-code; got != int(spec.CloseGoingAway) {
			t.Errorf("closed with %d", got)
		}
	})
}

func TestRelayIsRefusedWhereCredentialsAreAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := wsserver.New(wsserver.Options{})
		t.Cleanup(func() { srv.Close(context.Background()) })
		l := wstest.Serve(t, srv.WebMCP())
		d := websocket.Dialer{Subprotocols: []string{"webmcp-relay.v1", "webmcp.v1"}, NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) }}
		_, resp, err := d.Dial("ws://127.0.0.1:3300/", nil)
		if err == nil || resp == nil || resp.StatusCode != http.StatusForbidden {
			t.Fatalf("%v, %v", resp, err)
		}
		body := make([]byte, 300)
		n, _ := resp.Body.Read(body)
		if !strings.Contains(string(body[:n]), "--auth none") {
			t.Errorf("told %q", body[:n])
		}
	})
}
