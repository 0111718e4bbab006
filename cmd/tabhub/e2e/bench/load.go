package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// load is what a server is put under: calls of text of size bytes, which come back as they are.
type load struct{ tabs, inFlight, calls, size int }

const toolsOfTab = 10

// figure is one of what a server does under a load.
type figure int

const (
	rate figure = iota
	perCall
	p50
	memory
	start
	figuresLen
)

type figures [figuresLen]float64

var figureNames = [figuresLen]string{"calls a second", "processor a call, µs", "p50, µs", "memory, MiB", "start to initialize, ms"}

type object = map[string]any

func check(err error) {
	if err != nil {
		panic(err) // which ends the processes that were started
	}
}

// client is an MCP client on a server's stdin and stdout.
type client struct {
	in      io.Writer
	next    atomic.Int64
	waiting sync.Map // chan answer by id
}

type answer struct {
	ID     int64
	Method string
	Result json.RawMessage
	Error  json.RawMessage
}

func (c *client) read(from io.Reader) {
	in := bufio.NewReaderSize(from, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var a answer
		check(json.Unmarshal(line, &a))
		if to, ok := c.waiting.LoadAndDelete(a.ID); ok && a.Method == "" {
			to.(chan answer) <- a
		}
	}
}

func (c *client) send(message object) {
	message["jsonrpc"] = "2.0"
	b, err := json.Marshal(message)
	check(err)
	_, err = c.in.Write(append(b, '\n'))
	check(err)
}

func (c *client) ask(method string, params object) json.RawMessage {
	id, to := c.next.Add(1), make(chan answer, 1)
	c.waiting.Store(id, to)
	c.send(object{"id": id, "method": method, "params": params})
	select {
	case a := <-to:
		if a.Error != nil {
			panic(fmt.Sprintf("%s: %s", method, a.Error))
		}
		return a.Result
	case <-time.After(time.Minute):
		panic(method + ": no answer")
	}
}

// names returns what the server calls the tabs' tools, by the pages' names, once all are there.
func (c *client) names(all int) map[string]string {
	names := map[string]string{}
	for ; len(names) < all; time.Sleep(5 * time.Millisecond) {
		for params := (object{}); params != nil; {
			var list struct {
				Tools      []struct{ Name string }
				NextCursor string
			}
			check(json.Unmarshal(c.ask("tools/list", params), &list))
			for _, t := range list.Tools {
				if at := strings.LastIndex(t.Name, "bench_"); at >= 0 {
					names[t.Name[at:]] = t.Name
				}
			}
			if params = nil; list.NextCursor != "" {
				params = object{"cursor": list.NextCursor}
			}
		}
	}
	return names
}

// join has a tab join at addr, which answers each call with the text of its arguments.
func join(addr string, i int) *websocket.Conn {
	site := fmt.Sprintf("https://site%d.example.com", i)
	d := websocket.Dialer{Subprotocols: []string{"webmcp.v1"}, ReadBufferSize: 64 << 10, WriteBufferSize: 64 << 10}
	ws, _, err := d.Dial("ws://"+addr, http.Header{"Origin": {site}})
	check(err)
	tools := make([]object, toolsOfTab)
	for k := range tools {
		tools[k] = object{"name": fmt.Sprintf("bench_%d_%d", i, k), "description": "Answers with the text that it is given", "inputSchema": object{
			"type": "object", "properties": object{"text": object{"type": "string", "description": "what to answer"}, "n": object{"type": "integer"}}}}
	}
	check(ws.WriteJSON(object{"type": "hello", "tabId": fmt.Sprintf("tab%04d-bench", i), "origin": site, "url": site + "/", "title": "bench"}))
	check(ws.WriteJSON(object{"type": "tools/list", "tools": tools}))
	go func() {
		for {
			var m struct {
				Type, CallID string
				Args         struct{ Text string }
			}
			if ws.ReadJSON(&m) != nil {
				return
			}
			switch m.Type {
			case "invoke":
				_ = ws.WriteJSON(object{"type": "result", "callId": m.CallID, "result": object{"content": []object{{"type": "text", "text": m.Args.Text}}}})
			case "ping":
				_ = ws.WriteJSON(object{"type": "pong"})
			}
		}
	}()
	return ws
}

// measure puts the server that cmd starts under the load. Its tabs join at addr. hub is the process
// of the hub if cmd is a bridge to one, else nil.
func (l load) measure(cmd *exec.Cmd, hub *os.Process, addr string) (f figures) {
	in, err := cmd.StdinPipe()
	check(err)
	out, err := cmd.StdoutPipe()
	check(err)
	began := time.Now()
	check(cmd.Start())
	defer cmd.Wait()
	defer in.Close()
	c := &client{in: in}
	go c.read(out)
	c.ask("initialize", object{"protocolVersion": "2025-06-18", "capabilities": object{}, "clientInfo": object{"name": "bench", "version": "0"}})
	f[start] = float64(time.Since(began).Microseconds()) / 1e3
	c.send(object{"method": "notifications/initialized"})
	for i := range l.tabs {
		defer join(addr, i).Close()
	}
	names := c.names(l.tabs * toolsOfTab)
	text := strings.Repeat("x", l.size)
	call := func(n int) float64 {
		params := object{"name": names[fmt.Sprintf("bench_%d_%d", n%l.tabs, n/l.tabs%toolsOfTab)], "arguments": object{"text": text, "n": n}}
		began := time.Now()
		result := c.ask("tools/call", params)
		took := float64(time.Since(began).Nanoseconds()) / 1e3
		if !strings.Contains(string(result), text) {
			panic(fmt.Sprintf("a call is answered with %.300s", result))
		}
		return took
	}
	for n := range 200 { // until all is warm
		call(n)
	}
	took := make([]float64, l.calls)
	var at atomic.Int64
	var running sync.WaitGroup
	busy, _ := use(cmd.Process, hub)
	began = time.Now()
	for range l.inFlight {
		running.Go(func() {
			for n := int(at.Add(1)) - 1; n < l.calls; n = int(at.Add(1)) - 1 {
				took[n] = call(n)
			}
		})
	}
	running.Wait()
	f[rate] = float64(l.calls) / time.Since(began).Seconds()
	used, mib := use(cmd.Process, hub)
	f[perCall], f[memory] = (used-busy)/float64(l.calls), mib
	slices.Sort(took)
	f[p50] = took[l.calls/2]
	return f
}

// use returns how much of the processor the processes have had, in µs, and what memory they have
// now, in MiB, as Linux tells it; elsewhere 0.
func use(of ...*os.Process) (us, mib float64) {
	field := func(file string, pid int, after string, i int) float64 {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
		_, rest, _ := strings.Cut(string(b), after)
		n, _ := strconv.ParseFloat(append(strings.Fields(rest), make([]string, i+1)...)[i], 64)
		return n
	}
	for _, p := range of {
		if p != nil {
			us += 1e4 * (field("stat", p.Pid, ") ", 11) + field("stat", p.Pid, ") ", 12)) // ticks of 10 ms
			mib += field("status", p.Pid, "VmRSS:", 0) / 1024
		}
	}
	return us, mib
}
