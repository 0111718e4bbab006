package hub

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/call"
	"tabhub/hub/lists"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// Two hubs that both believe to serve a user would undo each other's work, and run one
// call twice: the one that came first ends as soon as the store tells it.
func TestHubThatIsSuperseded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		w := newFixture(t, Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
		first := w.hub
		p := w.page("https://e.com", "a")
		w.register(p, 0, tools("https://e.com/", "x"))
		under := w.call(t.Context(), "e_com_x")
		p.Next()
		time.Sleep(time.Second)
		var notices atomic.Int32
		defer first.Lists.Watch(func(lists.Change) { notices.Add(1) })()

		w.start(Options{})
		select {
		case <-first.Core.Done():
			t.Fatal("it knows before the store has told it")
		default:
		}
		p.Notify(0, tools("https://e.com/", "x", "y"))
		synctest.Wait()
		select {
		case <-first.Core.Done():
		default:
			t.Fatal("it goes on")
		}
		if err := first.Core.Err(); !errors.Is(err, storage.ErrStaleEpoch) {
			t.Errorf("it ended with %v", err)
		}
		under.want(t, "NOT_CONNECTED")
		under.want(t, "another hub has taken over")
		if code := p.Closed(); code != spec.CloseGoingAway {
			t.Errorf("closed with %d", code)
		}
		result, err := first.Calls.Call(t.Context(), call.Request{By: tester, Name: "website_tool_e_com_x"})
		if err != nil || !strings.Contains(string(result), "another hub serves this user now") {
			t.Errorf("a new call: %s, %v", result, err)
		}
		if _, err := first.Core.Handler().Connect(tabtransport.Conn{Origin: "https://e.com"}); err == nil {
			t.Error("it takes connections")
		}
		before := first.Lists.List(lists.ListTools)
		first.Core.Handler().Disconnected("nobody", nil)
		time.Sleep(time.Minute)
		if first.Lists.List(lists.ListTools) != before || notices.Load() != 0 {
			t.Errorf("it has gone on: %d notices", notices.Load())
		}
		if n := strings.Count(log.String(), "level="); n != 1 {
			t.Errorf("it has said so %d times:\n%s", n, log.String())
		}
		if err := first.Close(t.Context()); err != nil {
			t.Error(err)
		}

		// The other one has what was stored before, and its tab comes back to it.
		p = w.page("https://e.com", "a")
		w.register(p, 0, tools("https://e.com/", "x"))
		w.wantNames("e_com_x")
		if w.hub.Core.Err() != nil {
			t.Errorf("the other ended, too: %v", w.hub.Core.Err())
		}
	})
}

// A hub whose tabs say nothing learns it when it has made a call, which is answered:
// it was made.
func TestHubThatIsSupersededUnderACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		first := w.hub
		p := w.page("https://e.com", "a")
		w.register(p, 0, tools("", "x"))
		c := w.call(t.Context(), "e_com_x")
		r := p.Next()
		w.start(Options{})
		answer(p, r, "done")
		c.want(t, "done")
		<-first.Core.Done()
		if err := first.Core.Err(); !errors.Is(err, storage.ErrStaleEpoch) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// Done is how an owner learns that a hub was closed, too.
func TestDoneOfAClosedHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		if w.hub.Core.Err() != nil {
			t.Error("it ends before it begins")
		}
		if err := w.hub.Close(t.Context()); err != nil {
			t.Error(err)
		}
		<-w.hub.Core.Done()
		if err := w.hub.Core.Err(); err == nil || errors.Is(err, storage.ErrStaleEpoch) {
			t.Errorf("closed with %v", err)
		}
	})
}
