//go:build nightly

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
)

// peak is the most memory that a process has had, in MB.
func peak(t *testing.T, p *os.Process) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid))
	if err != nil {
		t.Fatal(err)
	}
	kB, err := strconv.Atoi(regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindStringSubmatch(string(status))[1])
	if err != nil {
		t.Fatal(err)
	}
	return kB >> 10
}

// greedy returns a registration of about 8 MB: tools that are to be cached, whose schemas are as
// large as they may be when they are compiled.
func greedy(doc int) []byte {
	var members []string
	for i := range 300 {
		members = append(members, fmt.Sprintf(`"p%d":{"minLength":1,"enum":["a"]}`, i))
	}
	inner := strings.Join(members, ",")
	var tools []string
	for n := range 800 {
		tools = append(tools, fmt.Sprintf(`{"name":"t%d_%d","annotations":{"cache":true},"inputSchema":{"type":"object","title":"%d %d","properties":{%s}}}`, doc, n, doc, n, inner))
	}
	return []byte(`{"jsonrpc":"2.0","id":2,"method":"browser/registerTools","params":{"tools":[` + strings.Join(tools, ",") + `]}}`)
}

// page joins the hub as a page of an origin, and registers something.
func page(t *testing.T, addr, origin string, registration []byte) *websocket.Conn {
	t.Helper()
	ws, _, err := (&websocket.Dialer{Subprotocols: []string{spec.Subprotocol}}).Dial("ws://"+addr+"/tabs", http.Header{"Origin": {origin}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	for _, frame := range [][]byte{[]byte(`{"jsonrpc":"2.0","id":1,"method":"browser/hello","params":{"protocolVersion":"tabhub.v1","tabKey":"` + origin + `"}}`), registration} {
		if err := ws.WriteMessage(websocket.TextMessage, frame); err != nil {
			t.Fatal(err)
		}
		for {
			ws.SetReadDeadline(time.Now().Add(time.Minute))
			_, answer, err := ws.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			var m struct{ Method string }
			if json.Unmarshal(answer, &m); m.Method == "" {
				break
			}
		}
	}
	return ws
}

// A page must not fill the hub's memory, neither while it is there nor when it has gone, nor keep
// others from being served.
func TestGreedyPage(t *testing.T) {
	dir := t.TempDir() + "/data"
	hub := serveIn(t, dir, "--listen", "127.0.0.1:0", "--log-level", "error")
	addr := strings.TrimPrefix(hub.url, "http://")
	good := page(t, addr, "http://good.test.localhost:7000", []byte(`{"jsonrpc":"2.0","id":2,"method":"browser/registerTools","params":{"tools":[{"name":"echo"}]}}`))
	go func() {
		for {
			good.SetReadDeadline(time.Time{})
			_, frame, err := good.ReadMessage()
			if err != nil {
				return
			}
			var m struct {
				ID     json.RawMessage
				Method string
			}
			if json.Unmarshal(frame, &m); m.Method == "browser/executeTool" {
				good.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"success":true,"payload":"ok"}}`))
			}
		}
	}()
	call := func() time.Duration {
		start := time.Now()
		req, _ := http.NewRequest("POST", hub.url+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"website_tool_good_test_localhost_7000_echo","arguments":{},`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
		req.Header = http.Header{"Authorization": {"Bearer " + hub.token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"website_tool_good_test_localhost_7000_echo"}}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return 0
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 200 || !strings.Contains(string(b), `"text":"ok"`) {
			t.Errorf("a call: %s %.300s", resp.Status, b)
		}
		return time.Since(start)
	}
	p99 := func(until <-chan bool) time.Duration {
		var all []time.Duration
		for done := false; !done || len(all) < 200; {
			all = append(all, call())
			select {
			case <-until:
				done = true
			default:
			}
		}
		slices.Sort(all)
		return all[len(all)*99/100]
	}
	closed := make(chan bool)
	close(closed)
	quiet := p99(closed)
	done := make(chan bool)
	go func() {
		defer close(done)
		for i := range 10 {
			page(t, addr, fmt.Sprintf("http://s%d.evil.localhost:8000", i), greedy(i)).Close()
		}
	}()
	during := p99(done)
	if most := peak(t, hub.process); most > 200 || during > 2*quiet+20*time.Millisecond {
		t.Errorf("ten documents took %d MB, and the calls of another site %v instead of %v", most, during, quiet)
	}
	var sockets sync.WaitGroup
	for i := range 10 {
		sockets.Go(func() { page(t, addr, fmt.Sprintf("http://evil.localhost:%d", 9000+i), greedy(100+i)) })
	}
	sockets.Wait()
	if most := peak(t, hub.process); most > 500 {
		t.Errorf("ten sockets took %d MB", most)
	}
}

// Nor does what it left take memory when the hub is started again.
func TestGreedyPageBeforeARestart(t *testing.T) {
	dir := t.TempDir() + "/data"
	t.Run("before", func(t *testing.T) {
		hub := serveIn(t, dir, "--listen", "127.0.0.1:0", "--log-level", "error")
		for i := range 10 {
			page(t, strings.TrimPrefix(hub.url, "http://"), fmt.Sprintf("http://s%d.evil.localhost:8000", i), greedy(i)).Close()
		}
	})
	hub := serveIn(t, dir, "--listen", "127.0.0.1:0", "--log-level", "error")
	if most := peak(t, hub.process); most > 150 {
		t.Errorf("a restart took %d MB", most)
	}
}
