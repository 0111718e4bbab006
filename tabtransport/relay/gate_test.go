package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/spec"
)

// Open is a Gate that lets everything pass.
type Open struct{}

func (Open) Admit(string, json.RawMessage, bool) (InFlight, func(context.Context) (InFlight, error), error) {
	return new(pass), nil, nil
}

func (Open) Hears() error { return nil }

// pass is an InFlight.
type pass struct {
	mu        sync.Mutex
	onStop    func()
	stopped   bool
	extension string // that it was sent to
	ends      int
}

func (p *pass) OnStop(stop func()) error {
	p.mu.Lock()
	p.onStop = stop
	p.mu.Unlock()
	return p.Stopped(false)
}

func (p *pass) Sent(extension string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.extension = extension
}

func (p *pass) Stopped(sent bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopped {
		return nil
	}
	return Refused(spec.FailStopped, fmt.Sprintf("The owner has stopped this; sent: %v.", sent))
}

func (p *pass) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ends++
}

func (p *pass) stop() {
	p.mu.Lock()
	p.stopped = true
	stop := p.onStop
	p.mu.Unlock()
	stop()
}

// ended reports how the message has ended: which extension the message went to, "" for none.
func (p *pass) ended() string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ends != 1 {
		return fmt.Sprintf("%d ends", p.ends)
	}
	return p.extension
}

// owner is a Gate whose owner is asked about some methods, and answers when the test says so.
type owner struct {
	asks   string // methods that are asked about
	paused atomic.Bool

	asked  chan string // the method of each question
	answer chan error
	left   atomic.Int32 // questions that were given up

	passes chan *pass // what was let pass
}

func (o *owner) Admit(method string, params json.RawMessage, answered bool) (InFlight, func(context.Context) (InFlight, error), error) {
	switch {
	case o.paused.Load():
		return nil, nil, Refused(spec.FailPaused, "The owner has paused this.")
	case strings.Contains(o.asks, method) && !answered:
		return nil, nil, Refused(spec.FailDenied, "The owner denies "+method+".")
	case strings.Contains(o.asks, method):
		return nil, func(ctx context.Context) (InFlight, error) {
			o.asked <- method
			select {
			case err := <-o.answer:
				if err != nil {
					return nil, err
				}
				return o.pass(), nil
			case <-ctx.Done():
				o.left.Add(1)
				return nil, context.Cause(ctx)
			}
		}, nil
	}
	return o.pass(), nil, nil
}

func (o *owner) pass() *pass {
	p := new(pass)
	o.passes <- p
	return p
}

func (o *owner) Hears() error {
	if o.paused.Load() {
		return Refused(spec.FailPaused, "The owner has paused this.")
	}
	return nil
}

// gated runs f with a relay whose clients are at the gate of an owner who is asked about some
// methods.
func gated(t *testing.T, l Limits, asks string, f func(t *testing.T, r *rig, o *owner)) {
	bubble(t, l, func(t *testing.T, r *rig) {
		o := &owner{asks: asks, asked: make(chan string, 100), answer: make(chan error), passes: make(chan *pass, 100)}
		r.relay.verify = func(h Handshake) (Admission, error) {
			a, err := verify(h)
			a.Gate = o
			return a, err
		}
		f(t, r, o)
	})
}

const noQuestion = "was not asked"

func (o *owner) question() string {
	synctest.Wait()
	select {
	case method := <-o.asked:
		return method
	default:
		return noQuestion
	}
}

