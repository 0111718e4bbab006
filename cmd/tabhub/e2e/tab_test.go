package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport/wsserver/wstest"
)

// tab is the far end of the tab protocol, as a page plays it: it offers its tools,
// runs calls side by side, and comes back when the connection is lost.
type tab struct {
	t      testing.TB
	place  *place
	origin string
	key    string
	token  string // that it shows, "" for none
	tools  string // what it offers, a JSON array
	plain  bool   // it has no session: with its connection it forgets its calls
	// run runs a tool and returns the payload of the answer. It is called by several
	// goroutines.
	run func(tool string, args json.RawMessage) string

	ctx    context.Context
	leave  context.CancelFunc
	ended  sync.WaitGroup
	joined chan struct{}       // gets a value whenever the hub has taken the tools
	lost   chan spec.CloseCode // gets the code of each connection that ended, 0 for none
	others chan []byte         // frames that the tab itself does not understand
	rejoin chan struct{}       // a lost connection is replaced once this is closed; nil: at once

	mu      sync.Mutex
	peer    *wstest.Peer // the connection of the moment
	reloads int
}

// tabOrigin is where the tabs of these tests are, if they do not say otherwise.
const tabOrigin = "http://shop.localhost:8000"

// open opens a tab and waits until the hub has its tools.
func (p *place) open(x *tab) *tab {
	p.t.Helper()
	x.t, x.place = p.t, p
	if x.origin == "" {
		x.origin = tabOrigin
	}
	x.joined = make(chan struct{}, 1000)
	x.lost = make(chan spec.CloseCode, 1000)
	x.others = make(chan []byte, 1000)
	x.ctx, x.leave = context.WithCancel(context.Background())
	x.ended.Go(x.live)
	p.t.Cleanup(x.close)
	x.awaitJoin()
	return x
}

func (x *tab) awaitJoin() {
	x.t.Helper()
	select {
	case <-x.joined:
	case <-time.After(timeout):
		x.t.Fatal("the hub did not take the tab's tools")
	}
}

// close closes the tab, without a word as a page does.
func (x *tab) close() {
	x.leave()
	x.ended.Wait()
}

// live connects again and again.
func (x *tab) live() {
	const pause = 50 * time.Millisecond // real pages wait longer
	for served := false; x.ctx.Err() == nil; {
		if served && x.rejoin != nil {
			select {
			case <-x.rejoin:
			case <-x.ctx.Done():
				return
			}
		}
		ctx, cancel := context.WithTimeout(x.ctx, timeout)
		peer, _, err := wstest.Connect(ctx, "ws://"+x.place.tabsAt()+"/tabs", http.Header{"Origin": {x.origin}}, spec.Subprotocol)
		cancel()
		if err == nil {
			x.serve(peer)
			served = true
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-x.ctx.Done():
			timer.Stop()
		}
	}
}

// serve lives on one connection.
func (x *tab) serve(peer *wstest.Peer) {
	stop := context.AfterFunc(x.ctx, func() { peer.Close() })
	defer stop()
	x.mu.Lock()
	x.peer = peer
	session := fmt.Sprintf("s-%s-%d", x.key, x.reloads)
	if x.plain {
		session = ""
	}
	x.mu.Unlock()
	shown := ""
	if x.token != "" {
		shown = fmt.Sprintf(`,"token":%q`, x.token)
	}
	var calls sync.WaitGroup
	defer calls.Wait()
	defer peer.Close()
	send := func(format string, args ...any) { peer.Send(fmt.Appendf(nil, format, args...)) }
	send(`{"jsonrpc":"2.0","id":"hello","method":"browser/hello","params":{"protocolVersion":"tabhub.v1","tabKey":%q,"session":%q%s}}`, x.key, session, shown)
	send(`{"jsonrpc":"2.0","id":"tools","method":"browser/registerTools","params":{"tools":%s,"tabUrl":%q,"title":"Tab %s"}}`, x.tools, x.origin+"/"+x.key, x.key)
	for {
		frame, err := peer.Receive()
		if err != nil {
			x.lost <- wstest.CloseCode(err)
			return
		}
		id, _ := rawjson.String(rawjson.Get(frame, "id"))
		method, _ := rawjson.String(rawjson.Get(frame, "method"))
		switch {
		case method == spec.MethodPing:
			send(`{"jsonrpc":"2.0","id":%q,"result":{}}`, id)
		case method == spec.MethodExecuteTool:
			calls.Go(func() {
				tool, _ := rawjson.String(rawjson.Get(frame, "params", "toolName"))
				payload := x.run(tool, rawjson.Get(frame, "params", "args"))
				send(`{"jsonrpc":"2.0","id":%q,"result":{"success":true,"payload":%s}}`, id, payload)
			})
		case id == "tools":
			if a := answerOf(frame); a.err != nil || !strings.Contains(string(a.result), `"rejected":[]`) {
				x.t.Errorf("the hub did not take the tools: %s %s", a.err, a.result)
			}
			x.joined <- struct{}{}
		case id == "hello":
			if a := answerOf(frame); a.err != nil {
				x.t.Errorf("the hub refused the tab: %s", a.err)
			}
		default:
			x.others <- frame
		}
	}
}

// send sends a frame beside what the tab says by itself. A connection that does not
// take it is about to be lost.
func (x *tab) send(frame string) { _ = x.connection().Send([]byte(frame)) }

// connection is the connection of the moment.
func (x *tab) connection() *wstest.Peer {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.peer
}

// ask sends a frame whose id is id, a JSON string, and waits for the answer to it.
func (x *tab) ask(id, frame string) answer {
	x.t.Helper()
	x.send(frame)
	late := time.After(timeout)
	for {
		select {
		case frame := <-x.others:
			if string(rawjson.Get(frame, "id")) == id {
				return answerOf(frame)
			}
		case <-late:
			x.t.Fatalf("the hub does not answer %.300s", frame)
		}
	}
}

// awaitLoss waits for the end of a connection and returns its close code.
func (x *tab) awaitLoss() spec.CloseCode {
	x.t.Helper()
	select {
	case code := <-x.lost:
		return code
	case <-time.After(timeout):
		x.t.Fatal("the hub has not closed the tab's connection")
		return 0
	}
}

// echo is a tool's result that contains the arguments.
func echo(args json.RawMessage) string {
	return fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, rawjson.AppendString(nil, string(args)))
}

// counter counts the runs of calls by their argument n.
type counter struct {
	mu   sync.Mutex
	runs map[string]int // by tool and n
}

func newCounter() *counter { return &counter{runs: make(map[string]int)} }

// add counts a run and returns how many there were in all.
func (c *counter) add(tool string, args json.RawMessage) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs[tool+" "+string(rawjson.Get(args, "n"))]++
	return len(c.runs)
}

func (c *counter) of(tool string, n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs[fmt.Sprint(tool, " ", n)]
}
