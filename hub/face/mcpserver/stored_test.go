package mcpserver

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/lists"
)

const (
	ask    = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	pong   = `{"jsonrpc":"2.0","id":1,"result":{}}`
	follow = `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"tabhub://a/x"}}`
)

// notice is the notification of a change.
func notice(what, params string) string {
	if params != "" {
		params = `,"params":{` + params + `}`
	}
	return `{"jsonrpc":"2.0","method":"notifications/` + what + `"` + params + `}`
}

// wantAll checks that a client is notified of all lists.
func (e *events) wantAll() {
	e.t.Helper()
	for _, list := range []string{"tools", "resources", "prompts"} {
		e.want(notice(list+"/list_changed", ""))
	}
}

// on has the client of c go on with another Server, as when the hub was killed and started
// again: the first one is left as it is.
func (c *web) on(s *Server) *web {
	next := overTCP(c.t, s)
	next.header = c.header.Clone()
	return next
}

// A client must not notice that the hub was killed, but by notifications of what it may have missed.
func TestSessionGoesOnWithTheNextServer(t *testing.T) {
	h := newScripted()
	first := overTCP(t, New(h, Options{}))
	first.header.Set("Authorization", "alice")
	first.initialize("2025-06-18")
	if status, body := first.post(follow); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	next := New(h, Options{})
	c := first.on(next)
	for name, header := range map[string][2]string{
		"another's": {"Authorization", "bob"}, "another client's": {"Authorization", "alice cursor"},
		"of nobody": {"Authorization", ""}, "made up": {"Mcp-Session-Id", "QWERTYUIOPASDFGHJKLZXCVBNM"},
	} {
		if status, body := c.post(ask, header[:]...); status != 404 {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if resp := c.do("DELETE", "/mcp", "", "Authorization", "bob"); resp.StatusCode != 404 {
		t.Errorf("another's DELETE: %s", resp.Status)
	}
	if n := len(next.Sessions()); n != 0 {
		t.Errorf("%d sessions before it was asked for", n)
	}
	get := readEvents(t, c.do("GET", "/mcp", "", "Accept", "text/event-stream"))
	get.wantAll()
	get.want(notice("resources/updated", `"uri":"tabhub://a/x"`))
	h.change(lists.Change{Updated: []string{"tabhub://a/x"}})
	get.want(notice("resources/updated", `"uri":"tabhub://a/x"`))
	if status, body := c.post(ask); status != 200 || body != pong {
		t.Errorf("%d %s", status, body)
	}
	if all := next.Sessions(); len(all) != 1 || all[0].Said != "test" || all[0].Version != "1" || all[0].Protocol != "2025-06-18" || all[0].Client != "test" {
		t.Errorf("%+v", all)
	}
	// It ends for good with the client's word.
	if resp := c.do("DELETE", "/mcp", ""); resp.StatusCode != 204 {
		t.Errorf("DELETE: %s", resp.Status)
	}
	get.wantEnd()
	if status, _ := c.on(New(h, Options{})).post(ask); status != 404 {
		t.Errorf("after DELETE: %d", status)
	}
	if _, n := h.left(); n != 0 {
		t.Errorf("%d documents are left", n)
	}
}

// A resource that a client follows may be missing when the hub is back: the browser starts later.
func TestRestoredSessionFollowsWhatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		first := inBubble(t, New(h, Options{}))
		first.initialize("2025-06-18")
		first.post(follow)
		h.hide("tabhub://a/x", true)
		c := inBubble(t, New(h, Options{}))
		c.header = first.header
		get := readEvents(t, c.do("GET", "/mcp", "", "Accept", "text/event-stream"))
		get.wantAll()
		synctest.Wait()
		c.do("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`) // stores it again
		h.hide("tabhub://a/x", false)
		h.change(lists.Change{Resources: true})
		get.want(notice("resources/list_changed", ""))
		get.want(notice("resources/updated", `"uri":"tabhub://a/x"`))
		if n, _ := h.left(); n != 2 { // the first Server's and this one's
			t.Errorf("followed %d times", n)
		}
	})
}

// A client that has unsubscribed from a missing resource is not subscribed by the next Server.
func TestUnsubscribedWhileMissing(t *testing.T) {
	h := newScripted()
	c := overTCP(t, New(h, Options{}))
	c.initialize("2025-06-18")
	c.post(follow)
	h.hide("tabhub://a/x", true)
	c = c.on(New(h, Options{}))
	if docs := fmt.Sprintf("%s", h.Documents(storedKind)); !strings.Contains(docs, "tabhub://a/x") {
		t.Fatalf("stored: %s", docs)
	}
	if status, body := c.post(strings.Replace(follow, "subscribe", "unsubscribe", 1)); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	if docs := fmt.Sprintf("%s", h.Documents(storedKind)); strings.Contains(docs, "tabhub://a/x") {
		t.Errorf("stored: %s", docs)
	}
}

