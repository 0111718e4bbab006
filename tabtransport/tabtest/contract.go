package tabtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// Run tests that a transport keeps the contract of TabHubTransport and Handler.
// start makes an empty transport whose Handle was not called, and returns how to
// connect to it; it is called in a testing/synctest bubble, for each test anew.
func Run(t *testing.T, start func(t *testing.T) (tabtransport.TabHubTransport, Dial)) {
	for _, test := range []struct {
		name string
		run  func(f *fixture)
	}{
		{"a call is answered", answered},
		{"an error of the tab is its own", tabError},
		{"a failed tool is told apart", failedTool},
		{"messages arrive in order", inOrder},
		{"a question is answered", question},
		{"nobody there", nobody},
		{"silence times out and is cancelled", silence},
		{"a caller that gives up cancels", givesUp},
		{"progress extends the wait", progress},
		{"progress has a limit", progressLimit},
		{"the person has a limit of their own", personLimit},
		{"only the owner may answer", forged},
		{"a call survives a reconnect", reconnect},
		{"a new session loses calls", newSession},
		{"a call of another process is answered", resumed},
		{"a new session knows none of them", resumedElsewhere},
		{"giving up a tab loses its calls only", giveUpTab},
		{"giving up a peer closes it", giveUpPeer},
		{"a second connection replaces the first", replaced},
		{"a refused peer is not connected", refused},
		{"many calls at once", many},
		{"a slow tab delays nobody", slowTab},
	} {
		t.Run(strings.ReplaceAll(test.name, " ", "_"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr, dial := start(t)
				f := &fixture{T: t, tr: tr, dial: dial, handler: &handler{tr: tr}}
				tr.Handle(f.handler)
				test.run(f)
			})
		})
	}
}

// fixture is one transport under test.
type fixture struct {
	*testing.T
	tr      tabtransport.TabHubTransport
	dial    Dial
	handler *handler
}

// browser connects the browser id.
func (f *fixture) browser(id, session string) End {
	f.Helper()
	end, err := f.dial(f, conn(id, session))
	if err != nil {
		f.Fatalf("connect %s: %v", id, err)
	}
	return end
}

func conn(id, session string) tabtransport.Conn {
	return tabtransport.Conn{Dialect: spec.Subprotocol, Attested: true, Hello: &spec.Hello{
		ProtocolVersion: spec.ProtocolVersion,
		BrowserID:       spec.BrowserID(id),
		Session:         session,
	}}
}

// result is how a request ended.
type result struct {
	resp spec.Response
	err  error
	took time.Duration
}

// call starts a call of the tool "t"; the channel is sent one result.
func (f *fixture) call(ctx context.Context, to spec.TabAddr, wait tabtransport.Wait) <-chan result {
	ch := make(chan result, 1)
	go func() {
		start := time.Now()
		resp, err := f.tr.SendRequest(ctx, to, &spec.ExecuteTool{ToolName: "t", Args: json.RawMessage(`{"n":1}`)}, wait)
		ch <- result{resp, err, time.Since(start)}
	}()
	return ch
}

func (f *fixture) wantErr(r result, want error) {
	f.Helper()
	if !errors.Is(r.err, want) {
		f.Errorf("request ended with %v, want %v", r.err, want)
	}
}

func (f *fixture) wantResult(r result, want string) {
	f.Helper()
	if r.err != nil || string(r.resp.Result) != want {
		f.Errorf("request ended with %s, %v, want %s", r.resp.Result, r.err, want)
	}
}

func (f *fixture) wantEvents(want ...string) {
	f.Helper()
	synctest.Wait()
	if got := f.handler.log(); !slices.Equal(got, want) {
		f.Errorf("the handler got %q, want %q", got, want)
	}
}

func ok(raw string) spec.Response { return spec.Response{Result: json.RawMessage(raw)} }

var b7 = spec.TabAddr{Peer: "b", Tab: 7}

