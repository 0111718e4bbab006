package relay

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

var upgrader = websocket.Upgrader{ReadBufferSize: 4096, WriteBufferPool: &sync.Pool{}, CheckOrigin: func(*http.Request) bool { return true }}

// bare is the least that a relay can be: it joins one extension and one client and
// looks at nothing.
type bare struct {
	mu       sync.Mutex
	ext, mcp *websocket.Conn
}

func (r *bare) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	ws, err := upgrader.Upgrade(w, req, nil)
	if err != nil {
		return
	}
	defer ws.Close()
	mine, other := &r.mcp, &r.ext
	if req.URL.Path == "/extension" {
		mine, other = other, mine
	}
	r.mu.Lock()
	*mine = ws
	r.mu.Unlock()
	for {
		_, b, err := ws.ReadMessage()
		if err != nil {
			return
		}
		r.mu.Lock()
		to := *other
		r.mu.Unlock()
		if to.WriteMessage(websocket.TextMessage, b) != nil {
			return
		}
	}
}

// answer is an extension that answers each request with the same result.
func answer(ws *websocket.Conn, result string) {
	for {
		_, b, err := ws.ReadMessage()
		if err != nil {
			return
		}
		_, rest, ok := bytes.Cut(b, []byte(`"id":`))
		if !ok || !bytes.Contains(b, []byte(`"method":"call"`)) {
			continue
		}
		id, _, _ := bytes.Cut(rest, []byte(","))
		out := make([]byte, 0, len(result)+128)
		out = fmt.Appendf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
		if ws.WriteMessage(websocket.TextMessage, out) != nil {
			return
		}
	}
}

// side is a client of one of the two relays that are compared.
type side struct {
	ws *websocket.Conn
	n  int
}

func (s *side) send(b *testing.B) {
	s.n++
	if err := s.ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"call","params":{"sessionId":"0123456789","method":"Runtime.evaluate","params":{"expression":"document.title"}}}`, s.n)); err != nil {
		b.Fatal(err)
	}
}

func (s *side) receive(b *testing.B) {
	for {
		_, f, err := s.ws.ReadMessage()
		if err != nil {
			b.Fatal(err)
		}
		if bytes.Contains(f[:min(len(f), 100)], []byte(`"result"`)) {
			return
		}
	}
}

// sides connects a client and an extension to a bare relay and to this one.
func sides(b *testing.B, result string) (floor, relay *side) {
	dial := func(h http.Handler) (ext, mcp *websocket.Conn) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		srv := &http.Server{Handler: h}
		go srv.Serve(ln)
		b.Cleanup(func() { srv.Close() })
		var conns []*websocket.Conn
		for _, path := range []string{"/extension", "/mcp"} {
			ws, _, err := websocket.DefaultDialer.Dial("ws://"+ln.Addr().String()+path, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { ws.Close() })
			conns = append(conns, ws)
		}
		return conns[0], conns[1]
	}
	ext, mcp := dial(&bare{})
	go answer(ext, result)
	floor = &side{ws: mcp}

	r := New(Options{Verify: verify, Limits: Limits{ClientRate: 1e9, UserRate: 1e9, MessageRate: 1e9}})
	b.Cleanup(r.Close)
	mux := http.NewServeMux()
	mux.Handle("/extension", r.Extension())
	mux.Handle("/mcp", r.Client())
	ext, mcp = dial(mux)
	ext.ReadMessage()
	ext.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","id":"proxy:1","result":{"name":"Chrome","client_id":"x"}}`))
	ext.ReadMessage()
	go answer(ext, result)
	relay = &side{ws: mcp}
	for _, f := range []string{`"method":"mcp_handshake"`, fmt.Sprintf(`"method":"connect","params":{"extension_id":%q}`, extensionID("local", "x"))} {
		mcp.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","id":0,`+f+`}`))
		relay.receive(b)
	}
	return floor, relay
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// compare runs rounds of n calls in flight through both relays in turn and reports
// the medians and their ratio.
func compare(b *testing.B, result string, n int) {
	floor, relay := sides(b, result)
	round := func(s *side) time.Duration {
		start := time.Now()
		for range n {
			s.send(b)
		}
		for range n {
			s.receive(b)
		}
		return time.Since(start) / time.Duration(n)
	}
	var a, c []time.Duration
	for b.Loop() {
		a = append(a, round(floor))
		c = append(c, round(relay))
	}
	bareP50, p50 := median(a), median(c)
	b.ReportMetric(float64(bareP50.Nanoseconds()), "bare-ns/call")
	b.ReportMetric(float64(p50.Nanoseconds()), "relay-ns/call")
	b.ReportMetric(float64(p50)/float64(bareP50), "relay/bare")
}

// The cost of a forwarded call against a relay that looks at nothing: the targets are
// 1.5 times its p50, and 0.7 of its rate with 64 in flight and with 1 MB screenshots.
func BenchmarkForward(b *testing.B) {
	b.Run("one", func(b *testing.B) { compare(b, `{"result":{"type":"string","value":"Example"}}`, 1) })
	b.Run("64", func(b *testing.B) { compare(b, `{"result":{"type":"string","value":"Example"}}`, 64) })
	b.Run("1MB", func(b *testing.B) { compare(b, `{"data":"`+strings.Repeat("iVBORw0K", 1<<17)+`"}`, 1) })
}
