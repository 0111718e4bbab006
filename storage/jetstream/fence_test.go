package jetstream

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/jetstream/natstest"
)

// await waits until a user's journal has n messages.
func await(t testing.TB, nc *nats.Conn, user spec.UserID, n int) {
	t.Helper()
	js := jetStream(t, nc)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); messages(t, js, user) != n; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("%d messages, want %d", messages(t, js, user), n)
		}
	}
}

// big returns changes of so many bytes.
func big(key string, bytes int) storage.Change {
	return storage.Settings{Name: key, Body: []byte(`"` + strings.Repeat("x", bytes) + `"`)}
}

// A write that the network delays until another node has the user is never applied, in one part or
// in several.
func TestLateWrite(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	p := natstest.NewProxy(t, c.URL(0))
	a, b := open(t, c.ConnTo(t, p.URL()), 1, "a/1"), open(t, c.Conn(t), 1, "b/1")
	for user, change := range map[spec.UserID]storage.Change{"one": big("never", 10), "several": big("never", 3<<20)} {
		first := load(t, a, user)
		must(t, write(a, user, first.Epoch, storage.Name{Public: "n"}))
		p.CutRequests()
		late := begin(a, user, first.Epoch, change)
		second := load(t, b, user)
		p.Mend()
		wantStale(t, <-late, second.Epoch)
		wantStale(t, write(a, user, first.Epoch, change), 0)
		must(t, write(b, user, second.Epoch, storage.Name{Public: "n2"}))
		if s := load(t, b, user); len(s.Names) != 2 || len(s.Settings) != 0 {
			t.Errorf("%s: got %d names, %d settings", user, len(s.Names), len(s.Settings))
		}
	}
	must(t, a.Close()) // waits
	if len(a.users) != 0 || a.waiting != 0 {
		t.Errorf("of superseded users there are %d in memory, and %d bytes", len(a.users), a.waiting)
	}
}

// A write whose acknowledgement is lost is stored once and reported as stored, also if another
// node has claimed the user meanwhile.
func TestLostAcknowledgement(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	p := natstest.NewProxy(t, c.URL(0))
	direct := c.Conn(t)
	a, b := open(t, c.ConnTo(t, p.URL()), 1, "a/1"), open(t, direct, 1, "b/1")
	js := jetStream(t, direct)
	first := load(t, a, "ann")
	for i := range 3 {
		p.CutReplies()
		done := begin(a, "ann", first.Epoch, storage.Name{Public: fmt.Sprint(i)})
		await(t, direct, "ann", 2+i)
		p.Break() // loses the messages in flight
		p.Mend()
		must(t, <-done)
		if n := messages(t, js, "ann"); n != 2+i {
			t.Errorf("%d messages, want %d", n, 2+i)
		}
	}
	// It is not lost but late, so that it is sent again and again.
	p.CutReplies()
	done := begin(a, "ann", first.Epoch, storage.Name{Public: "slow"})
	await(t, direct, "ann", 5)
	second := load(t, b, "ann")
	time.AfterFunc(4*minAnswer, p.Mend)
	if err := <-done; err != nil {
		t.Errorf("a write that was stored before another node claimed the user: %v", err)
	}
	if len(second.Names) != 4 {
		t.Errorf("the other one took over %+v", second.Names)
	}
	wantStale(t, write(a, "ann", first.Epoch, storage.Name{Public: "late"}), second.Epoch)

	// The journal was compacted since: the outcome cannot be found out.
	third := load(t, a, "ann")
	p.CutReplies()
	done = begin(a, "ann", third.Epoch, storage.Name{Public: "who knows"})
	await(t, direct, "ann", 8)
	fourth := load(t, b, "ann")
	must(t, b.compact(drained(b, "ann")))
	await(t, direct, "ann", 1)
	p.Break()
	p.Mend()
	err := <-done
	wantStale(t, err, fourth.Epoch)
	if !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
}

// A stored write whose acknowledgement was lost is not reported as refused when the server accepts
// no more writes.
func TestLostAcknowledgementThenRefused(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	p := natstest.NewProxy(t, c.URL(0))
	direct := c.Conn(t)
	st := open(t, c.ConnTo(t, p.URL()), 1, "a/1")
	epoch := load(t, st, "ann").Epoch
	p.CutReplies()
	done := begin(st, "ann", epoch, big("n", 100))
	await(t, direct, "ann", 2)
	small := st.stream.CachedInfo().Config
	small.MaxMsgSize = 10
	_, err := jetStream(t, direct).UpdateStream(t.Context(), small)
	must(t, err)
	p.Break()
	p.Mend()
	if err := <-done; !errors.Is(err, jetstream.ErrStreamMessageExceedsMaximum) || !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want that it was refused, and may be stored", err)
	}
	if err := write(st, "ann", epoch, big("n", 100)); err == nil || errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want that it was refused", err)
	}
}

