package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tabhub/hub/trust/auth"
	"tabhub/spec"
	"tabhub/storage/jetstream/natstest"
)

// lead checks the user of a credential at nodes that may have looked it up before.
func lead(t *testing.T, to spec.UserID, id string, nodes ...*Node) {
	t.Helper()
	for _, n := range nodes {
		if user, err := n.Hints().UserOf(t.Context(), id); user != to || err != nil {
			t.Errorf("%s leads to %q at %s (%v), want %q", id, user, n.self.Name, err, to)
		}
	}
}

// hint adds a hint, which must succeed.
func hint(t *testing.T, n *Node, id string, user spec.UserID, until time.Time) {
	t.Helper()
	if err := n.Hints().Hint(id, user, until); err != nil {
		t.Errorf("a hint of %s: %v", id, err)
	}
}

// A client that has its token from one node finds its user's hub through any other, at once, and
// never another user's.
func TestHints(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a, b := ready(t, c.Conn(t), "a"), ready(t, c.Conn(t), "b")
	for _, id := range []string{"token-1", "token-2"} {
		hint(t, a, id, "ann", time.Time{})
		lead(t, "ann", id, b, a)
	}
	hint(t, b, "token-1", "ann", time.Now().Add(time.Hour)) // again, and through another node
	if err := b.Hints().Hint("token-1", "bob", time.Time{}); err == nil || !strings.Contains(err.Error(), "another user's") {
		t.Errorf("ann's credential is given to bob: %v", err)
	}
	fresh := ready(t, c.Conn(t), "c")
	lead(t, "ann", "token-1", fresh)
	a.Hints().Forget("token-1")
	a.Hints().Forget("never stored")
	lead(t, "", "token-1", a)
	lead(t, "", "nobody's", a, b)
	hint(t, a, "another", "Ünïcode 用户", time.Time{})
	lead(t, "Ünïcode 用户", "another", b)

	m, err := a.hints.bucket.stream.GetLastMsgForSubject(t.Context(), a.hints.bucket.subject(hintKey("token-2")))
	if err != nil || strings.Contains(string(m.Data), "ann") || strings.Contains(m.Subject, "token") {
		t.Errorf("NATS has %q: %q, %v", m.Subject, m.Data, err)
	}
	// A program that can write to NATS cannot lead a credential to another user's hub.
	if _, err := a.hints.bucket.put(t.Context(), hintKey("swapped"), m.Data, 0); err != nil {
		t.Fatal(err)
	}
	if user, err := b.Hints().UserOf(t.Context(), "swapped"); user != "" || !errors.Is(err, auth.ErrSilent) {
		t.Errorf("a hint in another's place leads to %q, %v", user, err)
	}
}

// An expired hint leaves nothing in NATS: a dashboard makes hints every day. A hint with a longer
// life stays.
func TestHintsEnd(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a := ready(t, c.Conn(t), "a")
	hint(t, a, "session", "ann", time.Now().Add(time.Hour))
	hint(t, a, "over", "ann", time.Now().Add(-time.Hour))
	hint(t, a, "paired", "ann", time.Now().Add(time.Minute))
	hint(t, a, "paired", "ann", time.Time{})
	for id, want := range map[string]string{"session": "1h1m0s", "over": "1m0s", "paired": ""} {
		m, err := a.hints.bucket.stream.GetLastMsgForSubject(t.Context(), a.hints.bucket.subject(hintKey(id)))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Header.Get(jetstream.MsgTTLHeader); got != want {
			t.Errorf("the hint of %s lives for %q, want %q", id, got, want)
		}
	}
	// NATS deletes it in time.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	key := hintKey("short")
	value := a.Documents().Seal("", hintDocument(key), []byte("ann"))
	if _, err := a.hints.bucket.put(ctx, key, value, 0, jetstream.WithMsgTTL(time.Second)); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		m, err := a.hints.bucket.last(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		if m.Sequence == 0 {
			break
		}
		<-tick.C
	}
	hint(t, a, "short", "ann", time.Time{})
	lead(t, "ann", "short", a)
}

// While NATS is away, no node may say that a good credential is unknown. Credentials in a node's
// cache go on working, and all work when NATS is back.
func TestHintsWithoutNATS(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a := ready(t, c.Conn(t), "a")
	wire := natstest.NewProxy(t, c.URL(0))
	b := ready(t, c.ConnTo(t, wire.URL()), "b")
	hint(t, a, "seen", "ann", time.Time{})
	hint(t, a, "new", "ann", time.Time{})
	lead(t, "ann", "seen", b)
	wire.Cut()
	lead(t, "ann", "seen", b)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if user, err := b.Hints().UserOf(ctx, "new"); !errors.Is(err, auth.ErrSilent) {
		t.Errorf("without NATS it leads to %q, %v", user, err)
	}
	if err := b.Hints().Hint("made", "ann", time.Time{}); !errors.Is(err, auth.ErrSilent) {
		t.Errorf("without NATS it is made: %v", err)
	}
	b.Hints().Forget("seen")
	if b.Stats().HintsFailed != 2 {
		t.Errorf("counted: %+v", b.Stats())
	}
	wire.Mend()
	until(t, b, "it is back", func() bool { return b.Lease().Held() })
	lead(t, "ann", "new", b)
	hint(t, b, "made", "ann", time.Time{})
}

// A client that sends made-up credentials must not overload NATS, fill a node's memory, or keep
// other clients out.
func TestHintsFlood(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a, b := ready(t, c.Conn(t), "a"), ready(t, c.Conn(t), "b")
	for i := range 100 {
		hint(t, a, fmt.Sprint("good-", i), "ann", time.Time{})
	}
	before := b.Stats()
	const senders, each = 200, 20
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				lead(t, "", fmt.Sprintf("made up %d %d", s, i), b)
			}
		})
	}
	var worst time.Duration
	for i := range 100 {
		began := time.Now()
		lead(t, "ann", fmt.Sprint("good-", i), b)
		worst = max(worst, time.Since(began))
	}
	wg.Wait()
	now := b.Stats()
	if got := now.HintsUnknown - before.HintsUnknown; got != senders*each || now.HintsFailed != before.HintsFailed || now.Suspensions != before.Suspensions {
		t.Errorf("counted: %+v", now)
	}
	if len(b.hints.missing) > hintsKept || len(b.hints.ofCopies)+len(b.hints.ofLeader) != 0 {
		t.Errorf("%d are cached", len(b.hints.missing))
	}
	// The same credential again and again causes one look-up a second at most.
	before = b.Stats()
	began := time.Now()
	for range 1000 {
		lead(t, "", "always the same", b)
	}
	if n := b.Stats().Hints - before.Hints; n > 1+int64(time.Since(began)/unknownFor) {
		t.Errorf("one credential: NATS is asked %d times", n)
	}
	t.Logf("a good credential takes %v at the longest", worst)
}

// A node caches a bounded number of hints.
func TestHintsCached(t *testing.T) {
	h := newHints(nil, nil, nil, nil)
	for i := range 3 * hintsKept {
		h.remember(fmt.Sprint(i), "bob")
	}
	if n := len(h.known); n > hintsKept {
		t.Errorf("%d are cached", n)
	}
	if _, ok := h.recall("0"); ok {
		t.Error("the cache never shrinks")
	}
	h.remember("made later", "")
	if user, ok := h.recall("made later"); user != "" || !ok {
		t.Error(user, ok)
	}
	h.remember("made later", "ann")
	if user, ok := h.recall("made later"); user != "ann" || !ok {
		t.Error(user, ok)
	}
}
