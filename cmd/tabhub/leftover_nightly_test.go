//go:build nightly

package main

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// A hub weighs no more after 240 rounds of 40 tabs and 10 clients than after 40. Half of the tabs
// are of sites that come once, and half of the clients go without a word.
func TestWhatIsLeftOfTabsAndClients(t *testing.T) {
	p, _ := serveTest(t, "--policy", "open", "--demo=false")
	token, err := os.ReadFile(filepath.Join(string(p.Dir), "token"))
	if err != nil {
		t.Fatal(err)
	}
	v := visitors{t: t, addr: p.Info.Addrs[0], token: strings.TrimSpace(string(token))}
	weigh := func() uint64 {
		http.DefaultClient.CloseIdleConnections()
		time.Sleep(spec.TabGrace + time.Second) // the hub's own time: its tabs may come back until then
		for range 3 {
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var first uint64
	for n := 1; n <= 240; n++ {
		v.round()
		if n%40 > 0 {
			continue
		}
		heap := weigh()
		first = cmp.Or(first, heap)
		t.Logf("%d kB after %d rounds", heap>>10, n)
		// The last list that was made has the tabs that could still come back then, more or fewer.
		if heap > first+first/10+256<<10 {
			t.Errorf("it weighs %d kB after 40 rounds, and %d kB after %d", first>>10, heap>>10, n)
		}
	}
}

// visitors are tabs and clients that come to a hub and go.
type visitors struct {
	t           *testing.T
	addr, token string
	tabs        int // so far
}

func (v *visitors) round() {
	for i := range 40 {
		defer v.tab(i).Close()
	}
	for i := range 10 {
		session, _ := v.ask("POST", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a client","version":"1"}}}`)
		v.ask("POST", session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		v.ask("POST", session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		if _, answer := v.ask("POST", session, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"website_tool_localhost_8000_look","arguments":{"what":"it"}}}`); !strings.Contains(answer, "seen") {
			v.t.Fatal(answer)
		}
		if i%2 == 0 {
			v.ask("DELETE", session, "")
		}
	}
}

// tab opens a page with one tool, at one of 8 origins or at a new one.
func (v *visitors) tab(i int) *websocket.Conn {
	v.tabs++
	origin := fmt.Sprintf("http://localhost:%d", 8000+i%8)
	if i >= 20 {
		origin = fmt.Sprintf("http://localhost:%d", 10_000+v.tabs)
	}
	d := websocket.Dialer{Subprotocols: []string{spec.Subprotocol}}
	ws, _, err := d.DialContext(v.t.Context(), "ws://"+v.addr+"/tabs", http.Header{"Origin": {origin}})
	if err != nil {
		v.t.Fatal(err)
	}
	say := func(text string) { _ = ws.WriteMessage(websocket.TextMessage, []byte(text)) }
	say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"1","method":"browser/hello","params":{"protocolVersion":"tabhub.v1","tabKey":"key %d"}}`, v.tabs))
	say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"2","method":"browser/registerTools","params":{"tabUrl":"%s/%d","tools":[{"name":"look","inputSchema":{"type":"object","properties":{"what":{"type":"string"}}}}]}}`, origin, v.tabs))
	registered := make(chan struct{})
	go func() {
		for {
			_, b, err := ws.ReadMessage()
			if err != nil {
				return
			}
			switch id := rawjson.Get(b, "id"); {
			case string(id) == `"2"`:
				close(registered)
			case rawjson.Get(b, "method") != nil && id != nil:
				say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"success":true,"payload":{"content":[{"type":"text","text":"seen"}]}}}`, id))
			}
		}
	}()
	select {
	case <-registered:
	case <-time.After(time.Minute):
		v.t.Fatal("a tab is not answered")
	}
	return ws
}

func (v *visitors) ask(method, session, body string) (newSession, answer string) {
	r, err := http.NewRequestWithContext(v.t.Context(), method, "http://"+v.addr+"/mcp", strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+v.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		v.t.Fatalf("%s %s: %s %s %v", method, body, resp.Status, b, err)
	}
	return resp.Header.Get("Mcp-Session-Id"), string(b)
}
