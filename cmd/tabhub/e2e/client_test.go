package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/hub/hubtest"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// answer is a raw answer to a request. Of result and err one is set.
type answer struct {
	result json.RawMessage
	err    json.RawMessage // the JSON-RPC error object
}

func answerOf(frame []byte) answer {
	return answer{result: rawjson.Get(frame, "result"), err: rawjson.Get(frame, "error")}
}

// said returns what a page has said in the result, which must say where it is from.
func (a answer) said() string { return hubtest.Said(a.result) }

// outcome says how a tool call ended: "ok", the code of the hub's failure, "the tool
// failed", or the JSON-RPC error.
func (a answer) outcome() string {
	if a.err != nil {
		return string(a.err)
	}
	if string(rawjson.Get(a.result, "isError")) != "true" {
		return "ok"
	}
	for block := range rawjson.Elements(rawjson.Get(a.result, "content")) {
		text, _ := rawjson.String(rawjson.Get(block, "text"))
		if rawjson.Valid([]byte(text), spec.MaxDepth) == nil {
			if code, ok := rawjson.String(rawjson.Get([]byte(text), "error", "code")); ok {
				return code
			}
		}
	}
	return "the tool failed"
}

const initializeParams = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}`

// client is an MCP client on the pipes of `tabhub stdio`. It sends and receives
// lines as they are. Its methods may be called by several goroutines.
type client struct {
	t       testing.TB
	process *rig.Process
	stdin   io.WriteCloser
	done    chan struct{} // closed when stdout has ended

	// reply returns the result of a request that the server makes, such as an elicitation.
	reply func(method string) string

	mu      sync.Mutex
	lastID  int
	waiting map[string]chan answer // by id
	notices map[string]int         // by method
	changed chan struct{}          // closed at the next notice
	strays  []string               // lines that are neither answers nor notices
}

// stdio starts a client and initializes it.
func (p *place) stdio(args ...string) *client {
	p.t.Helper()
	c := p.stdioRaw(args...)
	c.initialize()
	return c
}

func (p *place) stdioRaw(args ...string) *client {
	p.t.Helper()
	return pipe(p.t, p.command(append([]string{"stdio", "--listen", p.listen}, args...)...))
}

// pipe starts an MCP server, to be a client on its pipes.
func pipe(t testing.TB, cmd *exec.Cmd) *client {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pr, pw := io.Pipe()
	cmd.Stdout = pw
	c := &client{
		t: t, stdin: stdin, process: rig.Start(t, cmd), done: make(chan struct{}),
		waiting: make(map[string]chan answer), notices: make(map[string]int), changed: make(chan struct{}),
	}
	go func() {
		<-c.process.Done
		pw.Close()
	}()
	go c.read(pr)
	t.Cleanup(c.close)
	return c
}

func (c *client) initialize() {
	c.t.Helper()
	if a := c.ask("initialize", initializeParams); a.err != nil {
		c.t.Fatalf("initialize: %s", a.err)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (c *client) read(r io.Reader) {
	defer close(c.done)
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		c.take(line)
	}
}

func (c *client) take(line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if rawjson.Valid(line, 2*spec.MaxDepth) != nil {
		c.strays = append(c.strays, string(line))
		return
	}
	if method, ok := rawjson.String(rawjson.Get(line, "method")); ok {
		c.notices[method]++
		close(c.changed)
		c.changed = make(chan struct{})
		if id := rawjson.Get(line, "id"); id != nil && c.reply != nil {
			go c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, c.reply(method)))
		}
		return
	}
	id := string(rawjson.Get(line, "id"))
	ch := c.waiting[id]
	delete(c.waiting, id)
	if ch == nil {
		c.strays = append(c.strays, string(line))
		return
	}
	ch <- answerOf(line)
}

// send sends lines.
func (c *client) send(line string) {
	if _, err := io.WriteString(c.stdin, line+"\n"); err != nil {
		c.t.Errorf("the client cannot write to tabhub stdio: %v", err)
	}
}

// begin sends a request; the channel gets its answer.
func (c *client) begin(method, params string) <-chan answer {
	c.mu.Lock()
	c.lastID++
	id := strconv.Itoa(c.lastID)
	c.mu.Unlock()
	return c.beginLine(id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
}

// beginLine sends a line; the channel gets the answer with that id, as JSON has it.
func (c *client) beginLine(id, line string) <-chan answer {
	ch := make(chan answer, 1)
	c.mu.Lock()
	c.waiting[id] = ch
	c.mu.Unlock()
	c.send(line)
	return ch
}

// ask sends a request and waits for its answer.
func (c *client) ask(method, params string) answer {
	c.t.Helper()
	return c.wait(method, c.begin(method, params))
}

func (c *client) wait(what string, ch <-chan answer) answer {
	c.t.Helper()
	select {
	case a := <-ch:
		return a
	case <-c.done:
		// The answer may have been the last line.
		select {
		case a := <-ch:
			return a
		default:
			return answer{err: json.RawMessage(`"tabhub stdio has ended without an answer"`)}
		}
	case <-time.After(timeout):
		return answer{err: json.RawMessage(strconv.Quote("no answer to " + what + " in time"))}
	}
}

func (c *client) call(tool, args string) answer {
	c.t.Helper()
	return c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
}

// tools lists the tools.
func (c *client) tools() tools {
	c.t.Helper()
	return listTools(c.t, c)
}

// noticed returns how many notices of that method have come.
func (c *client) noticed(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.notices[method]
}

// awaitTools lists the tools after each list_changed until they are as wanted.
func (c *client) awaitTools(what string, want func(tools) bool) tools {
	c.t.Helper()
	late := time.After(timeout)
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		list := c.tools()
		if want(list) {
			return list
		}
		select {
		case <-changed:
		case <-c.done:
			c.t.Fatalf("%s: tabhub stdio has ended", what)
		case <-late:
			c.t.Fatalf("%s: not after %v; the client lists %q", what, timeout, list.names())
		}
	}
}

// close ends the client as hosts do: it closes stdin, and tabhub stdio ends.
func (c *client) close() {
	c.t.Helper()
	c.stdin.Close()
	c.process.AwaitEnd()
	<-c.done
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, line := range c.strays {
		c.t.Errorf("the client got a line that it did not ask for: %.300s", line)
	}
	c.strays = nil
}

// face is one way to reach the hub as an MCP client.
type face interface {
	ask(method, params string) answer
}

// tools are the elements of a tools/list, raw.
type tools []json.RawMessage

func listTools(t testing.TB, f face) tools {
	t.Helper()
	var list tools
	cursor := ""
	for {
		a := f.ask("tools/list", "{"+cursor+"}")
		if a.err != nil {
			t.Fatalf("tools/list: %s", a.err)
		}
		for tool := range rawjson.Elements(rawjson.Get(a.result, "tools")) {
			list = append(list, tool)
		}
		next := rawjson.Get(a.result, "nextCursor")
		if next == nil {
			return list
		}
		cursor = `"cursor":` + string(next)
	}
}

func nameOf(tool json.RawMessage) string {
	name, _ := rawjson.String(rawjson.Get(tool, "name"))
	return name
}

// names returns the names of the tools of pages, in the order of the list.
func (l tools) names() []string {
	var out []string
	for _, tool := range l {
		if name := nameOf(tool); strings.HasPrefix(name, "website_tool_") || strings.HasPrefix(name, "pack_") {
			out = append(out, name)
		}
	}
	return out
}

// named returns the first of the names that ends so, "" if there is none.
func (l tools) named(suffix string) string {
	for _, name := range l.names() {
		if strings.HasSuffix(name, suffix) {
			return name
		}
	}
	return ""
}

// find returns the tool of that name, nil if there is none.
func (l tools) find(name string) json.RawMessage {
	for _, tool := range l {
		if nameOf(tool) == name {
			return tool
		}
	}
	return nil
}

// codeOf returns the code of a JSON-RPC error, 0 if there is none.
func codeOf(a answer) (code int) {
	if a.err != nil {
		json.Unmarshal(rawjson.Get(a.err, "code"), &code)
	}
	return code
}

// agent is a client that calls tools: any number may work side by side.
type agent interface {
	face
	call(tool, args string) answer
}
