// Package streams makes and checks the streams of NATS JetStream that the nodes of a cluster share,
// asks their leaders for messages, and says in one sentence what is wrong with a NATS that cannot keep
// them.
package streams

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/storage"
)

// Why NATS cannot be used, beside storage.ErrNewer.
var (
	// ErrNoJetStream: the servers do not offer JetStream.
	ErrNoJetStream = errors.New("NATS runs without JetStream: start nats-server with -js, or enable JetStream for the account")
	// ErrOldServer: the servers lack functions that tabhub needs.
	ErrOldServer = errors.New("the NATS servers are too old")
	// ErrReplicas: there are fewer servers than replicas.
	ErrReplicas = errors.New("JetStream has too few servers")
	// ErrForeign: another program made the stream.
	ErrForeign = errors.New("was not made by tabhub")
)

// FormatKey is the key in a stream's metadata for the version of its contents.
const FormatKey = "tabhub-format"

// The server's codes for fewer servers than replicas.
const (
	codeNoPeers  jetstream.ErrorCode = 10005 // or they are not there yet
	codeReplicas jetstream.ErrorCode = 10074
)

// Check reports whether the servers have the JetStream that the streams need. It waits for a leader
// until ctx ends. The error is ErrNoJetStream or ErrOldServer, or says that no server answers.
func Check(ctx context.Context, js jetstream.JetStream) error {
	var info *jetstream.AccountInfo
	err := Patiently(ctx, func(ctx context.Context) (err error) {
		info, err = js.AccountInfo(ctx)
		return err
	})
	if err != nil {
		return Explain(err, 0)
	}
	if info.API.Level < 1 { // no batches of direct gets, no messages that end by themselves
		return fmt.Errorf("%w: this one is version %s; use 2.11 or newer", ErrOldServer, js.Conn().ConnectedServerVersion())
	}
	return nil
}

// Open returns the stream with c's name, and makes it like c if there is none. One that is there
// must be of this format, or an older one; it gets c's replicas if it has less, its MaxAge and its Compression.
// Open waits for a leader until ctx ends. The error is one of Check's, ErrReplicas, ErrForeign or
// storage.ErrNewer.
func Open(ctx context.Context, js jetstream.JetStream, format int, c jetstream.StreamConfig) (jetstream.Stream, error) {
	c.Metadata = map[string]string{FormatKey: strconv.Itoa(format)}
	c.Replicas = max(c.Replicas, 1)
	var stream jetstream.Stream
	err := Patiently(ctx, func(ctx context.Context) (err error) {
		stream, err = js.Stream(ctx, c.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			if stream, err = js.CreateStream(ctx, c); errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
				stream, err = js.Stream(ctx, c.Name) // another node was faster
			}
		}
		return err
	})
	if err != nil {
		return nil, Explain(err, c.Replicas)
	}
	has := stream.CachedInfo().Config
	if f, err := strconv.Atoi(has.Metadata[FormatKey]); err != nil || f < 1 {
		return nil, fmt.Errorf("the NATS stream %s %w: give this cluster a NATS account of its own", c.Name, ErrForeign)
	} else if f > format {
		return nil, fmt.Errorf("%w: the NATS stream %s has format %d, this program knows %d: update this node", storage.ErrNewer, c.Name, f, format)
	}
	if has.Replicas >= c.Replicas && has.MaxAge == c.MaxAge && has.Compression == c.Compression {
		return stream, nil
	}
	has.Replicas, has.MaxAge, has.Compression = max(has.Replicas, c.Replicas), c.MaxAge, c.Compression
	attempt, cancel := context.WithTimeout(ctx, AttemptTimeout) // the servers are there: what they say now is true
	defer cancel()
	if stream, err = js.UpdateStream(attempt, has); err != nil {
		return nil, Explain(err, c.Replicas)
	}
	return stream, nil
}

// Explain says what an error of JetStream means to a person who starts a node with so many replicas.
func Explain(err error, replicas int) error {
	if IsOff(err) || errors.Is(err, nats.ErrNoResponders) {
		return ErrNoJetStream
	}
	if e, ok := errors.AsType[*jetstream.APIError](err); ok && (e.ErrorCode == codeReplicas || e.ErrorCode == codeNoPeers) {
		return fmt.Errorf("%w for %d replicas: start more nats-servers with JetStream and space in one cluster, or use one that is in no cluster (%s)", ErrReplicas, replicas, e.Description)
	}
	if isSilence(err) {
		return errors.New("JetStream does not answer: it may be electing a leader, or the NATS user may not use $JS.API.>, $KV.>, tabhub.> and _INBOX.>")
	}
	return fmt.Errorf("JetStream: %w", err)
}

// AttemptTimeout is how long Patiently waits for an answer until it asks again: servers that have
// no leader yet leave requests unanswered.
const AttemptTimeout = 2 * time.Second

// Patiently calls f until it has an answer or ctx ends. An earlier attempt may have had its effect.
// While servers start, the leader may be up before the servers that it needs.
func Patiently(ctx context.Context, f func(context.Context) error) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, AttemptTimeout)
		err := f(attempt)
		cancel()
		e, _ := errors.AsType[*jetstream.APIError](err)
		early := e != nil && (e.Code == 503 || e.ErrorCode == codeNoPeers) && !IsOff(err)
		if ctx.Err() != nil || !early && !isSilence(err) {
			return err
		}
		select {
		case <-time.After(AttemptTimeout / 20):
		case <-ctx.Done():
			return err
		}
	}
}

// IsOff reports whether err says that there is no JetStream.
func IsOff(err error) bool {
	return errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount)
}

// isSilence reports whether err means that no server answered.
func isSilence(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout)
}
