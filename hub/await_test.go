package hub

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/core"
	"tabhub/hub/state"
	"tabhub/spec"
)

func TestAwaitPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		named := func(id spec.BrowserID) func(state.BrowserInfo) bool {
			return func(b state.BrowserInfo) bool { return b.ID == id }
		}
		time.AfterFunc(time.Second, func() { w.page("https://e.com", "a") })
		time.AfterFunc(2*time.Second, func() { w.chrome("b1", "s") })
		start := time.Now()
		b, err := w.hub.AwaitPeer(t.Context(), named("b1"))
		if err != nil || b.ID != "b1" || time.Since(start) != 2*time.Second {
			t.Errorf("%+v, %v after %v", b, err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.hub.AwaitPeer(ctx, named("b2")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a browser that never comes: %v", err)
		}
		time.AfterFunc(time.Second, func() { w.hub.Close(context.Background()) })
		if _, err := w.hub.AwaitPeer(t.Context(), named("b2")); err == nil {
			t.Error("waiting outlived the hub")
		}
	})
}

// A browser that has ended must not keep its tools listed for the grace of one that
// may come back.
func TestForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		c := w.chrome("b1", "s")
		w.register(c, 7, tools("https://e.com/", "x"))
		w.wantNames("e_com_x")
		w.hub.Core.Forget("browser:b1", spec.CloseGoingAway, "gone")
		w.hub.Core.Forget("browser:b1", spec.CloseGoingAway, "gone")
		w.wantNames("")
		if code := c.Closed(); code != spec.CloseGoingAway {
			t.Errorf("closed with %d", code)
		}
		w.register(w.chrome("b1", "s2"), 1, tools("https://e.com/", "x"))
		w.wantNames("e_com_x")
	})
}

// A browser tells that a tab is closed before it answers the request to close it.
func TestClosingATab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		conn := chromeConn("b1", "s", "")
		conn.Hello.Capabilities = []spec.Capability{spec.CapCloseTab, spec.CapText}
		c := w.dial(conn)
		w.register(c, 7, tools("https://e.com/", "x"))
		to := spec.TabAddr{Peer: "browser:b1", Tab: 7}
		ask := func(req spec.Request) error {
			done := make(chan error, 1)
			go func() {
				_, err := w.hub.Calls.Control(t.Context(), tester, to, req)
				done <- err
			}()
			c.Next()
			c.Notify(7, &spec.TabClosed{})
			return <-done
		}
		if err := ask(&spec.CloseTab{}); err != nil {
			t.Errorf("closing: %v", err)
		}
		w.register(c, 7, tools("https://e.com/", "x"))
		if f, ok := errors.AsType[*core.Failure](ask(&spec.Text{})); !ok || f.Code != spec.FailTabClosed {
			t.Errorf("reading what is closed meanwhile: %v", f)
		}
	})
}
