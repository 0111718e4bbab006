package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub"
	"tabhub/hub/hubtest"
	"tabhub/hub/mcpserver/proxytool"
	"tabhub/hub/policy"
	"tabhub/hub/record"
	"tabhub/hub/tasks"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
)

// journal is a page that keeps a journal of what it was asked to do.
type journal struct {
	*testing.T
	hub    *hubtest.Hub
	srv    *Server
	tab    *tabtransport.Local
	answer chan string

	mu  sync.Mutex
	ran []string
}

func (s *journal) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ran = append(s.ran, what)
}

const (
	pay  = "website_tool_shop_example_com_pay"
	look = "website_tool_shop_example_com_look"
)

func newJournal(t *testing.T) *journal {
	s := &journal{T: t, hub: hubtest.Open(t, hub.Options{}), answer: make(chan string)}
	s.srv = New(s.hub, Options{Builtin: proxytool.New(s.hub, nil, nil)})
	s.open()
	return s
}

// open opens the page's tab.
func (s *journal) open() {
	s.tab = s.hub.JoinTab("https://shop.example.com", func(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
		s.note(string(in.Request.(*spec.ExecuteTool).ToolName))
		select {
		case r := <-s.answer:
			return spec.Response{Result: json.RawMessage(r)}, nil
		case <-ctx.Done():
			s.note("stopped")
			return spec.Response{}, ctx.Err()
		}
	}, `{"name":"pay","inputSchema":{"type":"object"}}`, `{"name":"look","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`)
	synctest.Wait()
}

// wants checks what the page has done.
func (s *journal) wants(ran ...string) {
	s.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := fmt.Sprint(s.ran); got != fmt.Sprint(ran) {
		s.Errorf("the page did %s, want %s", got, ran)
	}
}

// remote is a client of one of the transports.
type remote interface {
	// send sends a request on a connection of its own, or the one that there is. The answer
	// is not read before next.
	send(id int, method, params string)
	// next returns the answer to the latest request.
	next() string
	// part reads the beginning of that answer.
	part()
	// cut ends the connection.
	cut()
}

// calls sends a call of a tool, with arguments.
func calls(c remote, id int, tool, args string) {
	c.send(id, "tools/call", `"name":"`+tool+`","arguments":`+args)
	synctest.Wait()
}

// outcomeOf returns the state and the id of the client's latest call.
func outcomeOf(t *testing.T, c remote) (state, id, result string) {
	t.Helper()
	calls(c, 90, "proxy", `{"action":"outcome"}`)
	r := []byte(c.next())
	about := rawjson.Get(r, "result", "structuredContent")
	if about == nil {
		t.Fatalf("no outcome: %s", r)
	}
	state, _ = rawjson.String(rawjson.Get(about, "state"))
	id, _ = rawjson.String(rawjson.Get(about, "id"))
	return state, id, string(rawjson.Get(about, "result"))
}

// ofHTTP is a client of Streamable HTTP.
type ofHTTP struct {
	*web
	modern bool
	leave  context.CancelFunc
	answer chan *http.Response
}