func answered(f *fixture) {
	b := f.browser("b", "1")
	ch := f.call(f.Context(), b7, tabtransport.Wait{})
	r := b.Next()
	if r.Tab != 7 || r.Call.ToolName != "t" || string(r.Call.Args) != `{"n":1}` {
		f.Errorf("the tab was asked %+v", r)
	}
	b.Answer(r, ok(`{"content":[],"big":12345678901234567890,"é":"<&>"}`), nil)
	f.wantResult(<-ch, `{"content":[],"big":12345678901234567890,"é":"<&>"}`)
}

func tabError(f *fixture) {
	b := f.browser("b", "1")
	ch := f.call(f.Context(), b7, tabtransport.Wait{})
	b.Answer(b.Next(), spec.Response{}, spec.Errorf(spec.CodeTabNotFound, "no such tab"))
	r := <-ch
	if e, ok := errors.AsType[*spec.Error](r.err); !ok || e.Code != spec.CodeTabNotFound || e.Message != "no such tab" {
		f.Errorf("got %v", r.err)
	}
}

func failedTool(f *fixture) {
	b := f.browser("b", "1")
	ch := f.call(f.Context(), b7, tabtransport.Wait{})
	b.Answer(b.Next(), spec.Response{Result: json.RawMessage(`"boom"`), Failed: true}, nil)
	r := <-ch
	f.wantResult(r, `"boom"`)
	if !r.resp.Failed {
		f.Error("the failure was taken for a success")
	}
}

func inOrder(f *fixture) {
	b := f.browser("b", "1")
	want := []string{"connect b"}
	for i := range 10 {
		title := fmt.Sprint(i)
		b.Notify(int64(1+i%2), &spec.TabState{Title: &title})
		want = append(want, fmt.Sprintf("b/%d title %d", 1+i%2, i))
	}
	b.Notify(1, &spec.Register{Kind: spec.KindTool, Items: []json.RawMessage{json.RawMessage(`{"name":"x","n":1e400}`)}})
	b.Notify(2, &spec.TabClosed{})
	synctest.Wait()
	b.Cut()
	f.wantEvents(append(want, `b/1 tool [{"name":"x","n":1e400}]`, "b/2 closed", "disconnected b")...)
}

func question(f *fixture) {
	b := f.browser("b", "1")
	f.handler.respond = func(from spec.TabAddr, id json.RawMessage) {
		f.tr.Respond(from, id, spec.Registered{Accepted: 3, Rejected: []spec.Rejection{}}, nil)
	}
	got, err := b.Ask(7, &spec.Register{Kind: spec.KindTool})
	if err != nil || string(got) != `{"accepted":3,"rejected":[]}` {
		f.Errorf("answered %s, %v", got, err)
	}
	f.handler.respond = func(from spec.TabAddr, id json.RawMessage) {
		f.tr.Respond(from, id, nil, spec.Errorf(spec.CodeLimit, "too many"))
	}
	_, err = b.Ask(7, &spec.Register{Kind: spec.KindTool})
	if e, ok := errors.AsType[*spec.Error](err); !ok || e.Code != spec.CodeLimit {
		f.Errorf("answered with the error %v", err)
	}
	f.tr.Respond(spec.TabAddr{Peer: "gone"}, json.RawMessage("1"), nil, nil)
}

func nobody(f *fixture) {
	f.wantErr(<-f.call(f.Context(), b7, tabtransport.Wait{}), tabtransport.ErrNotConnected)
	f.browser("b", "1").Cut()
	synctest.Wait()
	f.wantErr(<-f.call(f.Context(), b7, tabtransport.Wait{}), tabtransport.ErrNotConnected)
	f.browser("b", "1")
	ctx, cancel := context.WithCancel(f.Context())
	cancel()
	f.wantErr(<-f.call(ctx, b7, tabtransport.Wait{}), context.Canceled)
}

