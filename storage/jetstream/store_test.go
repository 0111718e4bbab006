package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/jetstream/natstest"
	"tabhub/storage/storagetest"
)

// open opens a store for a node.
func open(t testing.TB, nc *nats.Conn, replicas int, node string) *Store {
	t.Helper()
	st, err := Open(t.Context(), nc, Options{Node: func() string { return node }, Replicas: replicas})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

func jetStream(t testing.TB, nc *nats.Conn) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// fresh returns what opens stores for the contract: an empty one for each directory.
func fresh(t *testing.T, nc *nats.Conn, replicas int) func(t *testing.T, dir string) storage.DomainToolStorage {
	js := jetStream(t, nc)
	var mu sync.Mutex
	current := ""
	return func(t *testing.T, dir string) storage.DomainToolStorage {
		mu.Lock()
		defer mu.Unlock()
		if dir != current { // a new store
			if current != "" {
				// Empty, and not deleted: a server may be at work on the files when it is to make it again.
				stream, err := js.Stream(t.Context(), streamName)
				must(t, err)
				must(t, stream.Purge(t.Context()))
			}
			current = dir
		}
		return open(t, nc, replicas, "n0/1")
	}
}

func TestContract(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, true, fresh(t, natstest.Shared(t).Conn(t), 1))
}

func load(t testing.TB, st *Store, user spec.UserID) *storage.State {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := st.Load(ctx, user, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// write writes changes, and returns what becomes of them.
func write(st *Store, user spec.UserID, epoch spec.Epoch, changes ...storage.Change) error {
	return <-begin(st, user, epoch, changes...)
}

func begin(st *Store, user spec.UserID, epoch spec.Epoch, changes ...storage.Change) <-chan error {
	done := make(chan error, 1)
	st.Write(user, epoch, changes, func(err error) { done <- err })
	return done
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantStale(t testing.TB, err error, newer spec.Epoch) {
	t.Helper()
	if e, ok := errors.AsType[*storage.StaleEpochError](err); !ok || e.Newer != newer {
		t.Errorf("got %v, want it refused for epoch %d", err, newer)
	}
}

// messages returns how many messages a user's journal has.
func messages(t testing.TB, js jetstream.JetStream, user spec.UserID) int {
	t.Helper()
	st, err := js.Stream(t.Context(), streamName)
	must(t, err)
	info, err := st.Info(t.Context(), jetstream.WithSubjectFilter(subject(user)))
	must(t, err)
	return int(info.State.Subjects[subject(user)])
}

// A store takes a user over only from a writer that May permits.
func TestOwner(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	nc := c.Conn(t)
	var asked []Writer
	refuse := errors.New("it is alive")
	b, err := Open(t.Context(), nc, Options{Node: func() string { return "b/1" }, May: func(_ context.Context, user spec.UserID, from Writer) error {
		from.seq = 0
		asked = append(asked, from)
		if from.Node != "" && !from.Released {
			return refuse
		}
		return nil
	}})
	must(t, err)
	a := open(t, nc, 1, "a/1")
	if w, err := b.Writer(t.Context(), "ann"); err != nil || w != (Writer{}) {
		t.Errorf("got %+v, %v, want nobody", w, err)
	}
	s := load(t, a, "ann")
	must(t, write(a, "ann", s.Epoch, storage.Name{Public: "n"}))
	if _, err := b.Load(t.Context(), "ann", time.Time{}); !errors.Is(err, refuse) {
		t.Errorf("got %v, want what May says", err)
	}
	must(t, write(a, "ann", s.Epoch, storage.Name{Public: "n2"}))
	last := begin(a, "ann", s.Epoch, storage.Name{Public: "n3"})
	must(t, a.Release(t.Context(), "ann", s.Epoch))
	must(t, <-last)
	wantStale(t, write(a, "ann", s.Epoch, storage.Name{Public: "late"}), 0)
	wantStale(t, a.Release(t.Context(), "ann", s.Epoch), 0)
	must(t, a.Close()) // waits
	if len(a.users) != 0 {
		t.Errorf("%d users are in memory", len(a.users))
	}
	w, err := b.Writer(t.Context(), "ann")
	w.seq = 0
	if want := (Writer{Node: "a/1", Epoch: s.Epoch, Released: true}); err != nil || w != want {
		t.Errorf("got %+v, %v, want %+v", w, err, want)
	}
	s2 := load(t, b, "ann")
	if len(s2.Names) != 3 || s2.Epoch <= s.Epoch {
		t.Errorf("got %+v after epoch %d", s2, s.Epoch)
	}
	asked = slices.Compact(asked) // of what makes it refuse it is asked again, in case it was old
	if want := fmt.Sprint([]Writer{{Node: "a/1", Epoch: s.Epoch}, w}); fmt.Sprint(asked) != want {
		t.Errorf("asked of %+v, want %s", asked, want)
	}
	must(t, b.Close())
}

// A NATS server that lags names a writer that has released the user since. A refusal by May for
// that writer must not be final.
func TestRefusedByAnOldAnswer(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	asked := 0
	st, err := Open(t.Context(), c.Conn(t), Options{Node: func() string { return "b/1" }, Replicas: 1, May: func(context.Context, spec.UserID, Writer) error {
		if asked++; asked == 1 {
			return errors.New("the user is another node's")
		}
		return nil
	}})
	must(t, err)
	load(t, st, "ann")
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
	must(t, st.Close())
}
