package main

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/gorilla/websocket"
)

// floor is the least that can stand between an MCP client on stdin and stdout and tabs that speak
// webmcp.v1: no policy, record, schemas, store or limits. It costs what two sockets and JSON cost.
type floor struct {
	mu    sync.Mutex
	tabs  map[string]*websocket.Conn // by the name of a tool
	tools []json.RawMessage
	calls sync.Map // the client's id by the tab's
	next  atomic.Int64
}

func runFloor(addr string) {
	f := &floor{tabs: map[string]*websocket.Conn{}}
	ln, err := net.Listen("tcp", addr)
	check(err)
	go http.Serve(ln, http.HandlerFunc(f.serveTab))
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name      string
				Arguments json.RawMessage
			}
		}
		check(json.Unmarshal(line, &m))
		switch m.Method {
		case "initialize":
			f.answer(m.ID, object{"protocolVersion": "2025-06-18", "capabilities": object{"tools": object{}}, "serverInfo": object{"name": "floor", "version": "0"}})
		case "tools/list":
			f.mu.Lock()
			tools := f.tools
			f.mu.Unlock()
			f.answer(m.ID, object{"tools": tools})
		case "tools/call":
			id := strconv.FormatInt(f.next.Add(1), 10)
			f.calls.Store(id, m.ID)
			b, _ := json.Marshal(object{"type": "invoke", "callId": id, "toolName": m.Params.Name, "args": m.Params.Arguments})
			f.mu.Lock()
			tab := f.tabs[m.Params.Name]
			f.mu.Unlock()
			check(tab.WriteMessage(websocket.TextMessage, b))
		}
	}
}

func (f *floor) answer(id json.RawMessage, result any) {
	b, err := json.Marshal(object{"jsonrpc": "2.0", "id": id, "result": result})
	check(err)
	_, _ = os.Stdout.Write(append(b, '\n')) // one at a time: a File's writes are
}

func (f *floor) serveTab(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }, Subprotocols: []string{"webmcp.v1"}, ReadBufferSize: 64 << 10, WriteBufferSize: 64 << 10}
	ws, err := up.Upgrade(w, r, nil)
	check(err)
	for {
		_, b, err := ws.ReadMessage()
		if err != nil {
			return
		}
		var m struct {
			Type, CallID string
			Tools        []json.RawMessage
			Result       json.RawMessage
		}
		check(json.Unmarshal(b, &m))
		switch m.Type {
		case "tools/list":
			f.mu.Lock()
			for _, tool := range m.Tools {
				var n struct{ Name string }
				check(json.Unmarshal(tool, &n))
				f.tabs[n.Name] = ws
			}
			f.tools = append(f.tools, m.Tools...)
			f.mu.Unlock()
		case "result":
			if id, ok := f.calls.LoadAndDelete(m.CallID); ok {
				f.answer(id.(json.RawMessage), m.Result)
			}
		}
	}
}
