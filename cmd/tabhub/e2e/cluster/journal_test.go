//go:build nightly && unix

package cluster

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// usersStream has the journals of all users.
const usersStream = "TABHUB_USERS"

// journal adds the messages of users' journals to a history.
type journal struct {
	t       testing.TB
	js      jetstream.JetStream
	h       *history
	consume jetstream.ConsumeContext
	seen    chan uint64 // the sequence of the message that was added last
}

func followJournals(t testing.TB, nc *nats.Conn, h *history) *journal {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	c, err := js.OrderedConsumer(ctx, usersStream, jetstream.OrderedConsumerConfig{HeadersOnly: true, DeliverPolicy: jetstream.DeliverAllPolicy})
	if err != nil {
		t.Fatal(err)
	}
	j := &journal{t: t, js: js, h: h, seen: make(chan uint64, 1)}
	j.consume, err = c.Consume(j.add)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.consume.Stop)
	return j
}

func (j *journal) add(m jetstream.Msg) {
	meta, err := m.Metadata()
	if err != nil {
		j.t.Error(err)
		return
	}
	header := m.Headers()
	e := Event{
		Kind: Wrote, User: header.Get("Tabhub-User"), By: header.Get("Tabhub-Node"), Name: header.Get("Tabhub-Kind"),
		Call: header.Get("Tabhub-Id"), N: meta.Sequence.Stream, Epoch: meta.Sequence.Stream,
	}
	if e.Name != "claim" {
		if e.Epoch, err = strconv.ParseUint(header.Get("Tabhub-Epoch"), 10, 64); err != nil {
			j.t.Errorf("message %d of %s: %v", e.N, e.User, err)
		}
	}
	j.h.Add(e)
	select {
	case <-j.seen:
	default:
	}
	j.seen <- e.N
}

// await waits until the history has all messages of the stream.
func (j *journal) await() {
	j.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	s, err := j.js.Stream(ctx, usersStream)
	if err != nil {
		j.t.Error(err)
		return
	}
	last := s.CachedInfo().State.LastSeq
	late := time.After(timeout)
	for seen := uint64(0); seen < last; {
		select {
		case seen = <-j.seen:
		case <-late:
			j.t.Errorf("the journals were followed to message %d of %d", seen, last)
			return
		}
	}
}