// An unused session ends, with and without a restart of the hub; one that is
// used, or listens, is.
func TestKeptSessionsEndWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		s := New(h, Options{IdleSession: time.Hour})
		quiet, listening := inBubble(t, s), inBubble(t, s)
		quiet.initialize("2025-06-18")
		listening.initialize("2025-06-18")
		e := readEvents(t, listening.do("GET", "/mcp", "", "Accept", "text/event-stream"))
		for begin := time.Now(); time.Since(begin) < 90*time.Minute; {
			if _, _, err := e.next(); err != nil {
				t.Fatal(err)
			}
		}
		third := inBubble(t, New(h, Options{IdleSession: time.Hour}))
		for w, want := range map[*web]int{quiet: 404, listening: 200} {
			third.header = w.header
			for what, c := range map[string]*web{"this hub": w, "the next one": third} {
				if status, _ := c.post(ask); status != want {
					t.Errorf("%s: %d, want %d", what, status, want)
				}
			}
		}
		h.change(lists.Change{Tools: true})
		e.want(notice("tools/list_changed", ""))
		if n := len(s.Sessions()); n != 1 {
			t.Errorf("%d sessions are told of changes", n)
		}
		if _, n := h.left(); n != 1 {
			t.Errorf("%d documents are left", n)
		}
	})
}

// A client that begins sessions without end pushes out its own, in memory and in the store, and
// no other client's.
func TestSessionsAreBounded(t *testing.T) {
	h := newScripted()
	const most = 20
	first := overTCP(t, New(h, Options{MaxSessions: most}))
	first.header.Set("Authorization", "alice")
	first.initialize("2025-06-18")
	next := New(h, Options{MaxSessions: most})
	flood := overTCP(t, next)
	flood.header.Set("Authorization", "mallory")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10 {
				if resp := flood.do("POST", "/mcp", initializeLine("2025-06-18")); resp.StatusCode != 200 {
					t.Errorf("initialize: %s", resp.Status)
				} else {
					resp.Body.Close()
				}
			}
		})
	}
	all.Wait()
	if _, stored := h.left(); len(next.sessions.byID)+len(next.sessions.stored) > most || stored > most {
		t.Errorf("%d sessions and %d documents, want at most %d", len(next.sessions.byID)+len(next.sessions.stored), stored, most)
	}
	if status, _ := first.on(next).post(ask); status != 200 {
		t.Errorf("the session of another client: %d", status)
	}
}

// A client that goes without DELETE, again and again, leaves few sessions and nothing of their
// calls. A session with an open stream stays.
func TestIdleSessionsOfAClient(t *testing.T) {
	h := newScripted()
	s := New(h, Options{})
	used := overTCP(t, s)
	used.initialize("2025-06-18")
	stream := used.do("GET", "/mcp", "")
	defer stream.Body.Close()
	for range maxIdleSessions + 20 {
		c := overTCP(t, s)
		c.initialize("2025-06-18")
		if status, body := c.post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`); status != 200 {
			t.Fatal(status, body)
		}
	}
	watching := len(s.Sessions())
	if n := len(s.sessions.byID); n != maxIdleSessions || watching != n {
		t.Errorf("%d sessions, %d of them watching", n, watching)
	}
	if _, stored := h.left(); stored != maxIdleSessions {
		t.Errorf("%d documents are stored", stored)
	}
	if status, _ := used.post(ask); status != 200 {
		t.Errorf("the session with a stream: %d", status)
	}
}

// A session that follows more than fits is not stored, and works as long as the hub.
func TestLargeSessionIsNotKept(t *testing.T) {
	h := newScripted()
	c := overTCP(t, New(h, Options{}))
	c.initialize("2025-06-18")
	for i := range maxStored>>10 + 1 {
		uri := fmt.Sprintf("tabhub://a/x%d/%s", i, strings.Repeat("x", 1<<10))
		if status, body := c.post(strings.Replace(follow, "tabhub://a/x", uri, 1)); status != 200 || !strings.Contains(body, `"result":{}`) {
			t.Fatalf("%d %s", status, body)
		}
	}
	if status, _ := c.post(ask); status != 200 {
		t.Errorf("it answers %d", status)
	}
	if _, n := h.left(); n != 0 {
		t.Error("it is stored")
	}
}

// The session of a client whose credential was revoked is forgotten.
func TestForgottenSession(t *testing.T) {
	h := newScripted()
	first := overTCP(t, New(h, Options{}))
	for _, who := range []string{"alice", "alice cursor"} {
		first.header.Set("Authorization", who)
		first.header.Del("Mcp-Session-Id")
		first.initialize("2025-06-18")
	}
	next := New(h, Options{})
	next.ForgetClient("cursor")
	if _, stored := h.left(); stored != 1 || len(next.sessions.stored) != 1 {
		t.Errorf("%d documents, %d sessions are kept", stored, len(next.sessions.stored))
	}
	if status, _ := first.on(next).post(ask); status != 404 {
		t.Errorf("it goes on: %d", status)
	}
}

// What a client declares is stored with its session, so it is bounded.
func TestLargeCapabilities(t *testing.T) {
	h := newScripted()
	c := overTCP(t, New(h, Options{}))
	initialize := func(n int) (int, string) {
		return c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"a","version":"1"},"capabilities":{"experimental":{"x":{"y":%q}}}}}`, strings.Repeat("z", n)))
	}
	if _, body := initialize(methods.MaxCapabilities); !strings.Contains(body, "-32602") {
		t.Errorf("%.200s", body)
	}
	if _, stored := h.left(); stored != 0 {
		t.Errorf("%d sessions are kept", stored)
	}
	if status, body := initialize(methods.MaxCapabilities - 100); status != 200 || !strings.Contains(body, "serverInfo") {
		t.Errorf("%d %.200s", status, body)
	}
}
