package jetstream

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/jetstream/natstest"
)

// settings returns a user's settings documents, for printing.
func settings(s *storage.State) map[string]string {
	m := map[string]string{}
	for _, v := range s.Settings {
		m[v.Name] = string(v.Body)
	}
	return m
}

// After weeks of writes a user's journal is as large as the current state, not as the history.
func TestCompacts(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	nc := c.Conn(t)
	st := open(t, nc, 1, "a/1")
	js := jetStream(t, nc)
	epoch := load(t, st, "ann").Epoch
	most := 0
	for i := range 1000 {
		must(t, write(st, "ann", epoch, storage.Settings{Name: fmt.Sprint(i % 7), Body: fmt.Append(nil, i)},
			storage.DeleteName{Public: fmt.Sprint(i - 5)}, storage.Name{Public: fmt.Sprint(i)}))
		if i%50 == 0 {
			most = max(most, messages(t, js, "ann"))
		}
	}
	if most > maxMessages+50 {
		t.Errorf("the journal had %d messages", most)
	}
	check := func(s *storage.State) {
		t.Helper()
		if len(s.Names) != 5 || fmt.Sprint(settings(s)) != "map[0:994 1:995 2:996 3:997 4:998 5:999 6:993]" {
			t.Errorf("got %+v, %d names", settings(s), len(s.Names))
		}
	}
	check(load(t, st, "ann"))
	// Writers that come and go without a write do not make it grow either.
	for range 300 {
		s := load(t, st, "ann")
		must(t, st.Release(t.Context(), "ann", s.Epoch))
	}
	s := load(t, st, "ann")
	check(s)
	must(t, write(st, "ann", s.Epoch, storage.Name{Public: "last"}))
	if n := messages(t, js, "ann"); n > maxMessages+50 {
		t.Errorf("%d messages after 300 opens", n)
	}
}

// A state may be larger than a message: a flush of 3 MB, and a user of 20 MB whose snapshot has many
// parts, with the server's limit and with a smaller one.
func TestLarge(t *testing.T) {
	t.Parallel()
	for _, limit := range []int32{0, 64 << 10} {
		c := natstest.StartOptions(t, 1, natstest.Options{MaxPayload: limit})
		nc := c.Conn(t)
		st := open(t, nc, 1, "a/1")
		s := load(t, st, "ann")
		must(t, write(st, "ann", s.Epoch, big("three", 3<<20)))
		for i := range 20 {
			must(t, write(st, "ann", s.Epoch, big(fmt.Sprint(i), 1<<20)))
		}
		must(t, st.compact(drained(st, "ann")))
		start := time.Now()
		other := open(t, nc, 1, "b/1")
		s = load(t, other, "ann")
		t.Logf("limit %d: %d messages, 23 MB loaded in %v", limit, messages(t, jetStream(t, nc), "ann"), time.Since(start))
		n := 0
		for _, v := range s.Settings {
			n += len(v.Body)
		}
		if len(s.Settings) != 21 || n != 3<<20+20<<20+21*2 {
			t.Errorf("got %d documents of %d bytes", len(s.Settings), n)
		}
	}
}

// drained returns the user's journal once nothing is written to it.
func drained(st *Store, user spec.UserID) *journal {
	st.mu.Lock()
	j := st.users[user]
	stopped := j.stopped
	st.mu.Unlock()
	if stopped != nil {
		<-stopped
	}
	return j
}

// raw publishes a message behind the user's last one, as a node that dies then does.
func raw(t testing.TB, js jetstream.JetStream, user spec.UserID, data []byte, headers ...string) uint64 {
	t.Helper()
	m := nats.NewMsg(subject(user))
	m.Data = data
	for i := 0; i < len(headers); i += 2 {
		m.Header.Set(headers[i], headers[i+1])
	}
	last := uint64(0)
	st, err := js.Stream(t.Context(), streamName)
	must(t, err)
	if l, err := st.GetLastMsgForSubject(t.Context(), m.Subject); err == nil {
		last = l.Sequence
	}
	m.Header.Set(nats.ExpectedLastSubjSeqHdr, fmt.Sprint(last))
	ack, err := js.PublishMsg(t.Context(), m)
	must(t, err)
	return ack.Sequence
}

