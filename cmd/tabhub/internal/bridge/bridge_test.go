package bridge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// rig is a bridge between a client and hubs that the test plays.
type rig struct {
	t      *testing.T
	stdin  *io.PipeWriter
	stdout *bufio.Scanner
	hubs   chan *played // each hub that the bridge has attached to
	fail   chan error   // makes the next Connect fail
	done   chan error
}

// played is the far end of a connection to a hub.
type played struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Scanner
}

func scanner(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 64<<20)
	return s
}

func newRig(t *testing.T) *rig { return newRigWith(t, Options{}) }

func newRigWith(t *testing.T, o Options) *rig {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	r := &rig{t: t, stdin: inW, stdout: scanner(outR), hubs: make(chan *played, 10), fail: make(chan error, 1), done: make(chan error, 1)}
	connect := func(ctx context.Context) (net.Conn, error) {
		select {
		case err := <-r.fail:
			return nil, err
		default:
		}
		conn, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			return nil, err
		}
		far, err := ln.Accept()
		if err != nil {
			return nil, err
		}
		r.hubs <- &played{t, far, scanner(far)}
		return conn, nil
	}
	go func() {
		o.In, o.Out, o.Connect = inR, outW, connect
		err := Run(t.Context(), o)
		outW.Close()
		r.done <- err
	}()
	t.Cleanup(func() { inW.Close(); outR.Close() })
	return r
}

func (r *rig) send(lines ...string) {
	r.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(r.stdin, l+"\n"); err != nil {
			r.t.Fatal(err)
		}
	}
}

func next(t *testing.T, what string, s *bufio.Scanner) string {
	t.Helper()
	if !s.Scan() {
		t.Fatalf("%s has ended: %v", what, s.Err())
	}
	return s.Text()
}

// gets checks what arrives at the client.
func (r *rig) gets(want ...string) {
	r.t.Helper()
	for _, w := range want {
		if got := next(r.t, "the client's stream", r.stdout); got != w {
			r.t.Fatalf("the client got %s\n\twant %s", got, w)
		}
	}
}

// getsLost checks that the client learns of calls which may have taken effect.
func (r *rig) getsLost(ids ...string) {
	r.t.Helper()
	for _, id := range ids {
		got := next(r.t, "the client's stream", r.stdout)
		if !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":`+id+`,"result":{`) || !strings.Contains(got, lostText) || !strings.Contains(got, `NOT_CONNECTED`) {
			r.t.Fatalf("call %s got %s", id, got)
		}
	}
}

func (h *played) send(lines ...string) {
	for _, l := range lines {
		io.WriteString(h.conn, l+"\n")
	}
}

func (h *played) gets(want ...string) {
	h.t.Helper()
	for _, w := range want {
		if got := next(h.t, "the hub's stream", h.in); got != w {
			h.t.Fatalf("the hub got %s\n\twant %s", got, w)
		}
	}
}

const (
	initLine   = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"x"}}}`
	initAnswer = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}`
	initDone   = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	initReplay = `{"jsonrpc":"2.0","id":"tabhub:replay:1","method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"x"}}}`
	toolsNew   = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	lostText   = `"isError":true`
)

// begin is a session up to the point where the client has listed the tools.
func (r *rig) begin() *played {
	r.t.Helper()
	h := <-r.hubs
	r.passes(h, initLine)
	h.send(initAnswer)
	r.gets(initAnswer)
	list := `{"method":"tools/list","jsonrpc":"2.0","id":1}`
	r.passes(h, initDone, list)
	tools := `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read","annotations":{"readOnlyHint":true}},{"name":"twice","annotations":{"idempotentHint":true}},{"name":"buy","annotations":{"readOnlyHint":false}},{"name":"plain"}]}}`
	h.send(tools)
	r.gets(tools)
	return h
}

// rejoin is the hub's part of a restored session.
func (h *played) rejoin() {
	h.t.Helper()
	h.gets(initReplay)
	h.send(`{"jsonrpc":"2.0","id":"tabhub:replay:1","result":{"protocolVersion":"2025-06-18"}}`)
	h.gets(initDone)
}

// reconnect ends h, and returns the next hub, with which the session is restored.
func (r *rig) reconnect(h *played) *played {
	r.t.Helper()
	h.conn.Close()
	h = <-r.hubs
	h.rejoin()
	return h
}

// passes checks that what the client sends reaches the hub as it is.
func (r *rig) passes(h *played, lines ...string) {
	r.t.Helper()
	r.send(lines...)
	h.gets(lines...)
}

