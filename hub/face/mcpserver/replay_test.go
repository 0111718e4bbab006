package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/call"
	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/lists"
	"tabhub/spec"
)

// stream opens the stream of GET, or goes on with the one of an event.
func (c *web) stream(lastID string) (e *events, leave func()) {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.t.Context())
	e = readEvents(c.t, c.doContext(ctx, "GET", "/mcp", "", "Accept", "text/event-stream", "Last-Event-ID", lastID))
	return e, func() {
		cancel()
		synctest.Wait()
	}
}

const (
	toolsChanged   = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	promptsChanged = `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`
)

// A client that resumes its stream gets what it has missed, and only that. With an id that
// is not of this stream, or of another session's, it has a stream of its own.
func TestChangesAreReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		c := inBubble(t, New(h, Options{}))
		c.initialize("2025-06-18")
		e, leave := c.stream("")
		h.change(lists.Change{Tools: true})
		e.want(toolsChanged)
		first := e.id
		h.change(lists.Change{Prompts: true})
		e.want(promptsChanged)
		leave()
		h.change(lists.Change{Tools: true})

		e, leave = c.stream(first)
		e.want(promptsChanged)
		e.want(toolsChanged)
		last := e.id
		e2, leave2 := c.stream(last) // before the hub knows that the other one is broken
		e.wantEnd()
		h.change(lists.Change{Prompts: true})
		e2.want(promptsChanged)
		leave()
		leave2()

		name, _, _ := strings.Cut(first, "-")
		for _, id := range []string{"x", name, name + "-", name + "--1", name + "-99", "x-1"} {
			e, leave := c.stream(id)
			h.change(lists.Change{Tools: true})
			e.want(toolsChanged)
			if strings.HasPrefix(e.id, name) {
				t.Errorf("%s goes on with %s", id, e.id)
			}
			leave()
		}
		c.initialize("2025-06-18")
		h.change(lists.Change{Tools: true})
		e, leave = c.stream(first)
		e.want(toolsChanged)
		if strings.HasPrefix(e.id, name) {
			t.Error("it is another session's stream")
		}
		leave()
	})
}

// A client that begins a new stream after a broken one is notified of all that it may have missed.
func TestNotificationsAreRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		c := inBubble(t, New(h, Options{WriteLimit: time.Second}))
		c.initialize("2025-11-25")
		e, _ := c.stream("")
		e.next() // and reads no further
		h.change(lists.Change{Tools: true})
		synctest.Wait()
		time.Sleep(2 * time.Second)
		e, _ = c.stream("")
		for _, what := range []string{"tools", "resources", "prompts"} {
			e.want(notice(what+"/list_changed", ""))
		}
	})
}

