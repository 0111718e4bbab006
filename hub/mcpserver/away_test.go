package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub"
)

// listener is a client of 2026-07-28 that listens over HTTP.
type listener struct {
	*web
	name string
}

// listen opens a stream, and returns what ends its connection.
func (l listener) listen(want string) (e *events, leave context.CancelFunc) {
	l.t.Helper()
	ctx, leave := context.WithCancel(l.t.Context())
	body := `{"jsonrpc":"2.0","id":"L","method":"subscriptions/listen","params":{"notifications":{` + want + `},` + strings.Replace(modernMeta, `"name":"new"`, `"name":"`+l.name+`"`, 1) + `}}`
	e = readEvents(l.t, l.doContext(ctx, "POST", "/mcp", body, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen"))
	if _, got, err := e.next(); err != nil || !strings.Contains(got, "acknowledged") {
		l.t.Fatalf("%s, %v", got, err)
	}
	return e, leave
}

const (
	listenTag = `"_meta":{"io.modelcontextprotocol/subscriptionId":"L"}`
	wantX     = `"resourceSubscriptions":["tabhub://a/x"]`
	wantTools = `"toolsListChanged":true`
)

var (
	updatedX     = notice("resources/updated", listenTag+`,"uri":"tabhub://a/x"`)
	toolsChanged = notice("tools/list_changed", listenTag)
	changeX      = hub.Change{Updated: []string{"tabhub://a/x"}}
)

// wantQuiet checks that a listener has not been told anything.
func (e *events) wantQuiet() {
	e.t.Helper()
	begin := time.Now()
	if name, got, err := e.next(); name != ":" || err != nil {
		e.t.Errorf("after %v: %q %s %v", time.Since(begin), name, got, err)
	}
}

// A client that lost its stream learns at the next one what has changed between the two, of
// what it wants, and another client learns nothing of it.
func TestListenerLearnsWhatItMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		s := New(h, Options{})
		a := listener{inBubble(t, s), "a"}
		e, leave := a.listen(wantX + "," + wantTools)
		e.wantQuiet()
		leave()
		synctest.Wait()
		if n, _ := h.left(); n != 1 {
			t.Errorf("%d subscriptions for a client that is away, want 1", n)
		}
		h.change(changeX)
		h.change(changeX)
		h.change(hub.Change{Tools: true, Prompts: true})
		other, otherLeaves := listener{a.web, "b"}.listen(wantX)
		other.wantQuiet()
		otherLeaves()
		e, leave = a.listen(wantX)
		e.want(updatedX)
		if n, _ := h.left(); n != 2 { // its own, and that of b, who is away
			t.Errorf("%d subscriptions", n)
		}
		h.change(changeX)
		e.want(updatedX)
		e.wantQuiet()
		e.wantQuiet() // what it was told last has arrived by now
		e.wantQuiet()
		leave()
		e, leave = a.listen(wantX + "," + wantTools)
		e.want(toolsChanged) // of the first time
		e.wantQuiet()
		leave()
		time.Sleep(awayLimit + time.Minute)
		if n, stored := h.left(); n != 0 || stored != 0 {
			t.Errorf("%d subscriptions and %d documents are left", n, stored)
		}
		h.change(changeX)
		e, _ = a.listen(wantX)
		e.wantQuiet()
	})
}

// What was told just before a connection broke may not have arrived.
func TestListenerIsToldAgainWhatMayBeLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		a := listener{inBubble(t, New(h, Options{})), "a"}
		e, leave := a.listen(wantX)
		h.change(changeX)
		e.want(updatedX)
		leave()
		synctest.Wait()
		e, _ = a.listen(wantX)
		e.want(updatedX)
		e.wantQuiet()
	})
}

// After a hub was killed nobody knows what has changed.
func TestListenerOfAnEarlierHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		first := listener{inBubble(t, New(h, Options{})), "a"}
		first.listen(wantX + "," + wantTools)
		next := New(h, Options{})
		stranger, _ := listener{inBubble(t, next), "b"}.listen(wantX)
		stranger.wantQuiet()
		e, _ := listener{inBubble(t, next), "a"}.listen(wantX)
		e.want(updatedX)
		e.wantQuiet()
	})
}

// However many agents come and go, a bounded number of them is remembered.
func TestFollowersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		s := New(h, Options{})
		c := inBubble(t, s)
		for i := range 3 * maxFollowers {
			_, leave := listener{c, fmt.Sprint("agent ", i)}.listen(wantX)
			leave()
			synctest.Wait()
		}
		if follows, stored := h.left(); len(s.followers.byKey) != maxFollowers || follows != maxFollowers || stored != maxFollowers {
			t.Errorf("%d are remembered, %d subscriptions, %d documents", len(s.followers.byKey), follows, stored)
		}
		// Who has many makes room for others, and nobody else does.
		c.header.Set("Authorization", "alice cursor")
		once := func(agent string) {
			_, leave := listener{c, agent}.listen(wantX)
			leave()
			synctest.Wait()
		}
		once("mine")
		c.header.Del("Authorization")
		for i := range maxFollowers {
			once(fmt.Sprint("another ", i))
		}
		of := func(client string) (n int) {
			for _, f := range s.followers.byKey {
				if isOf(f.whose, client) {
					n++
				}
			}
			return n
		}
		if of("cursor") != 1 || len(s.followers.byKey) != maxFollowers {
			t.Errorf("of another client %d are remembered", of("cursor"))
		}
		// With its credential goes what is kept of a client, also for the next Server.
		next := New(h, Options{})
		for _, s := range []*Server{s, next} {
			s.ForgetClient("cursor")
		}
		if _, stored := h.left(); of("cursor") != 0 || stored != maxFollowers-1 || len(next.followers.byKey) != maxFollowers-1 {
			t.Errorf("of a client whose credential is gone %d are remembered, %d documents, %d by the next", of("cursor"), stored, len(next.followers.byKey))
		}
	})
}
