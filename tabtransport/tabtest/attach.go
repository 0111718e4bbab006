package tabtest

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// RunAttacher tests that an Attacher, whose hub sends through a transport, keeps its
// contract. start makes an Attacher to which nothing is attached and that transport,
// whose Handle was not called; it is called in a testing/synctest bubble, for each test
// anew.
func RunAttacher(t *testing.T, start func(t *testing.T) (tabtransport.Attacher, tabtransport.TabHubTransport)) {
	for _, test := range []struct {
		name string
		run  func(f *attachFixture)
	}{
		{"an attachment knows its peer and epoch", identity},
		{"a request is answered once", answeredOnce},
		{"a link that does not send says so", unsent},
		{"a connection that left sends nothing", left},
		{"a replaced connection is dropped", replacedAttachment},
		{"a given up connection is dropped", givenUp},
		{"a request does not leave a replaced connection", movedOn},
		{"a refused connection gets no link", refusedLink},
		{"a connection waits for its hub", waits},
		{"a request waits for a connection that is accepted", early},
		{"a peer is given up while it is accepted", givenUpAtOnce},
		{"messages come one at a time", oneAtATime},
		{"a connection leaves after its messages", leavesLast},
		{"a replaced connection's last message comes first", replacedLast},
		{"a connection leaves while the next is accepted", leavesMeanwhile},
		{"a connection that retires is answered", retires},
		{"a retired connection is not waited for without end", retiresInTime},
		{"a peer without a session forgets its calls", forgets},
	} {
		t.Run(strings.ReplaceAll(test.name, " ", "_"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hub, tr := start(t)
				f := &attachFixture{fixture: fixture{T: t, tr: tr, handler: &handler{tr: tr, epoch: 7}}, hub: hub}
				test.run(f)
			})
		})
	}
}

// attachFixture is one Attacher under test.
type attachFixture struct {
	fixture
	hub tabtransport.Attacher
}

// handle opens the hub.
func (f *attachFixture) handle() { f.tr.Handle(f.handler) }

// attach attaches the browser id.
func (f *attachFixture) attach(id, session string) (*testLink, tabtransport.Attachment) {
	f.Helper()
	l := &testLink{requests: make(chan tabtransport.Outgoing, 10), closed: make(chan spec.CloseCode, 10)}
	a, err := f.hub.Attach(f.Context(), conn(id, session), func(acc tabtransport.Accepted) tabtransport.Link {
		l.accepted = acc
		return l
	})
	if err != nil {
		f.Errorf("attach %s: %v", id, err)
	}
	return l, a
}

// testLink is a link that leaves to the test when, and whether, a request is sent.
type testLink struct {
	accepted tabtransport.Accepted
	requests chan tabtransport.Outgoing
	closed   chan spec.CloseCode
}

func (l *testLink) Send(out tabtransport.Outgoing) error {
	l.requests <- out
	return nil
}

func (l *testLink) Cancel(int64, string, string)                     {}
func (l *testLink) Respond(int64, json.RawMessage, any, *spec.Error) {}
func (l *testLink) Close(code spec.CloseCode, _ string)              { l.closed <- code }

// next waits for the next request and marks it as sent.
func (f *attachFixture) next(l *testLink) tabtransport.Outgoing {
	f.Helper()
	out := <-l.requests
	if !out.Sending() {
		f.Errorf("%s must not be sent", out.Request.Method())
	}
	return out
}

// reads returns a reader of answers, which counts how often it is called.
func reads(raw string, calls *int) func(spec.Request) (spec.Response, error) {
	return func(spec.Request) (spec.Response, error) {
		*calls++
		return ok(raw), nil
	}
}

func identity(f *attachFixture) {
	f.handle()
	l, first := f.attach("b", "1")
	if l.accepted.Peer != "b" || l.accepted.Epoch != 7 {
		f.Errorf("the link is made for %+v", l.accepted)
	}
	f.handler.epoch = 8
	_, second := f.attach("b", "1")
	if first.Peer() != "b" || first.Epoch() != 7 || second.Peer() != "b" || second.Epoch() != 8 {
		f.Errorf("got %s of epoch %d and %s of epoch %d", first.Peer(), first.Epoch(), second.Peer(), second.Epoch())
	}
}

