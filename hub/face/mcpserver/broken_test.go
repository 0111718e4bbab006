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
	"tabhub/hub/builtin/proxytool"
	"tabhub/hub/call/ledger"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/hubtest"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
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
	s.srv = New(s.hub.ClientView(), Options{Options: methods.Options{Builtin: proxytool.New(s.hub.ClientView(), nil, nil)}})
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

// calls sends a call of a tool, with arguments, when the answers before it are written.
func calls(c remote, id int, tool, args string) {
	synctest.Wait()
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
	if i := strings.LastIndex(string(b), "data: "); i >= 0 { // it took so long that the connection was kept alive
		return string(b[i+len("data: "):])
	}
	return string(b)
}

func (c *ofHTTP) part() {
	if _, err := io.ReadFull((<-c.answer).Body, make([]byte, 1<<20)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *ofHTTP) cut() {
	if c.leave != nil {
		c.leave()
	}
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

// isRepeated checks that an answer is that of the call id, made before, and that its owner can see so; had
// says that its client has had it.
func (s *journal) isRepeated(answer, id string, had bool) {
	s.Helper()
	meta := rawjson.Get([]byte(answer), "result", "_meta")
	call, _ := rawjson.String(rawjson.Get(meta, methods.MetaCall))
	repeated, _ := rawjson.String(rawjson.Get(meta, methods.MetaRepeated))
	if call != id || repeated != id || strings.Contains(answer, methods.RepeatedText) != had {
		s.Errorf("not the answer of %s: %.400s", id, answer)
	}
	if got := s.hub.Recorded.Entries(record.Query{Event: record.Repeated, Call: id}); len(got) == 0 || got[0].Tool == "" || got[0].Outcome != "ok" {
		s.Errorf("recorded is %+v", got)
	}
}

// runsAnew checks that the same with another id is another call.
func runsAnew(t *testing.T, s *journal, c remote) {
	t.Helper()
	calls(c, 80, pay, `{"n":1}`)
	s.answer <- `{"content":[]}`
	if answer := c.next(); strings.Contains(answer, methods.MetaRepeated) || !strings.Contains(answer, methods.MetaCall) {
		t.Errorf("again: %s", answer)
	}
}

const paid = `{"content":[{"type":"text","text":"paid"}]}`

// goesOn reports whether the calls of a client go on when its connection breaks: in sessions of
// Streamable HTTP, by MCP.
func goesOn(c remote) bool {
	http, ok := c.(*ofHTTP)
	return ok && !http.modern
}

// comesBack reports whether a client that connects again is in the same session.
func comesBack(c remote) bool {
	_, bridge := c.(*ofBridge)
	return bridge || goesOn(c)
}

// TestBrokenUnderWay: a payment must be made once, whatever has happened to the connection: the same
// request waits for the same call, or learns that it may have taken effect.
func TestBrokenUnderWay(t *testing.T) {
	eachRemote(t, func(t *testing.T, s *journal, c remote) {
		calls(c, 1, pay, `{"n":1}`)
		c.cut()
		time.Sleep(2 * time.Second)
		if !goesOn(c) {
			s.wants("pay", "stopped")
			state, id, result := outcomeOf(t, c)
			if state != "may_have_taken_effect" || result != "" {
				t.Errorf("the call is %s with %s", state, result)
			}
			if !comesBack(c) {
				return
			}
			calls(c, 1, pay, `{"n":1}`)
			if answer := c.next(); !strings.Contains(answer, id) || !strings.Contains(answer, "may have taken effect") {
				t.Errorf("again: %s", answer)
			}
			s.wants("pay", "stopped")
			runsAnew(t, s, c)
			s.wants("pay", "stopped", "pay")
			return
		}
		state, id, _ := outcomeOf(t, c)
		if state != "under_way" {
			t.Errorf("the call is %s", state)
		}
		calls(c, 1, pay, `{"n":1}`)
		c.cut()
		calls(c, 1, pay, `{"n":1}`)
		time.Sleep(20 * time.Second)
		s.wants("pay")
		s.answer <- paid
		s.isRepeated(c.next(), id, false)
		s.wants("pay")
		runsAnew(t, s, c)
		s.wants("pay", "pay")
	})
}

// TestSameIDAgain: ids are not used twice, so a request with the id of one that was answered is that
// one, sent again by something on the way; one that asks for something else is another call.
func TestSameIDAgain(t *testing.T) {
	eachRemote(t, func(t *testing.T, s *journal, c remote) {
		calls(c, 1, pay, `{"n":1}`)
		s.answer <- paid
		c.next()
		calls(c, 1, pay, `{"n":2}`)
		s.answer <- paid
		if answer := c.next(); strings.Contains(answer, methods.MetaRepeated) {
			t.Errorf("another call: %s", answer)
		}
		s.wants("pay", "pay")
		calls(c, 1, pay, `{"n":2}`)
		// Without sessions every client counts from 0; on one stream nothing sends a line again.
		if !goesOn(c) {
			s.wants("pay", "pay", "pay")
			s.answer <- paid
			c.next()
			return
		}
		answer := c.next()
		id, _ := rawjson.String(rawjson.Get([]byte(answer), "result", "_meta", methods.MetaCall))
		s.isRepeated(answer, id, true)
		s.wants("pay", "pay")
		runsAnew(t, s, c)

		// What only reads is made anew: a stored answer may be stale.
		for range 2 {
			calls(c, 2, look, `{}`)
			s.answer <- `{"content":[]}`
			if answer := c.next(); strings.Contains(answer, methods.MetaRepeated) {
				t.Errorf("what only reads: %s", answer)
			}
		}
	})
}

// TestAlike: two deliberate payments are two, whatever has become of the answer to the first.
func TestAlike(t *testing.T) {
	eachRemote(t, func(t *testing.T, s *journal, c remote) {
		calls(c, 1, pay, `{"n":1}`)
		c.cut()
		if goesOn(c) {
			s.answer <- paid
		}
		time.Sleep(2 * time.Second)
		calls(c, 2, pay, `{"n":1}`)
		s.answer <- paid
		if answer := c.next(); strings.Contains(answer, methods.MetaRepeated) {
			t.Errorf("another call: %s", answer)
		}
		if goesOn(c) {
			s.wants("pay", "pay")
		} else {
			s.wants("pay", "stopped", "pay")
		}
	})
}

// TestBrokenBeforeTheAnswer: an answer without a connection is stored.
func TestBrokenBeforeTheAnswer(t *testing.T) {
	eachRemote(t, func(t *testing.T, s *journal, c remote) {
		if !goesOn(c) {
			return
		}
		calls(c, 1, pay, `{"n":1}`)
		c.cut()
		s.answer <- paid
		synctest.Wait()
		state, id, result := outcomeOf(t, c)
		if state != "ended" || !strings.Contains(result, `"text":"paid"`) {
			t.Errorf("the call is %s with %s", state, result)
		}
		calls(c, 1, pay, `{"n":1}`)
		s.isRepeated(c.next(), id, false)
		s.wants("pay")
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
		if !comesBack(c) {
			return
		}
		state, id, _ := outcomeOf(t, c)
		if state != "ended" {
			t.Errorf("the call is %s", state)
		}
		calls(c, 1, pay, `{"n":1}`)
		answer := c.next()
		s.isRepeated(answer, id, false)
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
		time.Sleep(2 * time.Second)
		if !comesBack(c) {
			s.open()
			s.wants()
			return
		}
		state, _, _ := outcomeOf(t, c)
		if want := map[bool]string{true: "under_way", false: "not_sent"}[goesOn(c)]; state != want {
			t.Errorf("the call is %s, want %s", state, want)
		}
		if !goesOn(c) {
			return
		}
		calls(c, 1, pay, `{"n":1}`)
		s.open()
		s.answer <- paid
		if answer := c.next(); !strings.Contains(answer, `"text":"paid"`) {
			t.Errorf("again: %s", answer)
		}
		s.wants("pay")
	})
}

// TestCancelled: a client that cancels a call gets no answer, on whichever request it waits.
func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newJournal(t)
		c := &ofHTTP{web: inBubble(t, s.srv)}
		c.initialize("2025-11-25")
		calls(c, 1, pay, `{"n":1}`)
		c.cut()
		calls(c, 1, pay, `{"n":1}`)
		c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		s.wants("pay", "stopped")
		c.cut()
		if state, _, _ := outcomeOf(t, c); state != "may_have_taken_effect" {
			t.Errorf("the call is %s", state)
		}
		runsAnew(t, s, c)
		s.wants("pay", "stopped", "pay")
		c.cut()
	})
}

