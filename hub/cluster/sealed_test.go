package cluster

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tabhub/spec"
	"tabhub/storage/jetstream/natstest"
)

// All nodes must have the same key of pairings and the same hub id, whichever starts first, and
// NATS must not be able to read or swap them.
func TestDocuments(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a, b := ready(t, c.Conn(t), "a"), ready(t, c.Conn(t), "b")
	ctx := t.Context()
	first, err := a.Documents().Create(ctx, "ring", []byte("the key"))
	if string(first) != "the key" || err != nil {
		t.Error(first, err)
	}
	if second, err := b.Documents().Create(ctx, "ring", []byte("another")); string(second) != "the key" || err != nil {
		t.Errorf("%q, %v", second, err)
	}
	m, err := a.cluster.last(ctx, "doc.ring")
	if err != nil || bytes.Contains(m.Data, []byte("key")) {
		t.Errorf("NATS has %q, %v", m.Data, err)
	}
	if _, err := a.cluster.put(ctx, "doc.token", m.Data, 0); err != nil {
		t.Fatal(err)
	}
	if doc, err := b.Documents().Create(ctx, "token", nil); err == nil || !strings.Contains(err.Error(), "document token: ") {
		t.Errorf("a document in another's place: %q, %v", doc, err)
	}

	// Other nodes learn of a replacement.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	heard, done := make(chan string, 10), make(chan error)
	go func() { done <- b.Documents().Follow(ctx, "ring", func(doc []byte) { heard <- string(doc) }) }()
	if doc := <-heard; doc != "the key" {
		t.Errorf("%q", doc)
	}
	if err := a.Documents().Replace(ctx, "ring", []byte("the next")); err != nil {
		t.Error(err)
	}
	if doc := <-heard; doc != "the next" {
		t.Errorf("%q", doc)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}

	d := a.Documents()
	sealed := d.Seal("alice", "clients", []byte("secret"))
	if bytes.Equal(sealed, d.Seal("alice", "clients", []byte("secret"))) {
		t.Error("two seals of one document are equal")
	}
	if doc, err := b.Documents().Open("alice", "clients", sealed); string(doc) != "secret" || err != nil {
		t.Errorf("%q, %v", doc, err)
	}
	for _, x := range []struct {
		user   spec.UserID
		name   string
		sealed []byte
	}{
		{"bob", "clients", sealed},
		{"alice", "pairings", sealed},
		{"", "clients", sealed},
		{"alice", "clients", sealed[:len(sealed)-1]},
		{"alice", "clients", nil},
	} {
		if doc, err := d.Open(x.user, x.name, x.sealed); err == nil {
			t.Errorf("%s %s: %q", x.user, x.name, doc)
		}
	}
}

// If NATS refuses to store a document, the caller gets its error at once; the node does not retry in
// a tight loop.
func TestDocumentsRefused(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a := ready(t, c.Conn(t), "a")
	full := a.cluster.stream.CachedInfo().Config
	full.MaxBytes = 1
	if _, err := a.cluster.js.UpdateStream(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := a.Documents().Create(ctx, "ring", []byte("the key"))
	for what, err := range map[string]error{"created": err, "replaced": a.Documents().Replace(ctx, "ring", []byte("the key"))} {
		if _, ok := errors.AsType[*jetstream.APIError](err); !ok || ctx.Err() != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// While NATS does not answer, a document waits; it is stored when NATS is back. A caller that gives
// up gets the reason.
func TestDocumentsUnanswered(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a := ready(t, c.Conn(t), "a")
	config := a.cluster.stream.CachedInfo().Config
	misrouted := config
	misrouted.Subjects = []string{"nowhere.>"}
	if _, err := a.cluster.js.UpdateStream(t.Context(), misrouted); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*writeRest)
	defer cancel()
	if err := a.Documents().Replace(ctx, "ring", []byte("the key")); !errors.Is(err, jetstream.ErrNoStreamResponse) {
		t.Error(err)
	}
	written := make(chan error, 1)
	go func() { written <- a.Documents().Replace(t.Context(), "ring", []byte("the key")) }()
	if _, err := a.cluster.js.UpdateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}
