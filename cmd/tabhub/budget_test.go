package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/daemon"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/spec"
)

// callBudget is what one call of a tool may allocate in the whole process, by how its client is
// connected. Every user pays for what is added here, with each call of each agent; so what is
// measured may not exceed it by anything, and a change that needs more says in its commit what
// users get for it. The numbers are what the path took when they were written, and a tenth for
// what Go's runtime does differently from version to version.
var callBudget = map[string]struct{ allocations, bytes float64 }{
	"stdio": {44, 6_000},
	"http":  {122, 11_900},
}

// A call goes through all that a hub has switched on unless it is told otherwise: the policy
// careful, the record, metrics, leases and flows; a browser's tab on a real WebSocket, a client on
// a pipe or on HTTP. What tests of single packages measure adds up here, and nowhere else.
func TestCallBudget(t *testing.T) {
	p, port := serveTest(t, "--demo=false", "--policy", "careful", "--allow-origin", "https://shop.example.com", "--expose", "all", "--name-limit", "64")
	addr := "127.0.0.1:" + port
	go newBareTab(t, addr).serve()
	token, err := p.Dir.Token()
	if err != nil {
		t.Fatal(err)
	}
	for name, connect := range map[string]func(*testing.T) *bareClient{
		"stdio": func(t *testing.T) *bareClient { return newPipeClient(t, p) },
		"http":  func(t *testing.T) *bareClient { return newHTTPClient(t, addr, token) },
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t)
			c.Call(t, `"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"budget","version":"1"}}`, `"serverInfo"`)
			c.Call(t, `"method":"notifications/initialized"`, "")
			for !strings.Contains(c.Call(t, `"method":"tools/list"`, `"tools"`), "look_up") { // the tab may still be joining
				runtime.Gosched()
			}
			one := func() {
				c.Call(t, `"method":"tools/call","params":{"name":"website_tool_shop_example_com_look_up","arguments":{"text":"green tea","n":7}}`, `"green tea"`)
			}
			calls := 1000
			if raceEnabled {
				calls = 10
			}
			for range calls / 2 {
				one()
			}
			// What the process does besides, such as to write the record of many calls at once, only adds: the
			// least of a few rounds is nearest to what a call takes.
			allocations, size := math.Inf(1), math.Inf(1)
			for range 4 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for range calls {
					one()
				}
				runtime.ReadMemStats(&after)
				allocations = min(allocations, float64(after.Mallocs-before.Mallocs)/float64(calls))
				size = min(size, float64(after.TotalAlloc-before.TotalAlloc)/float64(calls))
			}
			t.Logf("a call makes %.1f allocations of %.0f bytes in all", allocations, size)
			if raceEnabled { // the detector allocates, too
				return
			}
			if most := callBudget[name]; allocations > most.allocations || size > most.bytes {
				t.Errorf("a call makes %.1f allocations of %.0f bytes in all; the budget is %.0f and %.0f", allocations, size, most.allocations, most.bytes)
			}
		})
	}
}

// bareClient is an MCP client that allocates next to nothing, so that what a test counts is the
// hub's.
type bareClient struct {
	w       io.Writer
	r       *bufio.Reader
	http    []string // the first lines of a request; nil: there is a message a line
	members string   // of the latest message
	request []byte   // with them
	answer  []byte
	line    []byte // the latest one of a response
}

func newPipeClient(t *testing.T, p *daemon.Process) *bareClient {
	id, err := p.Identify("")
	if err != nil {
		t.Fatal(err)
	}
	user, err := p.Tenants.Get(t.Context(), spec.LocalUser)
	if err != nil {
		t.Fatal(err)
	}
	hubIn, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r, hubOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = user.MCP.ServeStream(methods.WithIdentity(context.Background(), &id), hubIn, hubOut)
	}()
	t.Cleanup(func() {
		w.Close()
		<-served
		hubIn.Close()
		hubOut.Close()
		r.Close()
	})
	return &bareClient{w: w, r: bufio.NewReaderSize(r, 64<<10)}
}

func newHTTPClient(t *testing.T, addr, token string) *bareClient {
	conn := bareDial(t, addr)
	return &bareClient{w: conn, r: bufio.NewReaderSize(conn, 64<<10), http: []string{
		"POST /mcp HTTP/1.1", "Host: " + addr, "Authorization: Bearer " + token, "Content-Type: application/json",
		"Accept: application/json, text/event-stream",
	}}
}

// Call sends a message with those members, and returns the answer, which must hold want; "" is for
// a notification.
func (c *bareClient) Call(t *testing.T, members, want string) string {
	if members != c.members {
		id := `"id":1,`
		if want == "" {
			id = ""
		}
		body := `{"jsonrpc":"2.0",` + id + members + "}"
		c.members, c.request = members, []byte(body+"\n")
		if c.http != nil {
			c.request = fmt.Appendf(nil, "%s\r\nContent-Length: %d\r\n\r\n%s", strings.Join(c.http, "\r\n"), len(body), body)
		}
	}
	if _, err := c.w.Write(c.request); err != nil {
		t.Fatal(err)
	}
	c.answer = c.answer[:0]
	switch {
	case c.http != nil:
		c.readResponse(t)
	case want != "":
		for {
			c.answer = c.readLine(t, c.answer[:0])
			if !bytes.Contains(c.answer, []byte(`"method"`)) { // or it is a notification
				break
			}
		}
	}
	if !bytes.Contains(c.answer, []byte(want)) {
		t.Fatalf("the answer: %s; want %s", c.answer, want)
	}
	if want == `"tools"` {
		return string(c.answer)
	}
	return ""
}