func (c *ofHTTP) send(id int, method, params string) {
	var ctx context.Context
	ctx, c.leave = context.WithCancel(c.t.Context())
	header := c.header.Clone()
	if c.modern {
		name, _ := rawjson.String(rawjson.Get([]byte("{"+params+"}"), "name"))
		header.Set("Mcp-Protocol-Version", "2026-07-28")
		header.Set("Mcp-Method", method)
		header.Set("Mcp-Name", name)
		params += "," + modernMeta
	}
	header.Set("Content-Type", "application/json")
	r, err := http.NewRequestWithContext(ctx, "POST", c.url+"/mcp", strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%s","params":{%s}}`, id, method, params)))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header = header
	answer := make(chan *http.Response, 1)
	c.answer = answer
	go func() {
		if resp, err := c.http.Do(r); err == nil {
			answer <- resp
		}
	}()
}

func (c *ofHTTP) next() string {
	resp := <-c.answer
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, event, ok := strings.Cut(string(b), "data: "); ok { // it took so long that the connection was kept alive
		return event
	}
	return string(b)
}

func (c *ofHTTP) part() {
	if _, err := io.ReadFull((<-c.answer).Body, make([]byte, 1<<20)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *ofHTTP) cut() { c.leave(); synctest.Wait() }

// ofSSE is a client of MCP over SSE, which connects again when it has to.
type ofSSE struct {
	*web
	endpoint string
	events   *events
	leave    context.CancelFunc
}

func (c *ofSSE) connect() {
	var ctx context.Context
	ctx, c.leave = context.WithCancel(c.t.Context())
	resp := c.doContext(ctx, "GET", "/sse", "", "Accept", "text/event-stream")
	c.events = &events{c.t, resp.Body, bufio.NewReader(resp.Body)}
	_, c.endpoint, _ = c.events.next()
	c.endpoint = strings.TrimPrefix(c.endpoint, c.url)
	c.post(initializeLine("2024-11-05"))
	c.next()
}

func (c *ofSSE) post(body string) {
	resp := c.do("POST", c.endpoint, body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		c.t.Fatalf("%s: %s", body, resp.Status)
	}
}

func (c *ofSSE) send(id int, method, params string) {
	if c.events == nil {
		c.connect()
	}
	c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%s","params":{%s}}`, id, method, params))
}

func (c *ofSSE) next() string {
	for {
		line, err := c.events.r.ReadString('\n')
		if err != nil {
			c.t.Fatal(err)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return data
		}
	}
}

func (c *ofSSE) part() {
	if _, err := io.ReadFull(c.events.r, make([]byte, 1<<20)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *ofSSE) cut() {
	c.leave()
	c.events = nil
	synctest.Wait()
}

// ofBridge is a client behind a bridge that connects again when it has to.
type ofBridge struct {
	t      *testing.T
	srv    *Server
	bridge Bridged
	conn   net.Conn
	lines  *bufio.Reader
}

func (c *ofBridge) send(id int, method, params string) {
	if c.conn == nil {
		here, there := net.Pipe()
		c.conn, c.lines = here, bufio.NewReader(here)
		go func() {
			_, _ = c.srv.ServeBridge(asTester(context.Background()), c.bridge, there, there)
			there.Close()
		}()
		io.WriteString(here, initializeLine("2025-11-25")+"\n")
		c.next()
	}
	fmt.Fprintf(c.conn, `{"jsonrpc":"2.0","id":%d,"method":"%s","params":{%s}}`+"\n", id, method, params)
}

func (c *ofBridge) next() string {
	line, err := c.lines.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	return line
}

func (c *ofBridge) part() {
	if _, err := io.ReadFull(c.lines, make([]byte, 1<<20)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *ofBridge) cut() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
	synctest.Wait()
}

// eachRemote runs a test with a client of each transport, in a bubble.
func eachRemote(t *testing.T, test func(t *testing.T, s *journal, c remote)) {
	for name, connect := range map[string]func(s *journal) remote{
		"Streamable HTTP": func(s *journal) remote {
			c := &ofHTTP{web: inBubble(s.T, s.srv)}
			c.initialize("2025-11-25")
			return c
		},
		"2026-07-28": func(s *journal) remote { return &ofHTTP{web: inBubble(s.T, s.srv), modern: true} },
		"SSE":        func(s *journal) remote { return &ofSSE{web: inBubble(s.T, s.srv)} },
		"bridge": func(s *journal) remote {
			s.Cleanup(func() { _ = s.srv.Close(context.Background()) })
			return &ofBridge{t: s.T, srv: s.srv, bridge: Bridged{Session: "1", Began: time.Now()}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newJournal(t)
				c := connect(s)
				test(t, s, c)
				c.cut()
			})
		})
	}
}

// isRepeated checks that an answer is that of the call id, made before, and that its owner can see so.
func (s *journal) isRepeated(answer, id string) {
	s.Helper()
	meta := rawjson.Get([]byte(answer), "result", "_meta")
	call, _ := rawjson.String(rawjson.Get(meta, metaCall))
	repeated, _ := rawjson.String(rawjson.Get(meta, metaRepeated))
	if call != id || repeated != id || !strings.Contains(answer, repeatedText) {
		s.Errorf("not the answer of %s: %.400s", id, answer)
	}
	if got := s.hub.Recorded.Entries(record.Query{Event: record.Repeated, Call: id}); len(got) == 0 || got[0].Tool == "" || got[0].Outcome != "ok" {
		s.Errorf("recorded is %+v", got)
	}
}

// runsAnew checks that the same call is made again when nothing was lost of it.
func runsAnew(t *testing.T, s *journal, c remote) {
	t.Helper()
	calls(c, 80, pay, `{"n":1}`)
	s.answer <- `{"content":[]}`
	if answer := c.next(); strings.Contains(answer, metaRepeated) || !strings.Contains(answer, metaCall) {
		t.Errorf("again: %s", answer)
	}
}

const paid = `{"content":[{"type":"text","text":"paid"}]}`

// TestBrokenUnderWay: who asks again while the page works gets what it answers then.
func TestBrokenUnderWay(t *testing.T) {
	eachRemote(t, func(t *testing.T, s *journal, c remote) {
		calls(c, 1, pay, `{"n":1}`)
		c.cut()
		time.Sleep(time.Second)
		state, id, _ := outcomeOf(t, c)
		if state != "under_way" {
			t.Errorf("the call is %s", state)
		}
		calls(c, 2, pay, `{ "n": 1 }`)
		time.Sleep(20 * time.Second) // longer than it goes on without a client
		s.wants("pay")
		s.answer <- paid
		s.isRepeated(c.next(), id)
		s.wants("pay")
		runsAnew(t, s, c)
		s.wants("pay", "pay")
	})
}

// TestBrokenTwice: who asks again may lose the connection again.
func TestBrokenTwice(t *testing.T) {
	eachRemote(t, func(t *testing.T, s *journal, c remote) {
		calls(c, 1, pay, `{"n":1}`)
		c.cut()
		calls(c, 2, pay, `{"n":1}`)
		c.cut()
		time.Sleep(4 * time.Second)
		calls(c, 3, pay, `{"n":1}`)
		time.Sleep(4 * time.Second) // longer than it goes on without a client, since the second
		s.wants("pay")
		c.cut()
		s.answer <- paid
		synctest.Wait()
		_, id, _ := outcomeOf(t, c)
		calls(c, 4, pay, `{"n":1}`)
		s.isRepeated(c.next(), id)
		s.wants("pay")

		calls(c, 5, pay, `{"n":2}`)
		c.cut()
		calls(c, 6, pay, `{"n":2}`)
		c.cut()
		time.Sleep(10 * time.Second)
		if http, ok := c.(*ofHTTP); ok && !http.modern {
			return // goes on to its end
		}
		s.wants("pay", "pay", "stopped")
	})
}

// TestBrokenBeforeTheAnswer: an answer that has nobody to go to is kept.
func TestBrokenBeforeTheAnswer(t *testing.T) {
	eachRemote(t, func(t *testing.T, s *journal, c remote) {
		calls(c, 1, pay, `{"n":1}`)
		c.cut()
		s.answer <- paid
		synctest.Wait()
		state, id, result := outcomeOf(t, c)
		if state != "ended" || !strings.Contains(result, `"text":"paid"`) {
			t.Errorf("the call is %s with %s", state, result)
		}
		calls(c, 2, pay, `{"n":2}`) // another
		s.answer <- paid
		if answer := c.next(); strings.Contains(answer, metaRepeated) {
			t.Errorf("another call: %s", answer)
		}
		calls(c, 3, pay, `{"n":1}`)
		s.isRepeated(c.next(), id)
		s.wants("pay", "pay")
		runsAnew(t, s, c)
		s.wants("pay", "pay", "pay")
	})
}

// TestBrokenWhileWritten: half an answer is none.
func TestBrokenWhileWritten(t *testing.T) {
	large := `{"content":[{"type":"text","text":"` + strings.Repeat("x", 8<<20) + `"}]}`
	eachRemote(t, func(t *testing.T, s *journal, c remote) {
		calls(c, 1, pay, `{"n":1}`)
		s.answer <- large
		synctest.Wait()
		c.part()
		c.cut()
		state, id, _ := outcomeOf(t, c)
		if state != "ended" {
			t.Errorf("the call is %s", state)
		}
		calls(c, 2, pay, `{"n":1}`)
		answer := c.next()
		s.isRepeated(answer, id)
		if len(answer) < len(large) {
			t.Errorf("%d bytes", len(answer))
		}
		s.wants("pay")
		runsAnew(t, s, c)
		s.wants("pay", "pay")
	})
}

// TestBrokenBeforeSent: a call that waits for a tab is not made twice when the tab is there.
func TestBrokenBeforeSent(t *testing.T) {
	eachRemote(t, func(t *testing.T, s *journal, c remote) {
		s.tab.Close()
		synctest.Wait()
		calls(c, 1, pay, `{"n":1}`)
		c.cut()
		http, _ := c.(*ofHTTP)
		goesOn := http != nil && !http.modern // by this revision, leaving does not cancel
		time.Sleep(2 * time.Second)
		state, _, _ := outcomeOf(t, c)
		if want := map[bool]string{true: "under_way", false: "not_sent"}[goesOn]; state != want {
			t.Errorf("the call is %s, want %s", state, want)
		}
		calls(c, 2, pay, `{"n":1}`)
		s.open()
		s.answer <- paid
		if answer := c.next(); !strings.Contains(answer, `"text":"paid"`) || strings.Contains(answer, metaRepeated) != goesOn {
			t.Errorf("again: %s", answer)
		}
		s.wants("pay")
	})
}

// TestBrokenAndNotAskedAgain: a page does not work for nobody for long, where the client can
// say that it has left; and it is told once what may have been done.
func TestBrokenAndNotAskedAgain(t *testing.T) {
	eachRemote(t, func(t *testing.T, s *journal, c remote) {
		calls(c, 1, pay, `{"n":1}`)
		c.cut()
		if http, ok := c.(*ofHTTP); ok && !http.modern {
			return // goes on to its end
		}
		time.Sleep(10 * time.Second)
		s.wants("pay", "stopped")
		state, id, _ := outcomeOf(t, c)
		if state != "may_have_taken_effect" {
			t.Errorf("the call is %s", state)
		}
		calls(c, 2, pay, `{"n":1}`)
		answer := c.next()
		s.isRepeated(answer, id)
		if !strings.Contains(answer, "NOT_CONNECTED") || !strings.Contains(answer, "may have taken effect") {
			t.Errorf("again: %s", answer)
		}
		runsAnew(t, s, c)
		s.wants("pay", "stopped", "pay")
	})
}

// TestReadingRunsAgain: what only reads is read anew, so that nobody gets what is stale.
func TestReadingRunsAgain(t *testing.T) {
	eachRemote(t, func(t *testing.T, s *journal, c remote) {
		calls(c, 1, look, `{}`)
		c.cut()
		if http, ok := c.(*ofHTTP); ok && !http.modern {
			s.answer <- paid
		}
		time.Sleep(2 * time.Second)
		calls(c, 2, look, `{}`)
		s.answer <- `{"content":[{"type":"text","text":"now"}]}`
		if answer := c.next(); strings.Contains(answer, metaRepeated) || !strings.Contains(answer, "now") {
			t.Errorf("again: %s", answer)
		}
	})
}

// TestCancelledIsNotKept: who cancels a call, and makes it again, wants it to be made.
func TestCancelledIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newJournal(t)
		c := &ofHTTP{web: inBubble(t, s.srv)}
		c.initialize("2025-11-25")
		calls(c, 1, pay, `{"n":1}`)
		c.cut()
		c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		s.wants("pay", "stopped")
		if state, _, _ := outcomeOf(t, c); state != "may_have_taken_effect" {
			t.Errorf("the call is %s", state)
		}
		runsAnew(t, s, c)
		s.wants("pay", "stopped", "pay")

		// Also by the request that has asked again.
		calls(c, 2, pay, `{"n":1}`)
		c.cut()
		calls(c, 3, pay, `{"n":1}`)
		c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
		s.wants("pay", "stopped", "pay", "pay", "stopped")
		c.cut()
	})
}