func answeredOnce(f *attachFixture) {
	f.handle()
	l, b := f.attach("b", "1")
	_, other := f.attach("other", "1")
	ch := f.call(f.Context(), b7, tabtransport.Wait{})
	out := <-l.requests
	calls := 0
	if b.Answer(7, out.ID, reads(`"early"`, &calls)) {
		f.Error("a request that was not sent was answered")
	}
	if !out.Sending() {
		f.Fatal("the request may not be sent")
	}
	out.Unsent() // too late
	switch {
	case other.Answer(7, out.ID, reads(`"other"`, &calls)):
		f.Error("another peer has answered")
	case b.Answer(8, out.ID, reads(`"other"`, &calls)):
		f.Error("another tab has answered")
	case other.Progress(7, spec.Progress{RequestID: out.ID}):
		f.Error("another peer has reported progress")
	case !b.Progress(7, spec.Progress{RequestID: out.ID}):
		f.Error("progress was not taken")
	case !b.Answer(tabtransport.AnyTab, out.ID, reads(`"mine"`, &calls)):
		f.Error("the answer was not taken")
	case b.Answer(7, out.ID, reads(`"twice"`, &calls)):
		f.Error("a second answer was taken")
	}
	f.wantResult(<-ch, `"mine"`)
	if calls != 1 {
		f.Errorf("%d answers were read", calls)
	}
}

func unsent(f *attachFixture) {
	f.handle()
	l, _ := f.attach("b", "1")
	ch := f.call(f.Context(), b7, tabtransport.Wait{})
	out := <-l.requests
	out.Unsent()
	f.wantErr(<-ch, tabtransport.ErrNotConnected)
	if out.Sending() {
		f.Error("a request that has ended may be sent")
	}
	ch = f.call(f.Context(), b7, tabtransport.Wait{Timeout: time.Second})
	out = <-l.requests
	f.wantErr(<-ch, tabtransport.ErrBusy)
	if out.Sending() {
		f.Error("a request whose time was up may be sent")
	}
}

func left(f *attachFixture) {
	f.handle()
	l, b := f.attach("b", "1")
	ch := f.call(f.Context(), b7, tabtransport.Wait{})
	out := <-l.requests
	b.Message(1, nil, &spec.TabClosed{})
	b.Leave(errors.New("lost"))
	b.Message(1, nil, &spec.TabClosed{})
	b.Register(1, nil, &spec.Register{Kind: spec.KindTool})
	f.wantEvents("connect b", "b/1 closed", "disconnected b")
	if out.Sending() {
		f.Error("a request may be sent over a connection that has left")
	}
	f.wantErr(<-ch, tabtransport.ErrNotConnected)
	f.wantErr(<-f.call(f.Context(), b7, tabtransport.Wait{}), tabtransport.ErrNotConnected)
}

func replacedAttachment(f *attachFixture) {
	f.handle()
	l, first := f.attach("b", "1")
	ch := f.call(f.Context(), b7, tabtransport.Wait{})
	out := f.next(l)
	_, second := f.attach("b", "1")
	if code := <-l.closed; code != spec.CloseReplaced {
		f.Errorf("the first connection was closed with %d", code)
	}
	first.Message(1, nil, &spec.TabClosed{})
	first.Leave(nil)
	second.Message(2, nil, &spec.TabClosed{})
	f.wantEvents("connect b", "connect b", "b/2 closed")
	// What had left it is still waited for; the answer may have crossed the close.
	calls := 0
	if !first.Answer(7, out.ID, reads(`1`, &calls)) {
		f.Error("an answer that came last over the first connection was not taken")
	}
	f.wantResult(<-ch, `1`)
}

func givenUp(f *attachFixture) {
	f.handle()
	l, b := f.attach("b", "1")
	sentCall := f.call(f.Context(), b7, tabtransport.Wait{})
	f.next(l)
	queuedCall := f.call(f.Context(), b7, tabtransport.Wait{})
	out := <-l.requests
	f.tr.Disconnect(spec.TabAddr{Peer: "b"}, 0, "it is not away")
	f.tr.Disconnect(spec.TabAddr{Peer: "b"}, spec.CloseRefused, "no")
	f.wantErr(<-sentCall, tabtransport.ErrLost)
	f.wantErr(<-queuedCall, tabtransport.ErrNotConnected)
	if code := <-l.closed; code != spec.CloseRefused {
		f.Errorf("closed with %d", code)
	}
	if out.Sending() {
		f.Error("a request may be sent to a peer that was given up")
	}
	b.Message(1, nil, &spec.TabClosed{})
	b.Leave(nil)
	f.wantEvents("connect b")
}

