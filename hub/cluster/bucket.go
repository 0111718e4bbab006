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
	clusterBucket = "TABHUB_CLUSTER" // what the nodes share for good
	hintsBucket   = "TABHUB_HINTS"   // whose credentials are

	// format is the version of what the buckets hold.
	format = 1
)

// bucket is a key-value bucket of NATS. Reads go to the leader, none to a replica that may lag, but
// for Hints.fromCopy.
type bucket struct {
	js     jetstream.JetStream
	stream jetstream.Stream
	prefix string // of the subjects of its keys
}

// openBucket opens a bucket, and makes it if it is not there. It raises the number of replicas,
// and never lowers it. More, if not nil, is what a new one has besides.
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

// put writes a key if its last revision is the given one (0: there is none), and returns the
// new revision. errRevision says that it is not; any other error leaves open what happened.
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
		// One that another sent, or this node before, is being stored, or comes to nothing.
		select {
		case <-time.After(busyRest):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// busyRest is until the servers are asked again whether they have stored what was sent before.
const busyRest = 5 * time.Millisecond

// unanswered reports whether the error of a put leaves open what has happened, as while the servers
// elect a leader.
func unanswered(err error) bool {
	e, ok := errors.AsType[*jetstream.APIError](err)
	return !ok || e.ErrorCode == codeNotAvailable
}

// codeNotAvailable is the server's for a JetStream without a leader.
const codeNotAvailable jetstream.ErrorCode = 10008

var errRevision = errors.New("the key has been written by another")

// Reasons for which a cluster's secret or its buckets cannot be used, beside those of streams.Open.
var (
	ErrSecret    = errors.New("the cluster has another secret")
	ErrForgotten = errors.New("NATS has users of a cluster, and not what its nodes share")
)

// last returns what the leader has of a key. Without any, the entry's sequence is 0. It waits for
// a leader until ctx ends.
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