// While the owner is asked about a request, what is not behind it goes on, and what is comes
// after it, in its order.
func TestAskedRequestHoldsItsClientOnly(t *testing.T) {
	gated(t, Limits{}, "click", func(t *testing.T, r *rig, o *owner) {
		ext, id := r.extension(t, "token of ann", "chrome")
		mcp, conn := r.connected(t, "token of ann", id)
		other, otherConn := r.connected(t, "token of ann", id)
		mcp.send(`{"jsonrpc":"2.0","id":1,"method":"getTabs"}`)
		ext.expect(`{"jsonrpc":"2.0","id":"` + conn + `:1","method":"getTabs"}`)
		mcp.send(`{"jsonrpc":"2.0","id":2,"method":"click","params":{"x":1}}`)
		mcp.send(`{"jsonrpc":"2.0","id":3,"method":"getTabs"}`)
		mcp.send(`{"jsonrpc":"2.0","id":4,"method":"click","params":{"x":2}}`)
		mcp.send(`{"jsonrpc":"2.0","method":"hover"}`)
		if got := o.question(); got != "click" {
			t.Fatal(got)
		}
		// An answer, another client, and what does not reach the extension.
		ext.send(`{"jsonrpc":"2.0","id":"` + conn + `:1","result":1}`)
		mcp.expect(`{"jsonrpc":"2.0","id":1,"result":1}`)
		other.send(`{"jsonrpc":"2.0","id":1,"method":"getTabs"}`)
		ext.expect(`{"jsonrpc":"2.0","id":"` + otherConn + `:1","method":"getTabs"}`)
		mcp.send(`{"jsonrpc":"2.0","id":5,"method":"list_extensions"}`)
		if m := mcp.message(); string(m.ID) != "5" || m.Error != nil {
			t.Errorf("%+v", m)
		}
		ext.quiet(time.Minute)

		o.answer <- nil
		ext.expect(`{"jsonrpc":"2.0","id":"` + conn + `:2","method":"click","params":{"x":1}}`)
		ext.expect(`{"jsonrpc":"2.0","id":"` + conn + `:3","method":"getTabs"}`)
		if got := o.question(); got != "click" {
			t.Fatal(got)
		}
		o.answer <- Refused(spec.FailDenied, "The owner has declined.")
		mcp.expect(`{"jsonrpc":"2.0","id":4,"error":{"code":-32000,"message":"The owner has declined.","data":{"code":"DENIED"}}}`)
		ext.expect(`{"jsonrpc":"2.0","method":"hover"}`)
		mcp.send(`{"jsonrpc":"2.0","id":6,"method":"getTabs"}`)
		ext.expect(`{"jsonrpc":"2.0","id":"` + conn + `:6","method":"getTabs"}`)
	})
}

// The owner is not asked about notifications, for which no client waits.
func TestNotificationIsNotAsked(t *testing.T) {
	gated(t, Limits{}, "click", func(t *testing.T, r *rig, o *owner) {
		ext, id := r.extension(t, "token of ann", "chrome")
		mcp, _ := r.connected(t, "token of ann", id)
		mcp.send(`{"jsonrpc":"2.0","method":"click"}`)
		mcp.send(`{"jsonrpc":"2.0","method":"hover"}`)
		ext.expect(`{"jsonrpc":"2.0","method":"hover"}`)
		mcp.quiet(time.Minute)
		if got := o.question(); got != noQuestion {
			t.Error(got)
		}
	})
}