func movedOn(f *attachFixture) {
	f.handle()
	l, _ := f.attach("b", "1")
	ch := f.call(f.Context(), b7, tabtransport.Wait{})
	out := <-l.requests
	next, b := f.attach("b", "1")
	if out.Sending() {
		f.Error("a request may be sent over a connection that was replaced")
	}
	again := f.next(next)
	calls := 0
	b.Answer(7, again.ID, reads(`2`, &calls))
	f.wantResult(<-ch, `2`)

	// A new session has other tabs under the same numbers.
	ch = f.call(f.Context(), b7, tabtransport.Wait{})
	out = <-next.requests
	restarted, _ := f.attach("b", "2")
	if out.Sending() {
		f.Error("a request may be sent over a connection that was replaced")
	}
	f.wantErr(<-ch, tabtransport.ErrNotConnected)
	if n := len(restarted.requests); n != 0 {
		f.Errorf("%d requests went to another session", n)
	}
}

func refusedLink(f *attachFixture) {
	f.handle()
	_, err := f.hub.Attach(f.Context(), conn("refused", "1"), func(tabtransport.Accepted) tabtransport.Link {
		f.Error("a link was made")
		return nil
	})
	if e, ok := errors.AsType[*spec.Error](err); !ok || e.Code != spec.CodeRefused {
		f.Errorf("got %v", err)
	}
	f.wantEvents()
}

func waits(f *attachFixture) {
	ctx, cancel := context.WithCancelCause(f.Context())
	gone := errors.New("the browser has gone")
	cancel(gone)
	if _, err := f.hub.Attach(ctx, conn("b", "1"), nil); !errors.Is(err, gone) {
		f.Errorf("got %v", err)
	}
	attached := make(chan tabtransport.Attachment)
	go func() {
		_, a := f.attach("b", "1")
		attached <- a
	}()
	f.wantEvents()
	f.handle()
	if a := <-attached; a.Peer() != "b" {
		f.Errorf("got %s", a.Peer())
	}
	f.wantEvents("connect b")
}

// early: the hub may know of a connection, and send to it, before Attach returns.
func early(f *attachFixture) {
	f.handle()
	var ch <-chan result
	f.handler.connecting = func() {
		ch = f.call(f.Context(), b7, tabtransport.Wait{})
		synctest.Wait()
	}
	l, b := f.attach("b", "1")
	calls := 0
	b.Answer(7, f.next(l).ID, reads(`1`, &calls))
	f.wantResult(<-ch, `1`)
}

// givenUpAtOnce: a peer that the hub has forgotten must not stay connected: the tools of
// its pages would not be listed.
func givenUpAtOnce(f *attachFixture) {
	f.handle()
	f.handler.connecting = func() { f.tr.Disconnect(spec.TabAddr{Peer: "b"}, spec.CloseGoingAway, "forgotten") }
	l, b := f.attach("b", "1")
	if code := <-l.closed; code != spec.CloseGoingAway {
		f.Errorf("closed with %d", code)
	}
	b.Message(1, nil, &spec.TabClosed{})
	b.Leave(nil)
	f.wantErr(<-f.call(f.Context(), b7, tabtransport.Wait{}), tabtransport.ErrNotConnected)
	f.wantEvents("connect b")
}

// yield lets other goroutines run. Some wait for a mutex, which synctest.Wait does not
// return for.
func yield() {
	for range 1000 {
		runtime.Gosched()
	}
}

// block makes the hub take long over messages with an id, until release is closed.
func (f *attachFixture) block() (release chan struct{}) {
	release = make(chan struct{})
	f.handler.respond = func(_ spec.TabAddr, id json.RawMessage) {
		f.handler.add("begin %s", id)
		<-release
		f.handler.add("end %s", id)
	}
	return release
}