// raceEnabled says whether the race detector runs, whose allocations are counted with the others.
var raceEnabled = func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}()

func (c *bareClient) readLine(t *testing.T, to []byte) []byte {
	for {
		part, err := c.r.ReadSlice('\n')
		to = append(to, part...)
		if err == nil {
			return to
		}
		if err != bufio.ErrBufferFull {
			t.Fatal(err)
		}
	}
}

// readResponse reads a response, whose session goes into later requests.
func (c *bareClient) readResponse(t *testing.T) {
	next := func() []byte {
		c.line = c.readLine(t, c.line[:0])
		return bytes.TrimSpace(c.line)
	}
	length, chunked := 0, false
	for line := next(); len(line) > 0; line = next() {
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			length, _ = strconv.Atoi(string(value))
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = true
		case bytes.EqualFold(name, []byte("Mcp-Session-Id")) && strings.Contains(c.members, "clientInfo"):
			c.http = append(c.http, string(line))
		}
	}
	for {
		if chunked {
			n, err := strconv.ParseUint(string(next()), 16, 31)
			if err != nil {
				t.Fatal(err)
			}
			length = int(n) + len("\r\n")
		}
		was := len(c.answer)
		c.answer = append(c.answer, make([]byte, length)...) // in place
		if _, err := io.ReadFull(c.r, c.answer[was:]); err != nil {
			t.Fatal(err)
		}
		if !chunked || length == len("\r\n") {
			return
		}
	}
}

// bareTab is a tab on a WebSocket that answers each call with its arguments' text. It allocates
// next to nothing.
type bareTab struct {
	conn net.Conn
	r    *bufio.Reader
	out  []byte
}

func bareDial(t *testing.T, addr string) net.Conn {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func newBareTab(t *testing.T, addr string) *bareTab {
	tab := &bareTab{conn: bareDial(t, addr)}
	tab.r = bufio.NewReaderSize(tab.conn, 64<<10)
	fmt.Fprintf(tab.conn, "GET /tabs HTTP/1.1\r\nHost: %s\r\nOrigin: https://shop.example.com\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: %s\r\n\r\n", addr, spec.Subprotocol)
	for first := true; ; first = false {
		line, err := tab.r.ReadString('\n')
		if err != nil || first && !strings.Contains(line, " 101 ") {
			t.Fatalf("the hub takes no WebSocket: %s, %v", line, err)
		}
		if line == "\r\n" {
			break
		}
	}
	tab.write([]byte(`{"jsonrpc":"2.0","id":1,"method":"browser/hello","params":{"protocolVersion":"tabhub.v1","tabKey":"k","session":"s"}}`))
	tab.write([]byte(`{"jsonrpc":"2.0","id":2,"method":"browser/registerTools","params":{"tabUrl":"https://shop.example.com/","title":"Tea","tools":[` +
		`{"name":"look_up","description":"Looks a product up","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer"}},"required":["text"]}}]}}`))
	return tab
}

// write sends a text frame, masked with zeros.
func (tab *bareTab) write(text []byte) {
	tab.out = binary.BigEndian.AppendUint16(append(tab.out[:0], 0x81, 0x80|126), uint16(len(text)))
	tab.out = append(append(tab.out, 0, 0, 0, 0), text...)
	_, _ = tab.conn.Write(tab.out)
}

// serve answers until the connection ends.
func (tab *bareTab) serve() {
	var head [2]byte
	var in, answer []byte
	for {
		if _, err := io.ReadFull(tab.r, head[:]); err != nil {
			return
		}
		n := int(head[1])
		if n == 126 {
			_, _ = io.ReadFull(tab.r, head[:])
			n = int(binary.BigEndian.Uint16(head[:]))
		}
		if cap(in) < n {
			in = make([]byte, n)
		}
		in = in[:n]
		if _, err := io.ReadFull(tab.r, in); err != nil {
			return
		}
		_, rest, is := bytes.Cut(in, []byte(`"id":"`))
		id, _, _ := bytes.Cut(rest, []byte(`"`))
		switch {
		case !is:
			continue
		case bytes.Contains(in, []byte(`browser/executeTool`)):
			answer = append(append(append(answer[:0], `{"jsonrpc":"2.0","id":"`...), id...), `","result":{"success":true,"payload":{"content":[{"type":"text","text":"green tea"}]}}}`...)
		default:
			answer = append(append(append(answer[:0], `{"jsonrpc":"2.0","id":"`...), id...), `","result":{}}`...)
		}
		tab.write(answer)
	}
}
