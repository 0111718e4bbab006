package hub

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/spec"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest"
	"tabhub/tabtransport/wsserver"
	"tabhub/tabtransport/wsserver/wstest"
)

// Whatever becomes of a page that leaves a call to the next document of its tab, its client gets
// one result, and what is known of it.
func TestCallThatGoesOnInTheNextDocument(t *testing.T) {
	type goingOn struct {
		*fixture
		join func(origin, session string) tabtest.End
		page tabtest.End // the first document
		r    tabtest.Request
		call *call
		stop context.CancelCauseFunc // what the client does
	}
	for name, test := range map[string]func(t *testing.T, w *goingOn){
		"it is answered there": func(t *testing.T, w *goingOn) {
			w.page.Cut()
			time.Sleep(50 * time.Second)
			next := w.join("https://e.com", "two")
			next.Progress(w.r, 2)
			time.Sleep(20 * time.Second)
			answer(next, w.r, "ordered")
			w.call.want(t, "ordered")
			answer(next, w.r, "ordered twice")
		},
		"without a break": func(t *testing.T, w *goingOn) {
			next := w.join("https://e.com", "two")
			next.Progress(w.r, 2)
			time.Sleep(20 * time.Second)
			answer(next, w.r, "ordered")
			w.call.want(t, "ordered")
		},
		"nobody goes on with it": func(t *testing.T, w *goingOn) {
			w.page.Cut()
			w.join("https://e.com", "two")
			start := time.Now()
			w.call.want(t, "TAB_CLOSED")
			w.call.want(t, "the tab's next document, which has not taken it up within 1m0s; it may have taken effect")
			w.call.want(t, "The page is now at https://e.com/two")
			if took := time.Since(start); took != spec.ContinueWait {
				t.Errorf("it took %v", took)
			}
		},
		"a document of another origin is another tab": func(t *testing.T, w *goingOn) {
			w.page.Cut()
			other := w.join("https://evil.example", "two")
			other.Progress(w.r, 2)
			answer(other, w.r, "forged")
			if id := other.Cancelled(); id != w.r.ID {
				t.Errorf("%s was cancelled", id)
			}
			w.call.want(t, "has not taken it up")
		},
		"its client cancels it before the next document is there": func(t *testing.T, w *goingOn) {
			w.page.Cut()
			synctest.Wait()
			w.stop(errors.New("the client has cancelled"))
			w.call.want(t, "the client has cancelled")
			if id := w.join("https://e.com", "two").Cancelled(); id != w.r.ID {
				t.Errorf("%s was cancelled", id)
			}
		},
		"and when the hub has given the tab up": func(t *testing.T, w *goingOn) {
			w.page.Cut()
			time.Sleep(2 * spec.TabGrace)
			w.stop(errors.New("the client has cancelled"))
			w.call.want(t, "the client has cancelled")
			next := w.join("https://e.com", "two")
			next.Progress(w.r, 2)
			if id := next.Cancelled(); id != w.r.ID {
				t.Errorf("%s was cancelled", id)
			}
		},
		"and afterwards": func(t *testing.T, w *goingOn) {
			w.page.Cut()
			next := w.join("https://e.com", "two")
			next.Progress(w.r, 2)
			w.stop(errors.New("the client has cancelled"))
			w.call.want(t, "the client has cancelled")
			if id := next.Cancelled(); id != w.r.ID {
				t.Errorf("%s was cancelled", id)
			}
		},
		"the hub does not wait for it when it ends": func(t *testing.T, w *goingOn) {
			w.page.Cut()
			time.Sleep(2 * spec.TabGrace)
			start := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			w.hub.Close(ctx)
			w.call.want(t, "the hub was shut down while the call was under way")
			if took := time.Since(start); took != time.Second {
				t.Errorf("it took %v to close", took)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := wsserver.New(wsserver.Options{})
				t.Cleanup(func() { srv.Close(context.Background()) })
				w := &goingOn{fixture: &fixture{t: t, store: &storagetest.Memory{}, peers: srv.Transport(spec.LocalUser)}}
				w.open(Options{})
				dial := wstest.Serve(t, srv.Tabs()).TabDial("/")
				w.join = func(origin, session string) tabtest.End {
					t.Helper()
					e, err := dial(t, tabtransport.Conn{Origin: origin, Hello: &spec.Hello{
						ProtocolVersion: spec.ProtocolVersion, TabKey: "k", Session: session, Capabilities: []spec.Capability{spec.CapResume},
					}})
					if err != nil {
						t.Fatal(err)
					}
					w.register(e, 0, tools(origin+"/"+session, "pay"))
					return e
				}
				w.page = w.join("https://e.com", "one")
				var ctx context.Context
				ctx, w.stop = context.WithCancelCause(t.Context())
				defer w.stop(nil)
				w.call = w.fixture.call(ctx, "e_com_pay")
				w.r = w.page.Next()
				w.page.Continues(w.r)
				synctest.Wait()
				test(t, w)
				if n := w.peers.InFlight(); n != 0 {
					t.Errorf("%d calls are left", n)
				}
			})
		})
	}
}
