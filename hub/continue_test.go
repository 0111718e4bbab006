package hub

import (
	"context"
	"errors"
	"strings"
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

// goingOn is a call that a page has left to the next document of its tab.
type goingOn struct {
	*fixture
	join func(origin, session string) tabtest.End
	page tabtest.End // the first document
	r    tabtest.Request
	call *pendingCall
	stop context.CancelCauseFunc // what the client does
}

// resume has a document ask for the call, and be refused for that reason if it is not "".
func (w *goingOn) resume(e tabtest.End, refused string) {
	w.t.Helper()
	got, err := e.Ask(0, &spec.ResumeCall{RequestID: w.r.ID})
	if refused == "" && (err != nil || string(got) != `{"toolName":"pay","args":{}}`) || refused != "" && (err == nil || !strings.Contains(err.Error(), refused)) {
		w.t.Errorf("the call was resumed with %s %v, want an error %q", got, err, refused)
	}
}

// Whatever becomes of a page that leaves a call to the next document of its tab, its client gets
// one result, and what is known of it.
func TestCallThatGoesOnInTheNextDocument(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, w *goingOn){
		"it is answered there": func(t *testing.T, w *goingOn) {
			w.page.Cut()
			time.Sleep(50 * time.Second)
			next := w.join("https://e.com", "two")
			w.resume(next, "")
			time.Sleep(20 * time.Second)
			answer(next, w.r, "ordered")
			w.call.want(t, "ordered")
			answer(next, w.r, "ordered twice")
			w.resume(next, "nobody waits for this call any more")
		},
		"without a break": func(t *testing.T, w *goingOn) {
			next := w.join("https://e.com", "two")
			w.resume(next, "")
			time.Sleep(20 * time.Second)
			answer(next, w.r, "ordered")
			w.call.want(t, "ordered")
		},
		"nobody goes on with it": func(t *testing.T, w *goingOn) {
			w.page.Cut()
			w.join("https://e.com", "two")
			start := time.Now()
			w.call.want(t, "TAB_CLOSED")
			w.call.want(t, "the tab's next document, which has not resumed it within 1m0s; it may have taken effect")
			w.call.want(t, "The page is now at https://e.com/two")
			if took := time.Since(start); took != spec.ContinueWait {
				t.Errorf("it took %v", took)
			}
		},
		"a document of another origin is another tab": func(t *testing.T, w *goingOn) {
			w.page.Cut()
			other := w.join("https://evil.example", "two")
			w.resume(other, "nobody waits for this call any more")
			answer(other, w.r, "forged")
			w.call.want(t, "has not resumed it")
		},
		"its client cancels it before the next document is there": func(t *testing.T, w *goingOn) {
			w.page.Cut()
			synctest.Wait()
			w.stop(errors.New("the client has cancelled"))
			w.call.want(t, "the client has cancelled")
			w.resume(w.join("https://e.com", "two"), "nobody waits for this call any more")
		},
		"and when the hub has given the tab up": func(t *testing.T, w *goingOn) {
			w.page.Cut()
			time.Sleep(2 * spec.TabGrace)
			w.stop(errors.New("the client has cancelled"))
			w.call.want(t, "the client has cancelled")
			w.resume(w.join("https://e.com", "two"), "nobody waits for this call any more")
		},
		"and afterwards": func(t *testing.T, w *goingOn) {
			w.page.Cut()
			next := w.join("https://e.com", "two")
			w.resume(next, "")
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