func call(id, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"n":1}}}`, id, tool)
}

// A purchase must not happen twice because the hub was restarted; a lookup may.
func TestCallsUnderWayWhenTheHubDies(t *testing.T) {
	r := newRig(t)
	h := r.begin()
	open := []string{call(`2`, "buy"), call(`"2"`, "read"), call(`3`, "twice"), call(`4`, "plain"), call(`5`, "never listed"), `{"jsonrpc":"2.0","id":6,"method":"resources/list"}`}
	r.passes(h, open...)
	h.conn.Close()
	r.getsLost(`2`, `4`, `5`)
	h = <-r.hubs
	h.rejoin()
	h.gets(open[1], open[2], open[5])
	r.gets(toolsNew)
	answer := `{"jsonrpc":"2.0","id":"2","result":{"content":[]}}`
	h.send(answer)
	r.gets(answer)
	later := call(`7`, "buy")
	r.passes(h, later)
}

// However a client writes it, and some escape every slash: a purchase is one.
func TestCallsAreReadAsTheHubReadsThem(t *testing.T) {
	r := newRig(t)
	h := r.begin()
	open := []string{
		`{"jsonrpc":"2.0","id":2,"method":"tools\/call","params":{"name":"buy"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tool\u0073/call","params":{"name":"buy"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"ping","method":"tools/call","params":{"name":"buy"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"ping","params":{"name":"buy"},"\u006dethod":"tools/call"}`,
		`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"read"},"params":{"name":"buy"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools\/call","params":{"name":"read"}}`,
	}
	r.passes(h, open...)
	h.conn.Close()
	r.getsLost(`2`, `3`, `4`, `5`, `6`)
	h = <-r.hubs
	h.rejoin()
	h.gets(open[5])
}

// A request that each hub dies of must not take down one after the other, with all
// that other clients have under way there.
func TestRequestThatHubsDieOf(t *testing.T) {
	r := newRig(t)
	h := r.begin()
	open := []string{call(`2`, "read"), `{"jsonrpc":"2.0","id":3,"method":"resources/list"}`}
	r.send(open...)
	for try := range maxSends {
		h.gets(open...)
		if try > 0 {
			r.gets(toolsNew)
		}
		h.conn.Close()
		if try == maxSends-1 {
			break
		}
		h = <-r.hubs
		h.rejoin()
	}
	r.getsLost(`2`)
	if got := next(t, "the client's stream", r.stdout); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":3,"error":{`) {
		t.Errorf("the request got %s", got)
	}
	h = <-r.hubs
	h.rejoin()
	r.gets(toolsNew)
	later := call(`4`, "read")
	r.passes(h, later)
}

func TestInitializeUnderWayWhenTheHubDies(t *testing.T) {
	r := newRig(t)
	h := <-r.hubs
	r.passes(h, initLine)
	h.conn.Close()
	h = <-r.hubs
	h.gets(initLine)
	h.send(initAnswer)
	r.gets(initAnswer)
}

func TestSessionIsRestored(t *testing.T) {
	r := newRig(t)
	h := r.begin()
	level := `{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"error"}}`
	sub := `{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"a:1"}}`
	sub2 := `{"jsonrpc":"2.0","id":4,"method":"resources/subscribe","params":{"uri":"a:2"}}`
	unsub := `{"jsonrpc":"2.0","id":5,"method":"resources/unsubscribe","params":{"uri":"a:1"}}`
	list := `{"jsonrpc":"2.0","id":6,"method":"prompts/list"}`
	for i, line := range []string{level, sub, sub2, unsub, list} {
		r.passes(h, line)
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i+2)
		h.send(answer)
		r.gets(answer)
	}
	h = r.reconnect(h)
	h.gets(`{"jsonrpc":"2.0","id":"tabhub:replay:2","method":"logging/setLevel","params":{"level":"error"}}`,
		`{"jsonrpc":"2.0","id":"tabhub:replay:3","method":"resources/subscribe","params":{"uri":"a:2"}}`)
	h.send(`{"jsonrpc":"2.0","id":"tabhub:replay:2","result":{}}`, `{"jsonrpc":"2.0","id":"tabhub:replay:3","error":{}}`)
	note := `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:2"}}`
	r.gets(toolsNew, `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`,
		note) // it may have changed while there was no hub
	ping := `{"jsonrpc":"2.0","id":"p","result":{}}`
	h.send(note, ping)
	r.gets(note, ping)
}