func silence(f *fixture) {
	b := f.browser("b", "1")
	ch := f.call(f.Context(), b7, tabtransport.Wait{Timeout: 3 * time.Second})
	asked := b.Next()
	r := <-ch
	f.wantErr(r, tabtransport.ErrTimeout)
	if r.took != 3*time.Second {
		f.Errorf("waited %v, not 3s", r.took)
	}
	if id := b.Cancelled(); id != asked.ID {
		f.Errorf("the tab was told to cancel %q, was asked %q", id, asked.ID)
	}
	b.Answer(asked, ok(`"late"`), nil)

	ch = f.call(f.Context(), b7, tabtransport.Wait{})
	b.Next()
	if r := <-ch; r.took != spec.ControlTimeout {
		f.Errorf("without a timeout it waited %v, not %v", r.took, spec.ControlTimeout)
	}
}

func givesUp(f *fixture) {
	b := f.browser("b", "1")
	ctx, cancel := context.WithCancelCause(f.Context())
	ch := f.call(ctx, b7, tabtransport.Wait{})
	asked := b.Next()
	why := errors.New("the user pressed stop")
	cancel(why)
	f.wantErr(<-ch, why)
	if id := b.Cancelled(); id != asked.ID {
		f.Errorf("the tab was told to cancel %q, was asked %q", id, asked.ID)
	}
}

func progress(f *fixture) {
	b := f.browser("b", "1")
	var mu sync.Mutex
	var got []float64
	ch := f.call(f.Context(), b7, tabtransport.Wait{Timeout: 10 * time.Second, Max: time.Minute, Progress: func(p spec.Progress) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, p.Progress)
	}})
	r := b.Next()
	for i := range 4 {
		time.Sleep(9 * time.Second)
		b.Progress(r, float64(i))
		synctest.Wait()
	}
	b.Progress(r, 4)
	b.Answer(r, ok(`1`), nil)
	f.wantResult(<-ch, `1`)
	b.Progress(r, 5)
	synctest.Wait()
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(got, []float64{0, 1, 2, 3, 4}) {
		f.Errorf("progress %v, want 0 to 4 in order and nothing after the answer", got)
	}
}

func progressLimit(f *fixture) {
	b := f.browser("b", "1")
	ch := f.call(f.Context(), b7, tabtransport.Wait{Timeout: 10 * time.Second, Max: 25 * time.Second})
	r := b.Next()
	for range 3 {
		time.Sleep(8 * time.Second)
		b.Progress(r, 1)
		synctest.Wait()
	}
	got := <-ch
	f.wantErr(got, tabtransport.ErrTimeout)
	if got.took != 25*time.Second {
		f.Errorf("progress kept the call for %v, the limit is 25s", got.took)
	}
}

func personLimit(f *fixture) {
	b := f.browser("b", "1")
	wait := tabtransport.Wait{Timeout: 10 * time.Second, Max: 25 * time.Second, Person: time.Minute}
	for _, c := range []struct {
		name  string
		after []time.Duration // between a word of the tab and the next: waiting, and not
		took  time.Duration
	}{
		{"the person never comes", []time.Duration{5 * time.Second}, 65 * time.Second},
		{"the person's time does not count", []time.Duration{5 * time.Second, 50 * time.Second}, 65 * time.Second},
		{"nor does it begin anew", []time.Duration{time.Second, 50 * time.Second, time.Second, 9 * time.Second, time.Second}, 63 * time.Second},
	} {
		ch := f.call(f.Context(), b7, wait)
		r := b.Next()
		for i, d := range c.after {
			time.Sleep(d)
			if i%2 == 0 {
				b.Waits(r)
			} else {
				b.Progress(r, 1)
			}
			synctest.Wait()
		}
		got := <-ch
		f.wantErr(got, tabtransport.ErrTimeout)
		if got.took != c.took {
			f.Errorf("%s: it took %v, want %v", c.name, got.took, c.took)
		}
	}
}