// A store that cannot reach JetStream stops in time, and says which outcomes it does not know.
func TestCloseWithoutServer(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	p := natstest.NewProxy(t, c.URL(0))
	st, err := Open(t.Context(), c.ConnTo(t, p.URL()), Options{Node: func() string { return "a/1" }})
	must(t, err)
	st.closeAfter = 100 * time.Millisecond
	epoch := load(t, st, "ann").Epoch
	p.Cut()
	told := begin(st, "ann", epoch, storage.Name{Public: "n"})
	loading := make(chan error, 1)
	go func() {
		_, err := st.Load(t.Context(), "bob", time.Time{})
		loading <- err
	}()
	for st.mu.Lock(); st.users["bob"] == nil; st.mu.Lock() {
		st.mu.Unlock()
	}
	st.mu.Unlock()
	if err := st.Close(); err == nil {
		t.Error("Close says nothing of what was not written")
	}
	if err := <-told; !errors.Is(err, storage.ErrClosed) || !errors.Is(err, ErrUnknown) {
		t.Errorf("the write: %v", err)
	}
	if err := <-loading; !errors.Is(err, storage.ErrClosed) {
		t.Errorf("the load: %v", err)
	}
}

// A hub that writes more than JetStream accepts gets an error, and memory is bounded; other users
// are not affected.
func TestBacklog(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	p := natstest.NewProxy(t, c.URL(0))
	st := open(t, c.ConnTo(t, p.URL()), 1, "a/1")
	ann, bob := load(t, st, "ann").Epoch, load(t, st, "bob").Epoch
	p.Cut()
	var kept []<-chan error
	for i := range 12 {
		kept = append(kept, begin(st, "ann", ann, big(fmt.Sprint(i), 1<<20-1000)))
	}
	bobs := begin(st, "bob", bob, big("b", 1<<20))
	p.Mend()
	full := 0
	for i, done := range kept {
		if err := <-done; err != nil {
			if full++; !errors.Is(err, storage.ErrBacklog) || i < 8 {
				t.Errorf("write %d: %v", i, err)
			}
		}
	}
	if full != 4 {
		t.Errorf("%d of 12 were refused, want 4", full)
	}
	must(t, <-bobs)
	must(t, st.Close()) // waits
	if st.waiting != 0 {
		t.Errorf("%d bytes wait", st.waiting)
	}
}

// Many Loads of one user at once, in two stores: each epoch is handed out once, and one writer
// remains.
func TestLoadsAtOnce(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	stores := []*Store{open(t, c.Conn(t), 1, "a/1"), open(t, c.Conn(t), 1, "b/1")}
	var mu sync.Mutex
	owner := map[spec.Epoch]*Store{}
	var newest spec.Epoch
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			s, err := stores[i%2].Load(t.Context(), "ann", time.Time{})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if owner[s.Epoch] != nil {
				t.Errorf("epoch %d was handed out twice", s.Epoch)
			}
			owner[s.Epoch] = stores[i%2]
			newest = max(newest, s.Epoch)
		})
	}
	wg.Wait()
	for epoch, st := range owner {
		if err := write(st, "ann", epoch, storage.Name{Public: fmt.Sprint(epoch)}); (err == nil) != (epoch == newest) {
			t.Errorf("epoch %d of %d: %v", epoch, newest, err)
		}
	}
}

// Writes that come while the user is released are either part of what the next node loads, or
// refused.
func TestWriteDuringRelease(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a, b := open(t, c.Conn(t), 1, "a/1"), open(t, c.Conn(t), 1, "b/1")
	for range 20 {
		epoch := load(t, a, "ann").Epoch
		var wrote []string
		var wg sync.WaitGroup
		started := make(chan struct{})
		wg.Go(func() {
			for i := 0; ; i++ {
				name := fmt.Sprint(epoch, "/", i)
				if err := write(a, "ann", epoch, storage.Name{Public: name}); err != nil {
					wantStale(t, err, 0)
					return
				}
				wrote = append(wrote, name)
				if i == 0 {
					close(started)
				}
			}
		})
		<-started
		must(t, a.Release(t.Context(), "ann", epoch))
		wg.Wait()
		s := load(t, b, "ann")
		kept := map[string]bool{}
		for _, n := range s.Names {
			kept[n.Public] = true
		}
		for _, name := range wrote {
			if !kept[name] {
				t.Errorf("%s was reported as stored", name)
			}
		}
		if len(s.Names) != len(wrote) {
			t.Errorf("%d names are stored, %d were written", len(s.Names), len(wrote))
		}
		changes := []storage.Change{}
		for _, n := range s.Names {
			changes = append(changes, storage.DeleteName{Public: n.Public})
		}
		must(t, write(b, "ann", s.Epoch, changes...))
		must(t, b.Release(t.Context(), "ann", s.Epoch))
	}
}

// A Load fails if another one overtakes it and compacts the messages that it was about to read;
// so does a snapshot.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	nc := c.Conn(t)
	a, b := open(t, nc, 1, "a/1"), open(t, nc, 1, "b/1")
	first := load(t, a, "ann")
	must(t, write(a, "ann", first.Epoch, storage.Name{Public: "n"}))
	load(t, b, "ann")
	must(t, b.compact(drained(b, "ann")))
	await(t, nc, "ann", 1)
	j := drained(a, "ann")
	var f fold
	err := a.read(t.Context(), subject("ann"), j.seq, f.add)
	if e, ok := errors.AsType[*supersededError](err); !ok || e.by.Node != "b/1" {
		t.Errorf("got %v, want that b/1 has the user", err)
	}
	if err := a.compact(j); err == nil {
		t.Error("a snapshot was stored")
	}
}