func oneAtATime(f *attachFixture) {
	f.handle()
	_, b := f.attach("b", "1")
	release := f.block()
	var told sync.WaitGroup
	told.Go(func() { b.Message(1, json.RawMessage("1"), &spec.TabClosed{}) })
	f.wantEvents("connect b", "begin 1")
	// A registration does not wait, nor does anybody wait for it.
	told.Go(func() { b.Register(2, json.RawMessage("2"), &spec.Register{Kind: spec.KindTool}) })
	f.wantEvents("connect b", "begin 1", "begin 2")
	told.Go(func() { b.Message(3, json.RawMessage("3"), &spec.TabClosed{}) })
	yield()
	close(release)
	told.Wait()
	got := f.handler.log()
	if slices.Index(got, "begin 3") < slices.Index(got, "end 1") {
		f.Errorf("the handler got %q: one message before the other had been handled", got)
	}
}

func leavesLast(f *attachFixture) {
	f.handle()
	_, b := f.attach("b", "1")
	release := f.block()
	go b.Register(1, json.RawMessage("1"), &spec.Register{Kind: spec.KindTool})
	synctest.Wait()
	go b.Leave(nil)
	yield()
	close(release)
	f.wantEvents("connect b", "begin 1", "end 1", "disconnected b")
}

func replacedLast(f *attachFixture) {
	f.handle()
	_, first := f.attach("b", "1")
	release := f.block()
	go first.Message(1, json.RawMessage("1"), &spec.TabClosed{})
	synctest.Wait()
	go func() {
		_, second := f.attach("b", "1")
		second.Message(2, json.RawMessage("2"), &spec.TabClosed{})
	}()
	yield()
	close(release)
	f.wantEvents("connect b", "begin 1", "connect b", "end 1", "begin 2", "end 2")
}

// leavesMeanwhile: the hub must not hear that a peer is lost when it has come back.
func leavesMeanwhile(f *attachFixture) {
	f.handle()
	_, first := f.attach("b", "1")
	release := make(chan struct{})
	f.handler.connecting = func() { <-release }
	go f.attach("b", "1")
	synctest.Wait()
	go first.Leave(nil)
	yield()
	close(release)
	f.wantEvents("connect b", "connect b")
}

// retires: a connection that is about to end brings the answers to what was sent over it, and is
// sent nothing more: what is in its queue, and what comes, goes over the next one or is known as unsent.
func retires(f *attachFixture) {
	f.handle()
	l, b := f.attach("b", "")
	sent := f.call(f.Context(), b7, tabtransport.Wait{})
	first := f.next(l)
	queued := f.call(f.Context(), b7, tabtransport.Wait{})
	second := <-l.requests
	gone := make(chan bool)
	go func() { b.Retire(f.Context()); close(gone) }()
	synctest.Wait()
	f.wantEvents("connect b", "disconnected b")
	if second.Sending() {
		f.Error("a request is sent over a connection that has retired")
	}
	f.wantErr(<-queued, tabtransport.ErrNotConnected)
	f.wantErr(<-f.call(f.Context(), b7, tabtransport.Wait{}), tabtransport.ErrNotConnected)
	select {
	case <-gone:
		f.Error("a connection retires before it has brought an answer")
	default:
	}
	calls := 0
	b.Answer(7, first.ID, reads(`"done"`, &calls))
	f.wantResult(<-sent, `"done"`)
	<-gone
	b.Leave(nil)
	f.wantEvents("connect b", "disconnected b")
}

// retiresInTime: an answer that takes too long is known as lost when the connection ends.
func retiresInTime(f *attachFixture) {
	f.handle()
	l, b := f.attach("b", "")
	ch := f.call(f.Context(), b7, tabtransport.Wait{})
	f.next(l)
	ctx, cancel := context.WithTimeout(f.Context(), 8*time.Second)
	defer cancel()
	b.Retire(ctx)
	b.Leave(nil)
	if r := <-ch; !errors.Is(r.err, tabtransport.ErrLost) || r.took != 8*time.Second {
		f.Errorf("it ended with %v after %v", r.err, r.took)
	}
}

func forgets(f *attachFixture) {
	f.handle()
	l, b := f.attach("b", "")
	ch := f.call(f.Context(), b7, tabtransport.Wait{})
	f.next(l)
	b.Leave(nil)
	f.wantErr(<-ch, tabtransport.ErrLost)
	l, _ = f.attach("b", "")
	ch = f.call(f.Context(), b7, tabtransport.Wait{})
	f.next(l)
	f.attach("b", "")
	f.wantErr(<-ch, tabtransport.ErrLost)
}