// A call outlives its connection: the connection that resumes its stream gets the answer, until the
// session ends.
func TestCallsAreReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		answer := make(chan string)
		h.tools["work"] = func(ctx context.Context, c call.Request) (json.RawMessage, error) {
			c.By.Progress(spec.Progress{Progress: 1})
			select {
			case r := <-answer:
				return json.RawMessage(r), nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":7}}}`
		s := New(h, Options{})
		c := inBubble(t, s)
		begin := func() (*events, func()) {
			ctx, cancel := context.WithCancel(t.Context())
			e := readEvents(t, c.doContext(ctx, "POST", "/mcp", call))
			e.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}`)
			return e, func() {
				cancel()
				synctest.Wait()
			}
		}
		for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
			c.initialize(version)
			e, leave := begin()
			leave()
			answer <- `{"content":[]}`
			synctest.Wait()
			if resp := c.do("GET", "/mcp", "", "Accept", "text/event-stream", "Last-Event-ID", e.id, "Authorization", "bob"); resp.StatusCode != http.StatusNotFound {
				t.Errorf("another's: %s", resp.Status)
			}
			e, _ = c.stream(e.id)
			e.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
			e.wantEnd()
			if resp := c.do("GET", "/mcp", "", "Accept", "text/event-stream", "Last-Event-ID", e.id); resp.StatusCode != http.StatusNoContent {
				t.Errorf("after the answer: %s", resp.Status)
			}

			e, leave = begin()
			leave()
			e, _ = c.stream(e.id)
			c.do("DELETE", "/mcp", "")
			e.wantEnd()
			if resp := c.do("GET", "/mcp", "", "Accept", "text/event-stream", "Last-Event-ID", e.id); resp.StatusCode != http.StatusNotFound {
				t.Errorf("after the session: %s", resp.Status)
			}
		}
		if len(s.replays.of) != 0 || s.replays.bytes != 0 {
			t.Errorf("of sessions that have ended, %d are kept, with %d bytes", len(s.replays.of), s.replays.bytes)
		}
	})
}

// A response to a call that takes long is an event stream after 2 s, with an id first. Older
// clients would fail on an event without data.
func TestLongCallsCanBeGoneOnWith(t *testing.T) {
	for version, want := range map[string]time.Duration{"2025-06-18": 15 * time.Second, "2025-11-25": 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			h := newScripted()
			h.tools["slow"] = func(context.Context, call.Request) (json.RawMessage, error) {
				time.Sleep(20 * time.Second)
				return json.RawMessage(`{"content":[]}`), nil
			}
			c := inBubble(t, New(h, Options{}))
			c.initialize(version)
			begin := time.Now()
			e := readEvents(t, c.do("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`))
			name, _, err := e.next()
			if took := time.Since(begin); err != nil || took != want || name == "id" != (version == "2025-11-25") {
				t.Errorf("%s: %v %q after %v", version, err, name, took)
			}
			e.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
			e.wantEnd()
		})
	}
}

// What is stored is bounded for each session, and for all together: the client with the most gives way. A
// client that has missed something that is not stored any more learns so.
func TestReplaysAreBounded(t *testing.T) {
	s := New(newScripted(), Options{})
	defer s.Close(context.Background())
	open := func() (*eventLog, *eventWriter) {
		ses := s.newWebSession(s.methods.NewSession(s.ctx, methods.Identity{}))
		e := &eventWriter{}
		l, _ := s.replays.begin(ses, e, true)
		return l, e
	}
	add := func(l *eventLog, e *eventWriter, n, size int) {
		for range n {
			l.add(e, []jsonrpc.Frame{{Head: make([]byte, size)}})
			e.last = l.last
		}
	}
	l, e := open()
	add(l, e, 1000, 10)
	if len(l.events) != maxEvents || l.of.bytes != maxEvents*10 {
		t.Errorf("%d events of %d bytes", len(l.events), l.of.bytes)
	}
	if l.take(&eventWriter{}, 1000-maxEvents-1) || !l.take(&eventWriter{}, 1000-maxEvents) {
		t.Error("it is not known from where on events are kept")
	}
	l, e = open()
	add(l, e, 2, 2*maxEventBytes)
	if len(l.events) != 1 {
		t.Errorf("%d events are kept of a session with large ones: the newest is to stay", len(l.events))
	}
	small, e := open()
	add(small, e, 5, 10)
	for range 10 {
		l, e = open()
		add(l, e, 4, maxEventBytes/4)
	}
	if s.replays.bytes > maxAllBytes || len(small.events) != 5 || len(l.events) == 0 {
		t.Errorf("%d bytes; a session with little has %d of its 5 events, the latest %d of 4", s.replays.bytes, len(small.events), len(l.events))
	}
	ses := s.newWebSession(s.methods.NewSession(s.ctx, methods.Identity{}))
	found, _ := s.replays.begin(ses, nil, true) // and forgotten before it is gone on with
	for range 2 * maxEventLogs {
		l, _ := s.replays.begin(ses, e, false)
		add(l, e, 1, 10)
		l.leave(e)
		l.end()
	}
	if of := s.replays.of[ses]; len(of.logs) != maxEventLogs || of.events != maxEventLogs {
		t.Errorf("%d streams of a session are kept, with %d events", len(of.logs), of.events)
	}
	found.take(e, 0)
	add(found, e, 2*maxEvents, 10)
}