func forged(f *fixture) {
	b, other := f.browser("b", "1"), f.browser("other", "1")
	var reports int
	ch := f.call(f.Context(), b7, tabtransport.Wait{Progress: func(spec.Progress) { reports++ }})
	r := b.Next()
	other.Progress(r, 1)
	other.Answer(r, ok(`"from another browser"`), nil)
	neighbour := r
	neighbour.Tab = 8
	b.Answer(neighbour, ok(`"from another tab"`), nil)
	synctest.Wait()
	b.Answer(r, ok(`"mine"`), nil)
	b.Answer(r, ok(`"twice"`), nil)
	f.wantResult(<-ch, `"mine"`)
	if reports != 0 {
		f.Error("another browser's progress was taken for the owner's")
	}
}

func reconnect(f *fixture) {
	b := f.browser("b", "1")
	ch := f.call(f.Context(), b7, tabtransport.Wait{Timeout: time.Minute})
	r := b.Next()
	b.Cut()
	time.Sleep(20 * time.Second)
	f.wantEvents("connect b", "disconnected b")
	again := f.browser("b", "1")
	again.Answer(r, ok(`"still here"`), nil)
	f.wantResult(<-ch, `"still here"`)
}

func newSession(f *fixture) {
	b := f.browser("b", "1")
	ch := f.call(f.Context(), b7, tabtransport.Wait{Timeout: time.Minute})
	b.Next()
	b.Cut()
	synctest.Wait()
	f.browser("b", "2")
	f.wantErr(<-ch, tabtransport.ErrLost)
}

// resume takes up a call that the session "1" was sent by another process.
func (f *fixture) resume() <-chan result {
	sent := tabtransport.Sent{ID: "5f0c", Session: "1", At: time.Now().Add(-time.Hour)}
	answer := f.tr.Resume(b7, sent, tabtransport.Wait{Timeout: time.Minute})
	ch := make(chan result, 1)
	go func() {
		resp, err := answer(f.Context())
		ch <- result{resp: resp, err: err}
	}()
	return ch
}

func resumed(f *fixture) {
	ch := f.resume()
	b := f.browser("b", "1")
	b.Answer(Request{ID: "5f0c", Tab: 7, Method: spec.MethodExecuteTool}, ok(`"held"`), nil)
	f.wantResult(<-ch, `"held"`)
	f.wantErr(<-f.resume(), tabtransport.ErrLost) // the browser could have answered before
}

func resumedElsewhere(f *fixture) {
	ch := f.resume()
	f.browser("b", "2")
	f.wantErr(<-ch, tabtransport.ErrLost)
}

func giveUpTab(f *fixture) {
	b := f.browser("b", "1")
	seven := f.call(f.Context(), b7, tabtransport.Wait{})
	b.Next()
	eight := f.call(f.Context(), spec.TabAddr{Peer: "b", Tab: 8}, tabtransport.Wait{})
	r := b.Next()
	f.tr.Disconnect(b7, spec.CloseGoingAway, "gone")
	f.wantErr(<-seven, tabtransport.ErrLost)
	b.Answer(r, ok(`8`), nil)
	f.wantResult(<-eight, `8`)
	f.wantEvents("connect b")
}

func giveUpPeer(f *fixture) {
	b := f.browser("b", "1")
	ch := f.call(f.Context(), b7, tabtransport.Wait{})
	b.Next()
	f.tr.Disconnect(spec.TabAddr{Peer: "b"}, spec.CloseRefused, "no")
	f.wantErr(<-ch, tabtransport.ErrLost)
	if code := b.Closed(); code != spec.CloseRefused {
		f.Errorf("closed with %d", code)
	}
	f.wantEvents("connect b")
	f.tr.Disconnect(spec.TabAddr{Peer: "b"}, spec.CloseRefused, "twice")
	f.wantErr(<-f.call(f.Context(), b7, tabtransport.Wait{}), tabtransport.ErrNotConnected)
	f.browser("b", "1")
	f.wantEvents("connect b", "connect b")
}