// A client that sends on and on while the owner is asked gets answers, and no memory; nothing
// of it is sent, and one question is all that the owner sees.
func TestFloodWhileAsked(t *testing.T) {
	gated(t, Limits{MaxInFlight: 8, ClientBurst: 5000}, "click", func(t *testing.T, r *rig, o *owner) {
		ext, id := r.extension(t, "token of ann", "chrome")
		mcp, conn := r.connected(t, "token of ann", id)
		for i := range 1000 {
			mcp.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"click"}`, i))
		}
		for i := 8; i < 1000; i++ {
			if m := mcp.message(); string(m.ID) != fmt.Sprint(i) || m.Error == nil || !strings.Contains(string(m.Error.Data), "QUEUE_FULL") {
				t.Fatalf("%d: %+v", i, m)
			}
		}
		if got := o.question() + ", " + o.question(); got != "click, "+noQuestion {
			t.Error(got)
		}
		ext.quiet(time.Second)
		for i := range 8 {
			o.answer <- nil
			ext.expect(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s:%d","method":"click"}`, conn, i))
		}
	})
	gated(t, Limits{MaxFrame: 4 << 10}, "click", func(t *testing.T, r *rig, _ *owner) {
		_, id := r.extension(t, "token of ann", "chrome")
		mcp, _ := r.connected(t, "token of ann", id)
		big := strings.Repeat("x", 3<<10)
		for i := range 2 {
			mcp.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"click","params":{"text":%q}}`, i, big))
		}
		if m := mcp.message(); string(m.ID) != "1" || m.Error == nil || !strings.Contains(string(m.Error.Data), "QUEUE_FULL") {
			t.Errorf("%+v", m)
		}
	})
}

// The owner is not asked for a client that has gone or ended its connection. Its waiting messages
// are not sent, also not to the extension that it connects to next.
func TestAskedClientGoes(t *testing.T) {
	gated(t, Limits{}, "click", func(t *testing.T, r *rig, o *owner) {
		ext, id := r.extension(t, "token of ann", "chrome")
		gone, _ := r.connected(t, "token of ann", id)
		gone.send(`{"jsonrpc":"2.0","id":1,"method":"click"}`)
		o.question()
		gone.ws.NetConn().Close()
		synctest.Wait()
		if o.left.Load() != 1 {
			t.Error("the question to a client that has gone is open")
		}

		mcp, _ := r.connected(t, "token of ann", id)
		ext.message()
		mcp.send(`{"jsonrpc":"2.0","id":1,"method":"click"}`)
		mcp.send(`{"jsonrpc":"2.0","id":2,"method":"getTabs"}`)
		o.question()
		mcp.send(`{"jsonrpc":"2.0","id":3,"method":"disconnect"}`)
		mcp.send(`{"jsonrpc":"2.0","id":4,"method":"connect","params":{"extension_id":"` + id + `"}}`)
		errors, answers := 0, map[string]bool{}
		for range 4 {
			m := mcp.message()
			answers[string(m.ID)] = true
			if m.Error != nil {
				errors++
			}
		}
		if errors != 2 || len(answers) != 4 {
			t.Errorf("%d errors, %v", errors, answers)
		}
		ext.message() // that the connection has ended
		ext.quiet(time.Minute)
		select {
		case o.answer <- nil:
			t.Error("a question is open that nobody waits for")
		default:
		}
	})
}

// A connection, by which the extension's events come to the client, is decided about, too; what
// the client sends to it meanwhile waits.
func TestConnectIsAsked(t *testing.T) {
	for _, plain := range []bool{false, true} {
		gated(t, Limits{}, "connect", func(t *testing.T, r *rig, o *owner) {
			ext, id := r.extension(t, "token of ann", "chrome")
			path, handshake := "/mcp", `{"jsonrpc":"2.0","id":1,"method":"mcp_handshake","params":{"accessToken":"token of ann"}}`
			if plain {
				path, handshake = "/relay", `{"id":1,"method":"mcp_handshake","params":{"accessToken":"token of ann"}}`
			}
			mcp := r.open(t, "client", path)
			mcp.send(handshake)
			mcp.message()
			if plain {
				mcp.expect(`{"method":"handshake_ack"}`)
			}
			connect := func(n int) {
				mcp.send(fmt.Sprintf(`{"id":%d,"method":"connect","params":{"extension_id":%q}}`, n, id))
				mcp.send(fmt.Sprintf(`{"id":%d,"method":"getTabs"}`, n+1))
				if got := o.question(); got != "connect" {
					t.Fatal(got)
				}
				ext.send(`{"jsonrpc":"2.0","method":"event"}`)
				mcp.quiet(time.Second)
			}
			connect(2)
			o.answer <- Refused(spec.FailDenied, "The owner has declined.")
			if m := mcp.next(); !strings.Contains(m, "The owner has declined.") {
				t.Error(m)
			}
			if m := mcp.next(); !strings.Contains(m, "Not connected") {
				t.Error(m)
			}
			connect(4)
			o.answer <- nil
			if m := mcp.next(); strings.Contains(m, "rror") {
				t.Error(m)
			}
			if m := ext.message(); m.Method != "getTabs" {
				t.Errorf("%+v", m)
			}
			ext.send(`{"jsonrpc":"2.0","method":"event"}`)
			if m := mcp.message(); m.Method != "event" {
				t.Errorf("%+v", m)
			}
		})
	}
}

// A client whose connection is asked about can change its mind.
func TestConnectGivenUp(t *testing.T) {
	gated(t, Limits{}, "connect", func(t *testing.T, r *rig, o *owner) {
		_, id := r.extension(t, "token of ann", "chrome")
		mcp := r.client(t, "token of ann")
		mcp.send(`{"jsonrpc":"2.0","id":2,"method":"connect","params":{"extension_id":"` + id + `"}}`)
		o.question()
		mcp.send(`{"jsonrpc":"2.0","id":3,"method":"disconnect"}`)
		for range 2 {
			if m := mcp.message(); (string(m.ID) == "2") != (m.Error != nil) {
				t.Errorf("%+v", m)
			}
		}
		if _, connections, _ := r.holds("ann"); connections != 0 || o.left.Load() != 1 {
			t.Errorf("%d connections, %d given up", connections, o.left.Load())
		}
	})
}

// What the owner pauses stops at once: no request reaches the extension, and nothing that the
// extension sends reaches the client.
func TestOwnerPauses(t *testing.T) {
	gated(t, Limits{}, "click", func(t *testing.T, r *rig, o *owner) {
		ext, id := r.extension(t, "token of ann", "chrome")
		mcp, conn := r.connected(t, "token of ann", id)
		mcp.send(`{"jsonrpc":"2.0","id":1,"method":"getTabs"}`)
		ext.message()
		mcp.send(`{"jsonrpc":"2.0","id":2,"method":"click"}`)
		mcp.send(`{"jsonrpc":"2.0","id":3,"method":"getTabs"}`)
		o.question()
		o.paused.Store(true)
		o.answer <- Refused(spec.FailPaused, "The owner has paused this.") // as the hub withdraws it
		const paused = `"error":{"code":-32000,"message":"The owner has paused this.","data":{"code":"PAUSED"}}}`
		mcp.expect(`{"jsonrpc":"2.0","id":2,` + paused)
		mcp.expect(`{"jsonrpc":"2.0","id":3,` + paused)
		ext.send(`{"jsonrpc":"2.0","method":"event"}`)
		ext.send(`{"jsonrpc":"2.0","id":"` + conn + `:1","result":"of the page"}`)
		mcp.expect(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"The owner has paused this. The request was sent before: it may have taken effect.","data":{"code":"PAUSED"}}}`)
		ext.quiet(time.Minute)
		o.paused.Store(false)
		ext.send(`{"jsonrpc":"2.0","method":"event"}`)
		mcp.expect(`{"jsonrpc":"2.0","method":"event"}`)
	})
}