// TestTaskWithoutItsClient: who has not got the task's id gets it when asking again, also while
// nothing was sent: else there would be two tasks, and the owner would be asked twice.
func TestTaskWithoutItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newJournal(t)
		s.Cleanup(func() { _ = s.srv.Close(context.Background()) })
		c := &ofBridge{t: t, srv: s.srv, bridge: Bridged{Session: "1", Began: time.Now()}}
		meta := strings.Replace(modernMeta, `clientCapabilities":{`, `clientCapabilities":{"extensions":{"`+extTasks+`":{}}`, 1)
		s.tab.Close()
		ask := func() { calls(c, 1, pay, `{"n":1},`+meta) }
		ask()
		time.Sleep(3 * time.Second) // a task by now, and being told to who does not read
		c.cut()
		ask()
		task := []byte(c.next())
		id, _ := rawjson.String(rawjson.Get(task, "result", "taskId"))
		if repeated := rawjson.Get(task, "result", "_meta", metaRepeated); id == "" || repeated == nil {
			t.Errorf("asked again: %s", task)
		}
		s.open()
		s.answer <- paid
		s.wants("pay")
		if task, ok := s.hub.Tasks().Get(policy.Owner.ID, id); !ok || task.Status != tasks.Completed {
			t.Errorf("%+v", task)
		}
		c.cut()
	})
}

