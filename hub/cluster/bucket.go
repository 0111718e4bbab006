package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	nodesBucket   = "TABHUB_NODES"   // the members, by name
	clusterBucket = "TABHUB_CLUSTER" // what the nodes share for good
	hintsBucket   = "TABHUB_HINTS"   // whose credentials are

	// format is the version of what the buckets hold, in the metadata of their streams.
	format    = 1
	formatKey = "tabhub-format"
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
		Metadata:          map[string]string{formatKey: strconv.Itoa(format)},
	}
	if more != nil {
		more(&config)
	}
	var stream jetstream.Stream
	err := patiently(ctx, func(ctx context.Context) (err error) {
		stream, err = js.Stream(ctx, config.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			if stream, err = js.CreateStream(ctx, config); errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
				stream, err = js.Stream(ctx, config.Name) // another node was faster
			}
		}
		return err
	})
	if err != nil {
		return nil, explain(err, replicas)
	}
	has := stream.CachedInfo().Config
	if f, err := strconv.Atoi(has.Metadata[formatKey]); err != nil {
		return nil, fmt.Errorf("the NATS bucket %s was not made by tabhub: give this cluster a NATS account of its own", name)
	} else if f > format {
		return nil, fmt.Errorf("%w: the bucket %s has format %d, this program knows %d: update this node", ErrNewer, name, f, format)
	}
	if config.AllowMsgTTL && !has.AllowMsgTTL {
		return nil, errors.New("the NATS servers are too old: messages that end by themselves need nats-server 2.11 or newer")
	}
	if has.Replicas < replicas {
		has.Replicas = replicas
		if _, err := js.UpdateStream(ctx, has); err != nil {
			return nil, explain(err, replicas)
		}
	}
	return &bucket{js, stream, "$KV." + name + "."}, nil
}

// attemptTimeout is how long an answer of JetStream is waited for that is asked for again then:
// servers that have no leader yet leave requests unanswered.
const attemptTimeout = 2 * time.Second

// Error codes of nats-server.
const (
	noPeers   = 10005 // of the servers that keep a stream some are not there, or not yet
	noCluster = 10074
)

// patiently calls f, which does nothing twice, until it has an answer, or ctx ends. While servers
// start, the leader may be there before those that it needs.
func patiently(ctx context.Context, f func(context.Context) error) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, attemptTimeout)
		err := f(attempt)
		cancel()
		e, _ := errors.AsType[*jetstream.APIError](err)
		off := errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount)
		silent := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout)
		if ctx.Err() != nil || off || !silent && (e == nil || e.Code != 503 && e.ErrorCode != noPeers) {
			return err
		}
		select {
		case <-time.After(attemptTimeout / 20):
		case <-ctx.Done():
			return err
		}
	}
}

// put writes a key if its last revision is the given one (0: there is none), and returns the
// new revision. errRevision says that it is not; any other error leaves open what happened.
func (b *bucket) put(ctx context.Context, key string, value []byte, revision uint64, opts ...jetstream.PublishOpt) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	m := &nats.Msg{Subject: b.subject(key), Data: value}
	opts = append(opts, jetstream.WithExpectLastSequencePerSubject(revision), jetstream.WithRetryAttempts(0))
	ack, err := b.js.PublishMsg(ctx, m, opts...)
	if e, ok := errors.AsType[*jetstream.APIError](err); ok && e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return 0, errRevision
	}
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

var errRevision = errors.New("the key has been written by another")

// Reasons for which Join refuses, beside those of the options.
var (
	ErrNewer       = errors.New("NATS holds a cluster of a newer tabhub")
	ErrNoJetStream = errors.New("NATS runs without JetStream: start nats-server with -js, or enable JetStream for the account")
	ErrReplicas    = errors.New("JetStream has too few servers")
	ErrSecret      = errors.New("the cluster has another secret")
	ErrNameInUse   = errors.New("the name is in use")
	ErrClock       = errors.New("the clocks differ")
	ErrUnreachable = errors.New("the node cannot be reached")
)

// explain says what an error of JetStream means for who starts a node.
func explain(err error, replicas int) error {
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) || errors.Is(err, nats.ErrNoResponders) {
		return ErrNoJetStream
	}
	if e, ok := errors.AsType[*jetstream.APIError](err); ok {
		if e.ErrorCode == noCluster || e.ErrorCode == noPeers && strings.Contains(e.Description, "peer") {
			return fmt.Errorf("%w for %d replicas: start more nats-servers with JetStream in one cluster, or ask for fewer replicas (%s)", ErrReplicas, replicas, e.Description)
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) {
		return errors.New("JetStream does not answer: it may be electing a leader, or the NATS user may not use $JS.API.>, $KV.>, tabhub.> and _INBOX.>")
	}
	return fmt.Errorf("JetStream: %w", err)
}

// last returns what the leader has of a key. Without any, the entry's sequence is 0. It waits for
// a leader until ctx ends.
func (b *bucket) last(ctx context.Context, key string) (m *jetstream.RawStreamMsg, err error) {
	err = patiently(ctx, func(ctx context.Context) error {
		m, err = b.stream.GetLastMsgForSubject(ctx, b.subject(key))
		return err
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return &jetstream.RawStreamMsg{}, nil
	}
	return m, err
}

func (b *bucket) subject(key string) string { return b.prefix + key }