// One credential's connection does not become another's, whose gate is another.
func TestCredentialDoesNotChange(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		r.relay.verify = func(h Handshake) (Admission, error) {
			a, err := verify(Handshake{Token: "token of ann"})
			a.Client = h.Token
			if h.Client == "" || h.Extension {
				t.Errorf("%+v", h)
			}
			return a, err
		}
		mcp := r.client(t, "one")
		mcp.send(`{"jsonrpc":"2.0","id":3,"method":"mcp_handshake","params":{"accessToken":"two"}}`)
		mcp.expect(`{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"Authentication failed: this connection belongs to another client"}}`)
		if got := mcp.next(); got != fmt.Sprintf("closed %d", spec.CloseRefused) {
			t.Error(got)
		}
	})
}

// A request that the owner stops ends at once for its client only; a later response of the
// extension is dropped.
func TestOwnerStopsWhatIsForwarded(t *testing.T) {
	for _, plain := range []bool{false, true} {
		gated(t, Limits{}, "click", func(t *testing.T, r *rig, o *owner) {
			ext, id := r.extension(t, "token of ann", "chrome")
			var mcp *peer
			head, failed, conn := `{"jsonrpc":"2.0",`, "", ""
			if plain {
				mcp = r.open(t, "client", "/relay")
				mcp.send(`{"method":"mcp_handshake","params":{"accessToken":"token of ann"}}`)
				mcp.expect(`{"method":"handshake_ack"}`)
				mcp.send(`{"method":"connect","params":{"extensionId":"` + id + `"}}`)
				var connected struct{ ConnectionID string }
				if err := json.Unmarshal([]byte(mcp.next()), &connected); err != nil {
					t.Fatal(err)
				}
				head, conn, failed = "{", connected.ConnectionID, `"error":"The owner has stopped this; sent: true."}`
			} else {
				mcp, conn = r.connected(t, "token of ann", id)
				failed = `"error":{"code":-32000,"message":"The owner has stopped this; sent: true.","data":{"code":"STOPPED"}}}`
			}
			if connect := <-o.passes; connect.ended() != "" {
				t.Error("a connection is shown as under way")
			}
			for i, method := range []string{"getTabs", "click", "getTabs"} {
				mcp.send(fmt.Sprintf(`%s"id":%d,"method":%q}`, head, i, method))
			}
			ext.expect(`{"jsonrpc":"2.0","id":"` + conn + `:0","method":"getTabs"}`)
			o.question()
			o.answer <- nil
			ext.expect(`{"jsonrpc":"2.0","id":"` + conn + `:1","method":"click"}`)
			ext.expect(`{"jsonrpc":"2.0","id":"` + conn + `:2","method":"getTabs"}`)
			for i, p := range []*pass{<-o.passes, <-o.passes} { // the third goes on
				if got := p.ended(); got != "0 ends" {
					t.Errorf("%d has ended: %q", i, got)
				}
				p.stop()
				synctest.Wait()
			}
			mcp.expect(head + `"id":0,` + failed)
			mcp.expect(head + `"id":1,` + failed)
			for i := range 3 {
				ext.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s:%d","result":"of the page"}`, conn, i))
			}
			mcp.expect(head + `"id":2,"result":"of the page"}`)
			mcp.quiet(time.Minute)
			if third := <-o.passes; third.ended() != "Chrome 141" {
				t.Error("what is answered is still under way")
			}
			if _, _, pending := r.holds("ann"); pending != 0 {
				t.Errorf("%d are pending", pending)
			}
		})
	}
}

