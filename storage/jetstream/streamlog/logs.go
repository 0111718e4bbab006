// Package streamlog keeps a log for each user in a stream of NATS JetStream, for more data than a
// user's state has, of which the oldest is removed: the record.
//
// A user's log is on a subject of its own, PREFIX.HASH of the user. Each message is a batch, and
// was published with the sequence of the message before it as Nats-Expected-Last-Subject-Sequence.
// So of two who write at once one finds out, and goes on behind the other's message, unless that is
// its own, of which it did not hear that it had landed. The epoch of who owns the user keeps nobody
// from writing: what a node has not written before it was replaced it writes late. On
// PREFIX.HASH.beside is what belongs to the batches, and is read seldom. What is written is signed
// with a key of the cluster, a batch with the sequence of the one before it.
//
// Batches are in pieces. Each has the sequence of the first batch of its piece, and that one has the
// sequence of the first batch of the piece before. So the log can be read from its end, by pieces
// that memory holds, and be cut off between two of them.
package streamlog

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/spec"
	"tabhub/storage/jetstream/internal/sign"
)

const (
	// logFormat is the version of what is in a stream of logs.
	logFormat    = "1"
	logFormatKey = "tabhub-format"

	// DefaultPieceSize is that of Options.
	DefaultPieceSize = 1 << 20
	// maxPieceAge keeps what is kept for days from being kept for longer.
	maxPieceAge = 24 * time.Hour
)

// Options configure Logs.
type Options struct {
	Stream   string // its name
	Subject  string // what the subjects of its logs begin with
	Replicas int    // 0: 1
	// MaxAge is how long a batch stays in a log that nobody writes any more. Who writes one
	// removes what is old earlier, see Log.Remove. 0: for ever.
	MaxAge time.Duration
	// PieceSize is of how many bytes a piece is full. 0: DefaultPieceSize.
	PieceSize int64
	// Key signs what is written, and is the same on all nodes. Logs with a batch that was not signed
	// with it are storage.ErrCorrupt. Nil, for tests: nothing is signed or checked.
	Key []byte
}

// Logs is a stream with a log for each user. It is safe for concurrent use, and owns nothing that
// is to be closed.
type Logs struct {
	nc     *nats.Conn
	js     jetstream.JetStream
	stream jetstream.Stream
	o      Options
	signer sign.Signer
}

// Open makes the stream, or checks it. It fails if the stream was made by a newer version.
func Open(ctx context.Context, nc *nats.Conn, o Options) (*Logs, error) {
	o.Replicas, o.PieceSize = cmp.Or(o.Replicas, 1), cmp.Or(o.PieceSize, DefaultPieceSize)
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	l := &Logs{nc: nc, js: js, o: o, signer: sign.Signer{Key: o.Key, Headers: signedHeaders}}
	l.stream, err = l.open(ctx)
	if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrJetStreamNotEnabled) {
		err = errors.New("the NATS servers have no JetStream; start them with it (-js)")
	}
	if err != nil {
		return nil, fmt.Errorf("open the stream %s: %w", o.Stream, err)
	}
	return l, nil
}

func (l *Logs) open(ctx context.Context) (jetstream.Stream, error) {
	wanted := jetstream.StreamConfig{
		Name: l.o.Stream, Subjects: []string{l.o.Subject + ".>"}, Replicas: l.o.Replicas, MaxAge: l.o.MaxAge,
		Storage: jetstream.FileStorage, Compression: jetstream.S2Compression, AllowDirect: true,
		Metadata: map[string]string{logFormatKey: logFormat},
	}
	there, err := l.js.Stream(ctx, l.o.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return l.js.CreateStream(ctx, wanted) // one that another has just made is the same
	}
	if err != nil {
		return nil, err
	}
	is := there.CachedInfo().Config
	if format := is.Metadata[logFormatKey]; format != logFormat {
		return nil, fmt.Errorf("it is of format %q, and this version of tabhub knows %s: use the version that made it, or a newer one", format, logFormat)
	}
	if is.MaxAge == wanted.MaxAge && is.Replicas >= wanted.Replicas {
		return there, nil
	}
	is.MaxAge, is.Replicas = wanted.MaxAge, max(is.Replicas, wanted.Replicas)
	return l.js.UpdateStream(ctx, is)
}

// User returns a user's log. epoch returns the epoch that the caller owns the user with, and
// blocks until that is known; nil: the log is only read.
func (l *Logs) User(user spec.UserID, epoch func(context.Context) (spec.Epoch, error)) *Log {
	sum := sha256.Sum256([]byte(user))
	subject := l.o.Subject + "." + hex.EncodeToString(sum[:16])
	return &Log{Logs: l, user: user, lines: subject, beside: subject + ".beside", epoch: epoch}
}
