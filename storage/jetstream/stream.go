package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/storage"
	"tabhub/storage/jetstream/streams"
)

// streamName is the stream of all users' journals.
const streamName = "TABHUB_USERS"

// formatVersion is in the stream's metadata, and the first byte of each payload.
const formatVersion = 1

// ErrStream: the stream has a configuration that tabhub cannot use.
var ErrStream = errors.New("the stream " + streamName + " cannot store users")

// HasUsers reports whether NATS has journals of users. It waits for servers that elect a leader.
func HasUsers(ctx context.Context, nc *nats.Conn) (has bool, err error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return false, err
	}
	err = streams.Patiently(ctx, func(ctx context.Context) error {
		st, err := js.Stream(ctx, streamName)
		has = err == nil && st.CachedInfo().State.Msgs > 0
		return err
	})
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		err = nil
	}
	return has, err
}

// openStream makes the stream, or checks the existing one.
func (s *Store) openStream(ctx context.Context) error {
	if err := streams.Check(ctx, s.js); err != nil {
		return err
	}
	st, err := streams.Open(ctx, s.js, formatVersion, jetstream.StreamConfig{
		Name:        streamName,
		Description: "tabhub: the state of each user",
		Subjects:    []string{subjectPrefix + "*"},
		Storage:     jetstream.FileStorage,
		Replicas:    s.opts.Replicas,
		AllowDirect: true,
		DenyDelete:  true,
	})
	if err != nil {
		return err
	}
	s.stream = st
	c := st.CachedInfo().Config
	if c.Storage != jetstream.FileStorage || c.Retention != jetstream.LimitsPolicy || c.MaxMsgs > 0 || c.MaxMsgsPerSubject > 0 || !c.AllowDirect {
		return fmt.Errorf("%w: it must keep all messages in files and allow direct gets; set it back with `nats stream edit`", ErrStream)
	}
	if c.MaxBytes > 0 && c.Discard != jetstream.DiscardNew { // else the oldest users would be deleted
		return fmt.Errorf("%w: with a limit of bytes it must discard new messages, not old ones; set that with `nats stream edit %s --discard new`", ErrStream, streamName)
	}
	return nil
}

// explain turns a missing stream into ErrLost.
func explain(err error) error {
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("%w: there is none", ErrLost)
	}
	return err
}

// The server's codes that temporary distinguishes.
const (
	codeNotLeader     jetstream.ErrorCode = 10009
	codeNoResources   jetstream.ErrorCode = 10023
	codeNotStored     jetstream.ErrorCode = 10077 // for the reason in the description
	codeStreamOffline jetstream.ErrorCode = 10118
)

// tooManyBytes is the server's description of a stream at its limit. Only a person can raise that.
const tooManyBytes = "maximum bytes exceeded"

// final are errors after which another try is useless.
var final = []error{
	ErrLost, storage.ErrNewer, storage.ErrCorrupt,
	nats.ErrConnectionClosed, nats.ErrMaxPayload,
}

// temporary reports whether a request that failed may succeed later, as while servers elect a leader, or
// after a network error.
func temporary(err error) bool {
	if e, ok := errors.AsType[*jetstream.APIError](err); ok {
		switch e.ErrorCode {
		case codeNoResources:
			return false
		case codeNotStored:
			return e.Description != tooManyBytes // other reasons pass, such as a server that shuts down
		case codeNotLeader, codeStreamOffline, jetstream.JSErrCodeStreamWrongLastSequenceConstant: // the server is storing an earlier message
			return true
		}
		return e.Code == 503 || e.Code == 429
	}
	if _, ok := errors.AsType[*supersededError](err); ok {
		return false
	}
	return !slices.ContainsFunc(final, func(f error) bool { return errors.Is(err, f) })
}
