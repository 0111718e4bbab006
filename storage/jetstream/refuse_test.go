package jetstream

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/storage"
	"tabhub/storage/jetstream/natstest"
	"tabhub/storage/jetstream/streams"
)

// refused opens a store that cannot be opened.
func refused(t *testing.T, nc *nats.Conn, replicas int, want error, says string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := Open(ctx, nc, Options{Node: func() string { return "a/1" }, Replicas: replicas})
	if !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want %v that says %q", err, want, says)
	}
	t.Log(err)
}

// A NATS that cannot store users is refused with a sentence that says what to do.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	none := natstest.StartOptions(t, 1, natstest.Options{NoJetStream: true})
	refused(t, none.Conn(t), 1, streams.ErrNoJetStream, "-js")

	c := natstest.Shared(t)
	nc := c.Conn(t)
	refused(t, nc, 3, streams.ErrReplicas, "3 replicas")
	for _, test := range []struct {
		config jetstream.StreamConfig
		want   error
		says   string
	}{
		{jetstream.StreamConfig{}, streams.ErrForeign, "not made by tabhub"},
		{jetstream.StreamConfig{Metadata: map[string]string{streams.FormatKey: "2"}}, storage.ErrNewer, "update this node"},
		{jetstream.StreamConfig{Metadata: map[string]string{streams.FormatKey: "1"}, MaxMsgs: 9, AllowDirect: true}, ErrStream, "keep all messages"},
		{jetstream.StreamConfig{Metadata: map[string]string{streams.FormatKey: "1"}}, ErrStream, "direct gets"},
		{jetstream.StreamConfig{Metadata: map[string]string{streams.FormatKey: "1"}, AllowDirect: true, Storage: jetstream.MemoryStorage}, ErrStream, "files"},
		{jetstream.StreamConfig{Metadata: map[string]string{streams.FormatKey: "1"}, AllowDirect: true, MaxBytes: 1 << 20}, ErrStream, "--discard new"},
	} {
		nc := natstest.Shared(t).Conn(t) // a new one: a connection that has just deleted a stream may fail to create it at once
		test.config.Name, test.config.Subjects = streamName, []string{subjectPrefix + "*"}
		_, err := jetStream(t, nc).CreateStream(t.Context(), test.config)
		must(t, err)
		refused(t, nc, 1, test.want, test.says)
	}
	// Two nodes that start at once make one stream.
	opened := make(chan error, 5)
	for range cap(opened) {
		go func() {
			st, err := Open(t.Context(), nc, Options{Node: func() string { return "a/1" }})
			if err == nil {
				err = st.Close()
			}
			opened <- err
		}()
	}
	for range cap(opened) {
		must(t, <-opened)
	}
}

// What a stream that is full does not take is an error that says so, and not one that waits for ever.
func TestStreamFull(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	nc := c.Conn(t)
	st := open(t, nc, 1, "a/1")
	epoch := load(t, st, "ann").Epoch
	full := st.stream.CachedInfo().Config
	full.MaxBytes, full.Discard = 1<<10, jetstream.DiscardNew
	_, err := jetStream(t, nc).UpdateStream(t.Context(), full)
	must(t, err)
	select {
	case err := <-begin(st, "ann", epoch, big("n", 1<<10)):
		if err == nil || !strings.Contains(err.Error(), "maximum bytes exceeded") || errors.Is(err, ErrUnknown) {
			t.Errorf("Write: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("Write waits")
	}
	// There is room again.
	full.MaxBytes = -1
	_, err = jetStream(t, nc).UpdateStream(t.Context(), full)
	must(t, err)
	must(t, write(st, "ann", epoch, storage.Name{Public: "n"}))
}

// That there are users is known before a store is opened.
func TestHasUsers(t *testing.T) {
	t.Parallel()
	nc := natstest.Shared(t).Conn(t)
	for _, step := range []struct {
		does func()
		has  bool
	}{
		{func() {}, false},
		{func() { open(t, nc, 1, "a/1") }, false},
		{func() { load(t, open(t, nc, 1, "a/1"), "ann") }, true},
	} {
		step.does()
		if has, err := HasUsers(t.Context(), nc); has != step.has || err != nil {
			t.Errorf("%t, %v, want %t", has, err, step.has)
		}
	}
}

// A damaged journal is its user's trouble alone, and is not made worse.
func TestDamaged(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	nc := c.Conn(t)
	js := jetStream(t, nc)
	a := open(t, nc, 1, "a/1")
	flush := func(data string) func(*testing.T, uint64) {
		return func(t *testing.T, _ uint64) { raw(t, js, "ann", []byte(data), part(kindFlush, 1, 0, 1)...) }
	}
	for name, test := range map[string]struct {
		damage func(t *testing.T, epoch uint64)
		want   error
	}{
		"not ours":      {func(t *testing.T, _ uint64) { raw(t, js, "ann", []byte("hello")) }, storage.ErrCorrupt},
		"no condition":  {func(t *testing.T, _ uint64) { _, err := js.Publish(t.Context(), subject("ann"), nil); must(t, err) }, storage.ErrCorrupt},
		"unknown kind":  {func(t *testing.T, _ uint64) { raw(t, js, "ann", nil, headerKind, "poem", headerEpoch, "1") }, storage.ErrCorrupt},
		"no payload":    {flush(""), storage.ErrCorrupt},
		"newer payload": {flush("\x02abc"), storage.ErrNewer},
		"bad payload":   {flush("\x01\xff\xff"), storage.ErrCorrupt},
		"bad value":     {flush(string(storage.AppendEntry([]byte{1}, storage.Entry{Bucket: storage.BucketTabs, Key: "k", Value: []byte("v")}))), storage.ErrCorrupt},
		"new bucket":    {flush(string(storage.AppendEntry([]byte{1}, storage.Entry{Bucket: "new", Key: "k", Value: []byte("v")}))), storage.ErrCorrupt},
		"lost part":     {func(t *testing.T, _ uint64) { raw(t, js, "ann", []byte("\x01"), part(kindFlush, 1, 1, 2)...) }, storage.ErrCorrupt},
		"lost message": {func(t *testing.T, epoch uint64) {
			st, err := js.Stream(t.Context(), streamName)
			must(t, err)
			must(t, st.Purge(t.Context(), jetstream.WithPurgeSubject(subject("ann")), jetstream.WithPurgeSequence(epoch+1)))
		}, storage.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			st, err := js.Stream(t.Context(), streamName)
			must(t, err)
			must(t, st.Purge(t.Context()))
			epoch := load(t, a, "ann").Epoch
			must(t, write(a, "ann", epoch, storage.Name{Public: "n"}))
			test.damage(t, uint64(epoch))
			_, err = a.Load(t.Context(), "ann", time.Time{})
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), `"ann"`) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			t.Log(err)
			load(t, a, "bob")
		})
	}
}