// A message is under way until it is certain that nothing comes of it any more.
func TestInFlightEnds(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(r *rig, ext, mcp *peer, conn string)
		want string
	}{
		"answered": {func(_ *rig, ext, mcp *peer, conn string) {
			mcp.send(`{"jsonrpc":"2.0","id":1,"method":"getTabs"}`)
			ext.message()
			ext.send(`{"jsonrpc":"2.0","id":"` + conn + `:1","result":{}}`)
		}, "Chrome 141"},
		"a notification": {func(_ *rig, _, mcp *peer, _ string) {
			mcp.send(`{"jsonrpc":"2.0","method":"getTabs"}`)
		}, ""},
		"no answer": {func(r *rig, _, mcp *peer, _ string) {
			mcp.send(`{"jsonrpc":"2.0","id":1,"method":"getTabs"}`)
			time.Sleep(r.relay.limits.RequestTimeout + r.relay.limits.KeepAlive)
			mcp.message()
		}, "Chrome 141"},
		"another connection": {func(_ *rig, _, mcp *peer, _ string) {
			mcp.send(`{"jsonrpc":"2.0","id":1,"method":"getTabs","connectionId":"conn-x"}`)
		}, ""},
		"the client disconnects": {func(_ *rig, _, mcp *peer, _ string) {
			mcp.send(`{"jsonrpc":"2.0","id":1,"method":"getTabs"}`)
			mcp.send(`{"jsonrpc":"2.0","id":2,"method":"disconnect"}`)
		}, "Chrome 141"},
		"the client goes": {func(_ *rig, ext, mcp *peer, _ string) {
			mcp.send(`{"jsonrpc":"2.0","id":1,"method":"getTabs"}`)
			ext.message()
			mcp.ws.NetConn().Close()
		}, "Chrome 141"},
		"the extension goes": {func(_ *rig, ext, mcp *peer, _ string) {
			mcp.send(`{"jsonrpc":"2.0","id":1,"method":"getTabs"}`)
			ext.message()
			ext.ws.NetConn().Close()
		}, "Chrome 141"},
		"the extension is away": {func(_ *rig, ext, mcp *peer, _ string) {
			ext.ws.NetConn().Close()
			synctest.Wait()
			mcp.send(`{"jsonrpc":"2.0","id":1,"method":"getTabs"}`)
		}, ""},
		"the relay closes": {func(r *rig, ext, mcp *peer, _ string) {
			mcp.send(`{"jsonrpc":"2.0","id":1,"method":"getTabs"}`)
			ext.message()
			r.relay.Close()
		}, "Chrome 141"},
	} {
		t.Run(name, func(t *testing.T) {
			gated(t, Limits{}, "", func(t *testing.T, r *rig, o *owner) {
				ext, id := r.extension(t, "token of ann", "chrome")
				mcp, conn := r.connected(t, "token of ann", id)
				<-o.passes // of the connection
				test.do(r, ext, mcp, conn)
				if got := (<-o.passes).ended(); got != test.want {
					t.Errorf("%q", got)
				}
			})
		})
	}
}
