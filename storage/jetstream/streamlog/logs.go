// Package streamlog stores a log for each user, the record, in a stream of NATS JetStream. It is made
// for more data than a user's state has, and removes the oldest batches.
//
// A user's log is on a subject of its own, PREFIX.HASH of the user. Each message is a batch, and
// was published with the sequence of the message before it as Nats-Expected-Last-Subject-Sequence.
// So when two processes write at once, one of them is refused and continues behind the other's
// message, unless that is its own message whose acknowledgement was lost. The epoch fences no writer: a
// node that another has replaced still writes its remaining lines. PREFIX.HASH.beside has attachments of
// the batches, which are seldom read.
//
// Batches form pieces. Each batch has the sequence of its piece's first batch, which has the sequence of
// the previous piece's first batch. So a reader can go from the end piece by piece, each small enough
// for memory, and a writer can remove whole pieces from the front.
package streamlog

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/spec"
	"tabhub/storage/jetstream/streams"
)

const (
	// logFormat is the version of what is in a stream of logs.
	logFormat = 1

	// DefaultPieceSize is the default of Options.PieceSize.
	DefaultPieceSize = 1 << 20
	// maxPieceAge bounds how long a batch outlives its retention, as pieces are removed whole.
	maxPieceAge = 24 * time.Hour
)

// Options configure Logs.
type Options struct {
	Stream   string // its name
	Subject  string // what the subjects of its logs begin with
	Replicas int    // 0: 1
	// MaxAge is how long a batch stays in a log without a writer. A writer removes old batches
	// earlier, see Log.Remove. 0: for ever.
	MaxAge time.Duration
	// PieceSize is how many bytes fill a piece. 0: DefaultPieceSize.
	PieceSize int64
}

// Logs is a stream with a log for each user. It is safe for concurrent use, and needs no Close.
type Logs struct {
	nc     *nats.Conn
	js     jetstream.JetStream
	stream jetstream.Stream
	o      Options
}

// Open makes the stream, or checks it. The error is one of streams.Open.
func Open(ctx context.Context, nc *nats.Conn, o Options) (*Logs, error) {
	o.PieceSize = cmp.Or(o.PieceSize, DefaultPieceSize)
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	l := &Logs{nc: nc, js: js, o: o}
	l.stream, err = streams.Open(ctx, js, logFormat, jetstream.StreamConfig{
		Name: o.Stream, Subjects: []string{o.Subject + ".>"}, Replicas: o.Replicas, MaxAge: o.MaxAge,
		Storage: jetstream.FileStorage, AllowDirect: true, // no compression: a server 2.15 that was killed may not read what it had compressed
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// User returns a user's log. epoch returns the epoch under which the caller owns the user, and blocks
// until that is known; nil: the log is read-only.
func (l *Logs) User(user spec.UserID, epoch func(context.Context) (spec.Epoch, error)) *Log {
	sum := sha256.Sum256([]byte(user))
	subject := l.o.Subject + "." + hex.EncodeToString(sum[:16])
	return &Log{Logs: l, user: user, lines: subject, beside: subject + ".beside", epoch: epoch}
}