// A journal that is deleted when a compaction is due is an error of the write that waits for that.
func TestJournalDeleted(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a := open(t, c.Conn(t), 1, "a/1")
	a.lostAfter = 100 * time.Millisecond
	epoch := load(t, a, "ann").Epoch
	must(t, write(a, "ann", epoch, storage.Name{Public: "n"}))
	drained(a, "ann").messages = maxMessages + 1
	must(t, a.stream.Purge(t.Context(), jetstream.WithPurgeSubject(subject("ann"))))
	if err := write(a, "ann", epoch, storage.Name{Public: "n"}); !errors.Is(err, ErrLost) {
		t.Errorf("Write: %v", err)
	}
	if n := len(a.compactions); n != 0 {
		t.Errorf("%d compactions run", n)
	}
}

// All users that ask at once whether the stream exists get the same answer. If it exists, they
// wait again.
func TestGoneForAll(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	nc := c.Conn(t)
	st := open(t, nc, 1, "a/1")
	must(t, jetStream(t, nc).DeleteStream(t.Context(), streamName))
	for range 20 {
		st.missing.asked = time.Time{}
		var asking sync.WaitGroup
		for range 8 {
			asking.Go(func() {
				if !st.gone(t.Context()) {
					t.Error("it is there")
				}
			})
		}
		asking.Wait()
	}
}

// A stream that is deleted while nodes use it is an error that says so, not a wait for ever.
func TestStreamDeleted(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	nc := c.Conn(t)
	a := open(t, nc, 1, "a/1")
	a.lostAfter = 100 * time.Millisecond
	epoch := load(t, a, "ann").Epoch
	must(t, jetStream(t, nc).DeleteStream(t.Context(), streamName))
	if err := write(a, "ann", epoch, storage.Name{Public: "n"}); !errors.Is(err, ErrLost) {
		t.Errorf("Write: %v", err)
	}
	wantStale(t, write(a, "ann", epoch, storage.Name{Public: "n"}), 0)
	if _, err := a.Load(t.Context(), "ann", time.Time{}); !errors.Is(err, ErrLost) {
		t.Errorf("Load: %v", err)
	}
	// And one that was made again is not the one that was.
	b := open(t, nc, 1, "b/1")
	b.lostAfter = 100 * time.Millisecond
	epoch = load(t, b, "ann").Epoch
	must(t, write(b, "ann", epoch, storage.Name{Public: "n"}))
	must(t, jetStream(t, nc).DeleteStream(t.Context(), streamName))
	open(t, nc, 1, "c/1")
	if err := write(b, "ann", epoch, storage.Name{Public: "n"}); !errors.Is(err, ErrLost) {
		t.Errorf("Write: %v", err)
	}
}