func TestCancelledCallIsForgotten(t *testing.T) {
	r := newRig(t)
	h := r.begin()
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`
	r.passes(h, call(`2`, "buy"), call(`3`, "read"), cancel)
	h = r.reconnect(h)
	h.gets(call(`3`, "read"))
	r.gets(toolsNew)
}

// `tabhub stop` must not be undone by the bridges; the next request of a client may.
func TestStoppedHubIsStartedOnDemand(t *testing.T) {
	r := newRig(t)
	h := r.begin()
	h.send(`{"jsonrpc":"2.0","method":"tabhub/farewell","params":{"reason":"stop"}}`)
	h.conn.Close()
	select {
	case <-r.hubs:
		t.Fatal("the hub was started again though nobody asked for anything")
	default:
	}
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	r.send(list)
	h = <-r.hubs
	h.rejoin()
	r.gets(toolsNew)
	h.gets(list)
}

// A hub that ends on purpose has answered all that it had begun, so that what it has
// not answered, a purchase too, is for the next one. Stopping hubs over and over is no
// reason to give a request up.
func TestWhatAnEndingHubHasNotBegun(t *testing.T) {
	r := newRig(t)
	h := r.begin()
	open := []string{call(`2`, "buy"), `{"jsonrpc":"2.0","id":3,"method":"resources/list"}`, call(`4`, "never listed")}
	r.passes(h, open...)
	for range maxSends + 1 {
		h.send(`{"jsonrpc":"2.0","method":"tabhub/farewell","params":{"reason":"stop","settled":true}}`)
		h.conn.Close()
		h = <-r.hubs
		h.gets(initReplay)
		h.conn.Close() // before it is sent anything else
		h = <-r.hubs
		h.rejoin()
		h.gets(open...)
		r.gets(toolsNew)
	}
	h.send(`{"jsonrpc":"2.0","method":"tabhub/farewell","params":{"reason":"stop","settled":false}}`)
	h.conn.Close()
	r.getsLost(`2`, `4`) // it may have begun them
	h = <-r.hubs
	h.rejoin()
	h.gets(open[1])
}

// An ending hub's silence must not be taken for a call that it has not begun.
func TestWhatAnEndingHubWasSilentAbout(t *testing.T) {
	r := newRig(t)
	h := r.begin()
	open := []string{
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"buy"},"id":20}`, // it answers the other id
		call(`"a\/b"`, "buy"), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a/b"}}`,
		call(`"c/d"`, "buy"), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c\u002fd"}}`,
		call(`"e\/f"`, "buy"),
	}
	r.passes(h, open...)
	answers := []string{`{"jsonrpc":"2.0","id":20,"result":{"content":[]}}`, `{"jsonrpc":"2.0","id":"e/f","result":{"content":[]}}`}
	h.send(answers...)
	r.gets(answers...)
	h.send(`{"jsonrpc":"2.0","method":"tabhub/farewell","params":{"reason":"idle","settled":true}}`)
	h.conn.Close()
	r.getsLost(`2`)
	h = <-r.hubs
	h.rejoin()
	r.gets(toolsNew)
	later := call(`7`, "read")
	r.passes(h, later)
}

// What a hub says last is heard also by a bridge that has still much to say to it.
func TestHubThatEndsWhileItsSessionIsRestored(t *testing.T) {
	r := newRig(t)
	h := r.begin()
	big := strings.Replace(call(`2`, "buy"), `"n":1`, `"s":"`+strings.Repeat("x", 8<<20)+`"`, 1)
	farewell := `{"jsonrpc":"2.0","method":"tabhub/farewell","params":{"reason":"upgrade","settled":true}}`
	go io.WriteString(r.stdin, big+"\n")
	h.gets(big)
	h.send(farewell)
	h.conn.Close()
	h = <-r.hubs
	h.conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	h.rejoin()
	h.send(farewell)
	h.conn.Close() // most of the call is unread
	h = <-r.hubs
	h.rejoin()
	h.gets(big)
	r.gets(toolsNew)
}

func TestNoHubToBeHad(t *testing.T) {
	r := newRig(t)
	h := r.begin()
	h.conn.Close()
	r.fail <- errors.New("the data directory is read-only; pass --data-dir")
	if err := <-r.done; err == nil || !strings.Contains(err.Error(), "--data-dir") {
		t.Errorf("the bridge ended with %v", err)
	}
}
