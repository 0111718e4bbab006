package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/spec/rawjson"
)

// rawClient is a client of MCP whose connections can break at any byte.
type rawClient struct {
	t      testing.TB
	place  *place
	header http.Header
	meta   string // what each request of revision 2026-07-28 has in its params

	endpoint string // of a client of SSE, whose answers come on stream
	stream   *rawConn
}

// rawConn is one connection.
type rawConn struct {
	t    testing.TB
	conn *net.TCPConn
	r    *bufio.Reader
}

func (p *place) dial() *rawConn {
	p.t.Helper()
	conn, err := net.Dial("tcp", p.listen)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { conn.Close() })
	return &rawConn{p.t, conn.(*net.TCPConn), bufio.NewReader(conn)}
}

// awaitBytes waits until something can be read, and reads nothing.
func (c *rawConn) awaitBytes() {
	c.t.Helper()
	raw, err := c.conn.SyscallConn()
	if err == nil {
		err = raw.Read(func(fd uintptr) bool {
			n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
			return n > 0 || err != syscall.EAGAIN
		})
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *rawConn) read(n int) {
	c.t.Helper()
	if _, err := io.ReadFull(c.conn, make([]byte, n)); err != nil {
		c.t.Fatal(err)
	}
}

// acknowledge has the system say now what it has taken, and not a while later.
func (c *rawConn) acknowledge() {
	c.t.Helper()
	raw, err := c.conn.SyscallConn()
	if err == nil {
		var failed error
		err = raw.Control(func(fd uintptr) {
			failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1)
		})
		err = errors.Join(err, failed)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *rawConn) close() { c.conn.Close() }

// request returns a POST of a message, as it goes over the wire.
func (c *rawClient) request(path, body string) []byte {
	r, err := http.NewRequest(http.MethodPost, c.place.url()+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header = c.header.Clone()
	if c.meta != "" {
		r.Header.Set("Mcp-Method", "tools/call")
		name, _ := rawjson.String(rawjson.Get([]byte(body), "params", "name"))
		r.Header.Set("Mcp-Name", name)
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		c.t.Fatal(err)
	}
	return b.Bytes()
}

// call sends the first of some parts of a call, all if of is 1, and returns the connection
// on which the answer comes.
func (c *rawClient) call(name string, of int) *rawConn {
	c.t.Helper()
	conn := c.place.dial()
	path, answers := "/mcp", conn
	if c.endpoint != "" {
		path, answers = c.endpoint, c.connected()
	}
	message := c.request(path, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q,"arguments":{"n":1}%s}}`, name, c.meta))
	part := len(message)
	if of > 1 {
		part = bytes.Index(message, []byte("\r\n\r\n")) + 20 // the body has begun
	}
	if _, err := conn.conn.Write(message[:part]); err != nil {
		c.t.Fatal(err)
	}
	if c.endpoint != "" && of > 1 {
		return conn
	}
	return answers
}

// answer reads the answer of a call.
func (c *rawClient) answer(conn *rawConn) []byte {
	c.t.Helper()
	body := io.Reader(conn.r)
	if c.endpoint == "" {
		resp, err := http.ReadResponse(conn.r, nil)
		if err != nil {
			c.t.Fatal(err)
		}
		if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
			b, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil {
				c.t.Fatal(err)
			}
			return b
		}
		body = resp.Body
	}
	for e := range rig.Events(body) {
		if string(rawjson.Get(e.Data, "id")) == "7" {
			return e.Data
		}
	}
	c.t.Fatal("the stream ended without the answer")
	return nil
}

// connected returns the stream of a client of SSE, which it opens if need be.
func (c *rawClient) connected() *rawConn {
	if c.stream != nil {
		return c.stream
	}
	conn := c.place.dial()
	r, err := http.NewRequest(http.MethodGet, c.place.url()+"/sse", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header = c.header.Clone()
	r.Header.Set("Accept", "text/event-stream")
	if err := r.Write(conn.conn); err != nil {
		c.t.Fatal(err)
	}
	resp, err := http.ReadResponse(conn.r, r)
	if err != nil {
		c.t.Fatal(err)
	}
	events := bufio.NewReaderSize(resp.Body, 16)
	for !strings.HasPrefix(c.endpoint, "/message") {
		line, err := events.ReadString('\n')
		if err != nil {
			c.t.Fatal(err)
		}
		if url, ok := strings.CutPrefix(line, "data: "); ok {
			c.endpoint = strings.TrimSpace(strings.TrimPrefix(url, c.place.url()))
		}
	}
	c.stream = &rawConn{c.t, conn.conn, events}
	if _, _, err := post(c.place.within(), c.place.url()+c.endpoint, c.header, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":`+initializeParams+`}`); err != nil {
		c.t.Fatal(err)
	}
	for {
		line, err := events.ReadString('\n')
		if err != nil {
			c.t.Fatal(err)
		}
		if strings.HasPrefix(line, "data: ") {
			return c.stream
		}
	}
}

// reconnect forgets a broken stream.
func (c *rawClient) reconnect() {
	if c.endpoint != "" {
		c.stream, c.endpoint = nil, "new"
	}
}