// TestCancelledLate: SDKs cancel a request whose connection broke, or whose time is over, also
// after they have asked again. That must not take the answer from the request that waits for it.
func TestCancelledLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newJournal(t)
		c := &ofHTTP{web: inBubble(t, s.srv)}
		c.initialize("2025-11-25")
		calls(c, 1, pay, `{"n":1}`)
		c.cut()
		calls(c, 2, pay, `{"n":1}`)
		c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		s.wants("pay")
		s.answer <- paid
		if answer := c.next(); !strings.Contains(answer, `"text":"paid"`) {
			t.Errorf("asked again: %s", answer)
		}
		runsAnew(t, s, c)
		c.cut()
	})
}

// TestAnswersAreNotSharedBetweenClients: the same call of another is another call.
func TestAnswersAreNotSharedBetweenClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newJournal(t)
		connect := func(client string) *ofHTTP {
			c := &ofHTTP{web: inBubble(t, s.srv)}
			c.header.Set("Authorization", "local "+client)
			c.initialize("2025-11-25")
			return c
		}
		one := connect("a")
		calls(one, 1, pay, `{"n":1}`)
		one.cut()
		s.answer <- paid
		synctest.Wait()
		_, id, _ := outcomeOf(t, one)
		sameClient, other := connect("a"), connect("b")
		for _, c := range []*ofHTTP{sameClient, other} {
			if state, _, _ := outcomeOf(t, c); state != "unknown" {
				t.Errorf("another session's latest call is %s", state)
			}
			calls(c, 91, "proxy", `{"action":"outcome","id":"`+id+`"}`)
			answer := c.next()
			if known := strings.Contains(answer, "paid"); known != (c == sameClient) {
				t.Errorf("by its id: %s", answer)
			}
			runsAnew(t, s, c)
		}
		calls(one, 2, pay, `{"n":1}`)
		s.isRepeated(one.next(), id)
		s.wants("pay", "pay", "pay")
		one.cut()
	})
}