// part returns the headers of a part under an epoch.
func part(kind string, epoch spec.Epoch, i, n int) []string {
	return []string{headerKind, kind, headerNode, "dead/1", headerEpoch, fmt.Sprint(epoch), headerID, fmt.Sprint("raw", i), headerPart, fmt.Sprintf("%d/%d", i, n)}
}

// A node that dies between the parts of a flush or snapshot has written nothing: what was there
// before is there, and the next one goes on from that.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	nc := c.Conn(t)
	js := jetStream(t, nc)
	a := open(t, nc, 1, "a/1")
	b := open(t, nc, 1, "b/1")
	for _, kind := range []string{kindFlush, kindSnapshot} {
		user := spec.UserID(kind)
		s := load(t, a, user)
		must(t, write(a, user, s.Epoch, storage.Name{Public: "first"}))
		payload := storage.AppendEntry([]byte{formatVersion}, storage.EntryOf(storage.Name{Public: "half"}))
		raw(t, js, user, payload, part(kind, s.Epoch, 0, 3)...)
		raw(t, js, user, payload, part(kind, s.Epoch, 1, 3)...)
		// It was not dead: its next write is refused, because it does not know of these.
		if err := write(a, user, s.Epoch, storage.Name{Public: "half"}); err == nil {
			t.Errorf("%s: a write behind a missing message was stored", kind)
		}
		s = load(t, b, user)
		if fmt.Sprint(s.Names) != fmt.Sprint([]storage.Name{{Public: "first"}}) {
			t.Errorf("%s: got %+v", kind, s.Names)
		}
		must(t, write(b, user, s.Epoch, storage.Name{Public: "second"}))
		must(t, b.compact(drained(b, user)))
		await(t, nc, user, 1)
		if s := load(t, a, user); len(s.Names) != 2 {
			t.Errorf("%s: got %+v", kind, s.Names)
		}
	}
}

// If a node dies before it has deleted the messages that its snapshot replaces, the next node does
// so.
func TestSnapshotWithoutPurge(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	nc := c.Conn(t)
	js := jetStream(t, nc)
	a := open(t, nc, 1, "a/1")
	s := load(t, a, "ann")
	for i := range 10 {
		must(t, write(a, "ann", s.Epoch, storage.Settings{Name: "n", Body: fmt.Append(nil, i)}))
	}
	payload := storage.AppendEntry([]byte{formatVersion}, storage.EntryOf(storage.Settings{Name: "n", Body: []byte("9")}))
	raw(t, js, "ann", payload, part(kindSnapshot, s.Epoch, 0, 1)...)
	b := open(t, nc, 1, "b/1")
	if s := load(t, b, "ann"); fmt.Sprint(settings(s)) != "map[n:9]" {
		t.Errorf("got %v", settings(s))
	}
	await(t, nc, "ann", 2) // the snapshot and the claim
}

// A snapshot that another node's claim has overtaken replaces nothing and deletes nothing.
func TestTakeoverDuringSnapshot(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	direct := c.Conn(t)
	a, b := open(t, direct, 1, "a/1"), open(t, direct, 1, "b/1")
	s := load(t, a, "ann")
	must(t, write(a, "ann", s.Epoch, big("large", 2<<20)))
	j := drained(a, "ann")
	await(t, direct, "ann", 5) // what was written is compacted
	var f fold
	must(t, a.read(a.ctx, subject("ann"), j.seq, f.add))
	raw(t, jetStream(t, direct), "ann", f.snapshot()[:maxPart], part(kindSnapshot, s.Epoch, 0, 5)...)
	s = load(t, b, "ann")
	must(t, write(b, "ann", s.Epoch, storage.Name{Public: "n"}))
	if err := a.compact(j); err == nil {
		t.Error("the snapshot was stored")
	}
	if n := messages(t, jetStream(t, direct), "ann"); n != 8 {
		t.Errorf("%d messages, want 9", n)
	}
	if s := load(t, b, "ann"); len(s.Names) != 1 || len(settings(s)["large"]) != 2<<20+2 {
		t.Errorf("got %d names, %d bytes", len(s.Names), len(settings(s)["large"]))
	}
}