// Wherever a connection breaks, the page works once, and who asks again gets its answer.
func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	const small, middle, large = 10, 100 << 10, 12 << 20 // what one write takes, what a socket's buffers do, more
	inTheAnswer := func(c *rawClient, tool string, page *brokenPage) {
		conn := c.call(tool, 1)
		<-page.begun
		page.finish <- true
		conn.read(1000)
		conn.close()
	}
	for _, transport := range []string{"Streamable HTTP", "2026-07-28", "SSE"} {
		for _, point := range []struct {
			name   string
			size   int
			breaks func(c *rawClient, tool string, page *brokenPage)
			anew   bool // nothing was sent before
		}{
			{"in the request", small, func(c *rawClient, tool string, _ *brokenPage) {
				c.call(tool, 2).close()
			}, true},
			{"while the page works", small, func(c *rawClient, tool string, page *brokenPage) {
				conn := c.call(tool, 1)
				<-page.begun
				conn.close()
			}, false},
			{"before an answer is read", small, func(c *rawClient, tool string, page *brokenPage) {
				conn := c.call(tool, 1)
				<-page.begun
				page.finish <- true
				conn.awaitBytes()
				conn.close()
			}, false},
			{"in an answer that was written", middle, inTheAnswer, false},
			{"in an answer that is being written", large, inTheAnswer, false},
		} {
			t.Run(transport+", "+point.name, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				p.serve()
				page := &brokenPage{begun: make(chan bool, 10), finish: make(chan bool, 10)}
				text, _ := json.Marshal(strings.Repeat("x", point.size))
				p.open(&tab{key: "x", tools: `[{"name":"pay"}]`, run: func(string, json.RawMessage) string {
					page.runs.Add(1)
					page.begun <- true
					<-page.finish
					return `{"content":[{"type":"text","text":` + string(text) + `}]}`
				}})
				name := p.stdio().tools().named("_pay")
				c := &rawClient{t: t, place: p, header: bearer(p.token())}
				if transport == "Streamable HTTP" {
					c.header = p.http().header
				}
				c.header.Set("Content-Type", "application/json")
				c.header.Set("Accept", "application/json, text/event-stream")
				switch transport {
				case "2026-07-28":
					c.header.Set("Mcp-Protocol-Version", "2026-07-28")
					c.meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
				case "SSE":
					c.endpoint = "new"
				}
				point.breaks(c, name, page)
				c.reconnect()
				again := c.call(name, 1)
				close(page.finish)
				got := c.answer(again)
				repeated := rawjson.Get(got, "result", "_meta", "tabhub/repeated") != nil
				if page.runs.Load() != 1 || repeated == point.anew || !bytes.Contains(got, []byte(`xxx`)) && !bytes.Contains(got, []byte("not kept")) {
					t.Errorf("the page worked %d times, and the client got %.600s", page.runs.Load(), got)
				}
			})
		}
	}
}

// Who has read an answer, leaves, at once or not, and asks the same again wants it done again.
func TestAnsweredInFull(t *testing.T) {
	t.Parallel()
	const rounds = 50
	for _, accept := range []string{"application/json", "text/event-stream"} {
		t.Run(accept, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.serve()
			var runs atomic.Int64
			p.open(&tab{key: "x", tools: `[{"name":"pay"}]`, run: func(string, json.RawMessage) string {
				runs.Add(1)
				return `{"content":[]}`
			}})
			name := p.stdio().tools().named("_pay")
			other := p.http()
			c := &rawClient{t: t, place: p, header: other.header.Clone()}
			c.header.Set("Content-Type", "application/json")
			c.header.Set("Accept", accept)
			for n := range rounds {
				conn := c.call(name, 1)
				if got := c.answer(conn); bytes.Contains(got, []byte("tabhub/repeated")) {
					t.Fatalf("call %d got the answer of the one before: %s", n+1, got)
				}
				if n%2 == 1 { // not at once: what comes behind the answer has come
					other.ask("tools/list", "{}")
				}
				conn.close()
			}
			if got := runs.Load(); got != rounds {
				t.Errorf("the page worked %d times for %d calls", got, rounds)
			}
		})
	}
}

// Who has read an answer by way of a node that stops, and asks the same again at another, wants it
// done again. So does who asks at the node itself after that was paused, and has joined anew.
func TestAnsweredBeforeANodeStops(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"Streamable HTTP", "SSE", "Streamable HTTP, paused"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			hub := p.serve()
			if p.nodes == nil {
				t.Skip("there is one hub")
			}
			var runs atomic.Int64
			p.open(&tab{key: "x", tools: `[{"name":"pay"}]`, run: func(string, json.RawMessage) string {
				runs.Add(1)
				return `{"content":[]}`
			}})
			client := p.http() // a bridge would start a hub when this one has stopped
			name := listTools(t, client).named("_pay")
			c := &rawClient{t: t, place: p, header: client.header.Clone()}
			if transport == "SSE" {
				c.endpoint, c.header = "new", bearer(p.token())
			}
			c.header.Set("Content-Type", "application/json")
			c.header.Set("Accept", "application/json")
			conn := c.call(name, 1)
			c.answer(conn)
			conn.acknowledge()
			if strings.HasSuffix(transport, "paused") {
				hub.Cmd.Process.Signal(syscall.SIGSTOP)
				p.until("the lease of the node has ended", func() bool { return strings.Contains(p.othersLog(), "it has ended") })
				hub.Cmd.Process.Signal(syscall.SIGCONT)
				hub.Stderr.Await(t, "users are closed on this node")
				p.until("the node has joined anew", func() bool {
					resp, err := http.Get(p.url() + "/readyz")
					if err != nil {
						t.Fatal(err)
					}
					resp.Body.Close()
					return resp.StatusCode == http.StatusOK
				})
			} else {
				hub.Stop()
				other := *p
				other.listen, other.dir = p.nodes.tabs, p.nodes.dir(tabsNode)
				c.place = &other
			}
			c.reconnect()
			if got := c.answer(c.call(name, 1)); bytes.Contains(got, []byte("tabhub/repeated")) || runs.Load() != 2 {
				t.Errorf("the page worked %d times, and the client got %s", runs.Load(), got)
			}
		})
	}
}

// brokenPage is a page that works as long as the test wants.
type brokenPage struct {
	runs          atomic.Int64
	begun, finish chan bool
}
