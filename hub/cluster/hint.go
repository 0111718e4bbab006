package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tabhub/hub/trust/auth"
	"tabhub/spec"
	"tabhub/storage/jetstream/streams"
)

const (
	// hintTimeout is how long NATS may take to answer about one credential.
	hintTimeout = 5 * time.Second
	// hintSlack is how much longer than its credential a hint stays. In that time the user's hub
	// can still answer that the credential has expired.
	hintSlack = time.Minute
	// hintsKept bounds the hints that a node caches. At the bound it drops them all and asks NATS again.
	hintsKept = 32768
	// unknownFor is how long a node remembers that NATS has no hint of a credential.
	unknownFor = time.Second
	// How many look-ups a node has in flight: at any server with a replica, and at the leader, which
	// it asks only for what a replica does not have.
	copyLookups, leaderLookups = 64, 8
)

// Hints lead from the id of a credential to its user. They prove nothing: the user's hub checks the
// credential. The caller chooses the id, which must be unique. NATS has a hash of the id, and the
// user sealed. It is safe for concurrent use.
type Hints struct {
	bucket    *bucket
	documents *Documents
	held      func() bool // the node's lease
	log       *slog.Logger

	ofCopies, ofLeader     chan struct{} // look-ups in flight
	read, unknown, silence atomic.Int64

	mu      sync.Mutex
	known   map[string]spec.UserID // by key; a hint never changes
	missing map[string]time.Time   // when NATS had no hint, by key
}

func newHints(b *bucket, d *Documents, held func() bool, log *slog.Logger) *Hints {
	return &Hints{
		bucket: b, documents: d, held: held, log: log,
		ofCopies: make(chan struct{}, copyLookups), ofLeader: make(chan struct{}, leaderLookups),
		known: make(map[string]spec.UserID), missing: make(map[string]time.Time),
	}
}

// hintStream sets the options that only the bucket of hints has: hints may expire, and replicas answer.
func hintStream(c *jetstream.StreamConfig) {
	c.AllowMsgTTL, c.AllowDirect = true, true
}

func hintKey(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// Hint stores that a credential is a user's, until the credential expires; a zero until means never.
// It blocks until NATS has the hint, and refuses a credential of another user. If it fails, a hint
// may be stored; it does no harm.
func (h *Hints) Hint(id string, user spec.UserID, until time.Time) error {
	ctx, cancel := context.WithTimeout(context.Background(), hintTimeout)
	defer cancel()
	key := hintKey(id)
	value := h.documents.Seal("", hintDocument(key), []byte(user))
	var opts []jetstream.PublishOpt
	if !until.IsZero() {
		life := max(0, time.Until(until)) + hintSlack
		opts = append(opts, jetstream.WithMsgTTL(life.Round(time.Second)))
	}
	for revision := uint64(0); ; {
		_, err := h.bucket.put(ctx, key, value, revision, opts...)
		if err == nil {
			h.remember(key, user)
			return nil
		}
		if !errors.Is(err, errRevision) && !unanswered(err) {
			return fmt.Errorf("store the user of a credential: %w", err)
		}
		owner, at, err := h.fromLeader(ctx, key)
		switch {
		case err != nil:
			h.silence.Add(1)
			return fmt.Errorf("%w: %w", auth.ErrSilent, err)
		case owner != "" && owner != user:
			return errors.New("the credential is another user's")
		case at == revision: // the last write had no answer; NATS may still store it
			select {
			case <-time.After(streams.AttemptTimeout / 20):
			case <-ctx.Done():
			}
		}
		revision = at
	}
}

func hintDocument(key string) string { return "hint." + key }

// Forget deletes the hint of a credential. It blocks for hintTimeout at most. A node with the hint in
// its cache still leads to the user, whose hub refuses the credential.
func (h *Hints) Forget(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), hintTimeout)
	defer cancel()
	key := hintKey(id)
	h.mu.Lock()
	delete(h.known, key)
	h.mu.Unlock()
	err := streams.Patiently(ctx, func(ctx context.Context) error {
		return h.bucket.stream.Purge(ctx, jetstream.WithPurgeSubject(h.bucket.subject(key)))
	})
	if err != nil {
		h.log.Warn("NATS keeps the hint of a credential that has ended, which leads nowhere", "err", err)
	}
}

// UserOf returns the user of a credential, "" if it has none. The error is auth.ErrSilent if NATS does
// not answer. It blocks for hintTimeout at most.
func (h *Hints) UserOf(ctx context.Context, id string) (spec.UserID, error) {
	key := hintKey(id)
	if user, ok := h.recall(key); ok {
		return user, nil
	}
	ctx, cancel := context.WithTimeout(ctx, hintTimeout)
	defer cancel()
	h.read.Add(1)
	user, err := h.fromCopy(ctx, key)
	if user == "" && ctx.Err() == nil { // the replica may lag behind the leader
		user, _, err = h.fromLeader(ctx, key)
		if user == "" && err == nil && !h.held() {
			err = errors.New("it may be cut off from its other servers") // "no user" would make a browser drop its pairing
		}
	}
	switch {
	case err != nil:
		h.silence.Add(1)
		return "", fmt.Errorf("%w: %w", auth.ErrSilent, err)
	case user == "":
		h.unknown.Add(1)
	}
	h.remember(key, user)
	return user, nil
}

// fromCopy returns what any server has.
func (h *Hints) fromCopy(ctx context.Context, key string) (spec.UserID, error) {
	if err := enter(ctx, h.ofCopies); err != nil {
		return "", err
	}
	defer func() { <-h.ofCopies }()
	ctx, cancel := context.WithTimeout(ctx, streams.AttemptTimeout)
	defer cancel()
	m, err := h.bucket.stream.GetLastMsgForSubject(ctx, h.bucket.subject(key))
	if err != nil {
		return "", err
	}
	return h.open(key, m.Data)
}

// fromLeader returns what the leader has, and its revision. It waits for a leader until ctx ends.
func (h *Hints) fromLeader(ctx context.Context, key string) (user spec.UserID, revision uint64, err error) {
	if err := enter(ctx, h.ofLeader); err != nil {
		return "", 0, err
	}
	defer func() { <-h.ofLeader }()
	m, err := h.bucket.last(ctx, key)
	if err != nil || len(m.Data) == 0 {
		return "", m.Sequence, err
	}
	user, err = h.open(key, m.Data)
	return user, m.Sequence, err
}

// enter waits for a free slot in a channel.
func enter(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("too many look-ups are in flight: %w", context.Cause(ctx))
	}
}

func (h *Hints) open(key string, sealed []byte) (spec.UserID, error) {
	user, err := h.documents.Open("", hintDocument(key), sealed)
	return spec.UserID(user), err
}

// recall answers from the node's cache.
func (h *Hints) recall(key string) (user spec.UserID, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if user, ok := h.known[key]; ok {
		return user, true
	}
	since, ok := h.missing[key]
	return "", ok && time.Since(since) < unknownFor
}

func (h *Hints) remember(key string, user spec.UserID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if user == "" {
		if len(h.missing) >= hintsKept {
			clear(h.missing)
		}
		h.missing[key] = time.Now()
		return
	}
	delete(h.missing, key)
	if len(h.known) >= hintsKept {
		clear(h.known)
	}
	h.known[key] = user
}
