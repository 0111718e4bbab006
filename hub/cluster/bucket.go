package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/storage/jetstream/streams"
)

const (
	nodesBucket   = "TABHUB_NODES"   // the members, by name
	clusterBucket = "TABHUB_CLUSTER" // the cluster's identity and the Documents
	hintsBucket   = "TABHUB_HINTS"   // the users of credentials

	format = 1 // the version of what is in the buckets
)

// bucket is a key-value bucket of NATS. Only Hints.fromCopy reads from a replica, which may lag;
// all other reads go to the leader.
type bucket struct {
	js     jetstream.JetStream
	stream jetstream.Stream
	prefix string // of the subjects of its keys
}

// openBucket opens a bucket, and makes it if there is none. It raises the number of replicas, and
// never lowers it. more, if not nil, sets further options of a new bucket.
func openBucket(ctx context.Context, js jetstream.JetStream, name string, replicas int, more func(*jetstream.StreamConfig)) (*bucket, error) {
	config := jetstream.StreamConfig{
		Name:              "KV_" + name,
		Subjects:          []string{"$KV." + name + ".>"},
		Description:       "tabhub",
		MaxMsgsPerSubject: 1,
		Replicas:          replicas,
		Discard:           jetstream.DiscardNew,
		AllowRollup:       true,
		DenyDelete:        true,
	}
	if more != nil {
		more(&config)
	}
	stream, err := streams.Open(ctx, js, format, config)
	if err != nil {
		return nil, err
	}
	return &bucket{js, stream, "$KV." + name + "."}, nil
}

// put writes a key if its last revision is the given one (0: there is none), and returns the new
// revision. The error is errRevision if it is another; after any other error the key may have been
// written.
func (b *bucket) put(ctx context.Context, key string, value []byte, revision uint64, opts ...jetstream.PublishOpt) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, streams.AttemptTimeout)
	defer cancel()
	m := &nats.Msg{Subject: b.subject(key), Data: value}
	opts = append(opts, jetstream.WithExpectLastSequencePerSubject(revision), jetstream.WithRetryAttempts(0))
	for {
		ack, err := b.js.PublishMsg(ctx, m, opts...)
		if err == nil {
			return ack.Sequence, nil
		}
		switch e, _ := errors.AsType[*jetstream.APIError](err); {
		case e == nil:
			return 0, err
		case e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence:
			return 0, errRevision
		case e.ErrorCode != jetstream.JSErrCodeStreamWrongLastSequenceConstant:
			return 0, err
		}
		// The servers are still storing an earlier message, which may fail.
		select {
		case <-time.After(busyRest):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// busyRest is how long put waits while the servers store an earlier message.
const busyRest = 5 * time.Millisecond

// unanswered reports whether a put with this error may have written the key, as while the servers elect
// a leader.
func unanswered(err error) bool {
	e, ok := errors.AsType[*jetstream.APIError](err)
	return !ok || e.ErrorCode == codeNotAvailable
}

// codeNotAvailable is the server's code for a JetStream without a leader.
const codeNotAvailable jetstream.ErrorCode = 10008

var errRevision = errors.New("the key has been written by another")

// Errors of a cluster's secret and its buckets, besides those of streams.Open.
var (
	ErrSecret    = errors.New("the cluster has another secret")
	ErrForgotten = errors.New("NATS has users of a cluster, and not what its nodes share")
)

// last returns the leader's last message of a key; its sequence is 0 if there is none. It waits for a
// leader until ctx ends.
func (b *bucket) last(ctx context.Context, key string) (m streams.Message, err error) {
	err = streams.Patiently(ctx, func(ctx context.Context) (err error) {
		m, err = streams.Leader(ctx, b.js.Conn(), b.stream.CachedInfo().Config.Name, streams.Get{LastFor: b.subject(key)})
		return err
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		err = nil
	}
	return m, err
}

func (b *bucket) subject(key string) string { return b.prefix + key }