func replaced(f *fixture) {
	first := f.browser("b", "1")
	ch := f.call(f.Context(), b7, tabtransport.Wait{})
	r := first.Next()
	second := f.browser("b", "1")
	if code := first.Closed(); code != spec.CloseReplaced {
		f.Errorf("the first connection was closed with %d", code)
	}
	f.wantEvents("connect b", "connect b")
	second.Answer(r, ok(`2`), nil)
	f.wantResult(<-ch, `2`)
	second.Cut()
	f.wantEvents("connect b", "connect b", "disconnected b")
}

func refused(f *fixture) {
	_, err := f.dial(f, conn("refused", "1"))
	if e, ok := errors.AsType[*spec.Error](err); !ok || e.Code != spec.CodeRefused || e.Message != "not you" {
		f.Errorf("the peer got %v", err)
	}
	f.wantErr(<-f.call(f.Context(), spec.TabAddr{Peer: "refused"}, tabtransport.Wait{}), tabtransport.ErrNotConnected)
	f.wantEvents()
}

func many(f *fixture) {
	b := f.browser("b", "1")
	go func() {
		for range 500 {
			r := b.Next()
			go b.Answer(r, ok(fmt.Sprint(r.Tab)), nil)
		}
	}()
	var wg sync.WaitGroup
	for i := range 500 {
		wg.Go(func() {
			f.wantResult(<-f.call(f.Context(), spec.TabAddr{Peer: "b", Tab: int64(i + 1)}, tabtransport.Wait{}), fmt.Sprint(i+1))
		})
	}
	wg.Wait()
}

func slowTab(f *fixture) {
	b, slow := f.browser("b", "1"), f.browser("slow", "1")
	stuck := f.call(f.Context(), spec.TabAddr{Peer: "slow", Tab: 1}, tabtransport.Wait{Timeout: 5 * time.Second})
	slow.Next()
	start := time.Now()
	ch := f.call(f.Context(), b7, tabtransport.Wait{})
	b.Answer(b.Next(), ok(`1`), nil)
	f.wantResult(<-ch, `1`)
	if time.Since(start) != 0 {
		f.Errorf("the call took %v", time.Since(start))
	}
	f.wantErr(<-stuck, tabtransport.ErrTimeout)
}

// handler takes each peer for the one that its browserId names.
type handler struct {
	tr         tabtransport.TabHubTransport
	epoch      spec.Epoch
	connecting func() // called in Connect, if not nil
	respond    func(from spec.TabAddr, id json.RawMessage)

	mu     sync.Mutex
	events []string
}

func (h *handler) add(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, fmt.Sprintf(format, args...))
}

func (h *handler) log() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.events)
}

func (h *handler) Connect(c tabtransport.Conn) (tabtransport.Accepted, error) {
	if c.Hello.BrowserID == "refused" {
		return tabtransport.Accepted{}, spec.Errorf(spec.CodeRefused, "not you")
	}
	h.add("connect %s", c.Hello.BrowserID)
	if h.connecting != nil {
		h.connecting()
	}
	return tabtransport.Accepted{Peer: spec.PeerID(c.Hello.BrowserID), Epoch: h.epoch}, nil
}

func (h *handler) Message(from spec.TabAddr, id json.RawMessage, msg spec.Inbound) {
	if id != nil {
		h.respond(from, id)
		return
	}
	switch msg := msg.(type) {
	case *spec.TabState:
		h.add("%s title %s", from, *msg.Title)
	case *spec.Register:
		h.add("%s %s %s", from, msg.Kind, msg.Items)
	case *spec.TabClosed:
		h.add("%s closed", from)
	case *spec.ResourceUpdated:
		h.add("%s updated %s", from, msg.URI)
	}
}

func (h *handler) Disconnected(peer spec.PeerID, _ error) { h.add("disconnected %s", peer) }
