package wsserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/wsserver"
)

// quiet is a handler that takes everybody and does nothing.
type quiet struct{ joined chan struct{} }

func (q quiet) Connect(c tabtransport.Conn) (tabtransport.Accepted, error) {
	if q.joined != nil {
		q.joined <- struct{}{}
	}
	return tabtransport.Accepted{Peer: spec.PeerID(c.Hello.TabKey)}, nil
}
func (quiet) Message(spec.TabAddr, json.RawMessage, spec.Inbound) {}
func (quiet) Disconnected(spec.PeerID, error)                     {}

// echoTab connects a webmcp.v1 page that answers each call at once, with as little
// work as possible.
func echoTab(tb testing.TB, url, key, answer string) *websocket.Conn {
	d := websocket.Dialer{Subprotocols: []string{"webmcp.v1"}}
	ws, _, err := d.Dial(url, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { ws.Close() })
	ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"type":"hello","tabId":%q}`, key))
	go func() {
		var out []byte
		for {
			_, b, err := ws.ReadMessage()
			if err != nil {
				return
			}
			if _, rest, ok := bytes.Cut(b, []byte(`"callId":"`)); ok {
				out = append(append(append(out[:0], `{"type":"result","callId":"`...), rest[:36]...), answer...)
				ws.WriteMessage(websocket.TextMessage, out)
			}
		}
	}()
	return ws
}

func wsURL(srv *httptest.Server) string { return "ws" + strings.TrimPrefix(srv.URL, "http") }

// BenchmarkRoundTrip compares a request to a tab with the least there can be: a
// frame that a bare gorilla connection sends and gets back.
func BenchmarkRoundTrip(b *testing.B) {
	for _, size := range []int{64, 64 << 10} {
		text := strings.Repeat("x", size)
		b.Run(fmt.Sprintf("bare/%d", size), func(b *testing.B) {
			up := websocket.Upgrader{ReadBufferSize: 1 << 16, WriteBufferSize: 1 << 16}
			got := make(chan []byte)
			conn := make(chan *websocket.Conn, 1)
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ws, err := up.Upgrade(w, r, nil)
				if err != nil {
					b.Error(err)
					return
				}
				conn <- ws
				for {
					_, msg, err := ws.ReadMessage()
					if err != nil {
						return
					}
					got <- msg
				}
			}))
			defer srv.Close()
			page, _, err := websocket.DefaultDialer.Dial(wsURL(srv), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer page.Close()
			go func() {
				for {
					_, msg, err := page.ReadMessage()
					if err != nil {
						return
					}
					page.WriteMessage(websocket.TextMessage, msg)
				}
			}()
			ws := <-conn
			frame := []byte(text)
			for b.Loop() {
				ws.WriteMessage(websocket.TextMessage, frame)
				<-got
			}
		})
		b.Run(fmt.Sprintf("request/%d", size), func(b *testing.B) {
			tr, url := serveWebMCP(b, 1)
			echoTab(b, url, "tab", `","result":{"content":[{"type":"text","text":"`+text+`"}]}}`)
			<-tr.joined
			req := &spec.ExecuteTool{ToolName: "echo", Args: json.RawMessage(`{"text":"` + text + `"}`)}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tr.SendRequest(context.Background(), spec.TabAddr{Peer: "tab"}, req, tabtransport.Wait{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("parallel/%d", size), func(b *testing.B) {
			tr, url := serveWebMCP(b, 16)
			for i := range 16 {
				echoTab(b, url, fmt.Sprint(i), `","result":{"content":[{"type":"text","text":"`+text+`"}]}}`)
				<-tr.joined
			}
			req := &spec.ExecuteTool{ToolName: "echo", Args: json.RawMessage(`{"text":"` + text + `"}`)}
			b.SetParallelism(32)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for n := 0; pb.Next(); n++ {
					if _, err := tr.SendRequest(context.Background(), spec.TabAddr{Peer: spec.PeerID(fmt.Sprint(n % 16))}, req, tabtransport.Wait{}); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

type benchTransport struct {
	*tabtransport.Peers
	joined chan struct{}
}

func serveWebMCP(tb testing.TB, peers int) (benchTransport, string) {
	s := wsserver.New(wsserver.Options{})
	tr := benchTransport{s.Transport(spec.LocalUser), make(chan struct{}, peers)}
	tr.Handle(quiet{tr.joined})
	srv := httptest.NewServer(s.WebMCP())
	tb.Cleanup(func() {
		s.Close(context.Background())
		srv.Close()
	})
	return tr, wsURL(srv)
}

// BenchmarkIdle reports what an idle connection costs the server.
func BenchmarkIdle(b *testing.B) {
	const n = 1000
	for b.Loop() {
		tr, url := serveWebMCP(b, n)
		var before, after runtime.MemStats
		// The client's ends live in this process too, and are counted alike: the
		// figure is an upper bound.
		runtime.GC()
		runtime.ReadMemStats(&before)
		conns := make([]*websocket.Conn, n)
		for i := range conns {
			d := websocket.Dialer{Subprotocols: []string{"webmcp.v1"}, ReadBufferSize: 256, WriteBufferSize: 256}
			ws, _, err := d.Dial(url, nil)
			if err != nil {
				b.Fatal(err)
			}
			ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"type":"hello","tabId":"%d"}`, i))
			<-tr.joined
			conns[i] = ws
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		used := after.HeapAlloc + after.StackInuse - before.HeapAlloc - before.StackInuse
		b.ReportMetric(float64(used)/n/1024, "KiB/conn")
		for _, ws := range conns {
			ws.Close()
		}
	}
}

// BenchmarkJoin is a page that connects, says hello and offers ten tools.
func BenchmarkJoin(b *testing.B) {
	tr, url := serveWebMCP(b, 1)
	tool := `{"name":"tool","description":"echo the arguments back to the caller, as they came in","inputSchema":{"type":"object","properties":{"text":{"type":"string","description":"what to echo"},"n":{"type":"integer"}}}}`
	tools := []byte(`{"type":"tools/list","tools":[` + strings.Repeat(tool+",", 9) + tool + `]}`)
	for n := 0; b.Loop(); n++ {
		ws := echoTab(b, url, fmt.Sprint(n), "")
		ws.WriteMessage(websocket.TextMessage, tools)
		<-tr.joined
		ws.Close()
	}
}