// TestTaskWithoutItsClient: a client that has not got the task's id gets it by the same request.
func TestTaskWithoutItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newJournal(t)
		s.Cleanup(func() { _ = s.srv.Close(context.Background()) })
		c := &ofBridge{t: t, srv: s.srv, bridge: Bridged{Session: "1", Began: time.Now()}}
		meta := strings.Replace(modernMeta, `clientCapabilities":{`, `clientCapabilities":{"extensions":{"`+methods.ExtTasks+`":{}}`, 1)
		s.tab.Close()
		ask := func() { calls(c, 1, pay, `{"n":1},`+meta) }
		ask()
		time.Sleep(3 * time.Second) // a task by now, and a client that does not read is told so
		c.cut()
		ask()
		task := []byte(c.next())
		id, _ := rawjson.String(rawjson.Get(task, "result", "taskId"))
		if repeated := rawjson.Get(task, "result", "_meta", methods.MetaRepeated); id == "" || repeated == nil {
			t.Errorf("asked again: %s", task)
		}
		s.open()
		s.answer <- paid
		s.wants("pay")
		if task, ok := s.hub.Calls.Ledger().Task(policy.Owner.ID, id); !ok || task.Status != ledger.Completed {
			t.Errorf("%+v", task)
		}
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
			calls(c, 1, pay, `{"n":1}`)
			s.answer <- paid
			if answer := c.next(); strings.Contains(answer, methods.MetaRepeated) {
				t.Errorf("by its request: %s", answer)
			}
		}
		calls(one, 1, pay, `{"n":1}`)
		s.isRepeated(one.next(), id, false)
		s.wants("pay", "pay", "pay")
		one.cut()
	})
}
