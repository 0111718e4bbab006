package jetstream

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"tabhub/spec"
)

const (
	// logFormat is the version of what is in a stream of logs.
	logFormat    = "1"
	logFormatKey = "tabhub-format"

	// DefaultPieceSize is that of LogOptions.
	DefaultPieceSize = 1 << 20
	// maxPieceAge keeps what is kept for days from being kept for longer.
	maxPieceAge = 24 * time.Hour
)

// LogOptions configure Logs.
type LogOptions struct {
	Stream   string // its name
	Subject  string // what the subjects of its logs begin with
	Replicas int    // 0: 1
	// MaxAge is how long a batch stays in a log that nobody writes any more. Who writes one
	// removes what is old earlier, see Log.Remove. 0: for ever.
	MaxAge time.Duration
	// PieceSize is of how many bytes a piece is full. 0: DefaultPieceSize.
	PieceSize int64
}

// Logs is a stream with a log for each user. It is safe for concurrent use, and owns nothing that
// is to be closed.
type Logs struct {
	nc     *nats.Conn
	js     natsjs.JetStream
	stream natsjs.Stream
	o      LogOptions
}

// OpenLogs makes the stream, or checks it. It fails if the stream was made by a newer version.
func OpenLogs(ctx context.Context, nc *nats.Conn, o LogOptions) (*Logs, error) {
	o.Replicas, o.PieceSize = cmp.Or(o.Replicas, 1), cmp.Or(o.PieceSize, DefaultPieceSize)
	js, err := natsjs.New(nc)
	if err != nil {
		return nil, err
	}
	l := &Logs{nc: nc, js: js, o: o}
	if l.stream, err = l.open(ctx); err != nil {
		return nil, fmt.Errorf("open the stream %s: %w", o.Stream, err)
	}
	return l, nil
}

func (l *Logs) open(ctx context.Context) (natsjs.Stream, error) {
	wanted := natsjs.StreamConfig{
		Name: l.o.Stream, Subjects: []string{l.o.Subject + ".>"}, Replicas: l.o.Replicas, MaxAge: l.o.MaxAge,
		Storage: natsjs.FileStorage, Compression: natsjs.S2Compression, AllowDirect: true,
		Metadata: map[string]string{logFormatKey: logFormat},
	}
	there, err := l.js.Stream(ctx, l.o.Stream)
	if errors.Is(err, natsjs.ErrStreamNotFound) {
		return l.js.CreateStream(ctx, wanted) // one that another has just made is the same
	}
	if err != nil {
		return nil, err
	}
	is := there.CachedInfo().Config
	if format := is.Metadata[logFormatKey]; format != logFormat {
		return nil, fmt.Errorf("it is of format %q, and this version of tabhub knows %s: use the version that made it, or a newer one", format, logFormat)
	}
	if is.MaxAge == wanted.MaxAge && is.Replicas == wanted.Replicas {
		return there, nil
	}
	return l.js.UpdateStream(ctx, wanted)
}

// User returns a user's log. epoch returns the epoch that the caller owns the user with, and
// blocks until that is known; nil: the log is only read.
func (l *Logs) User(user spec.UserID, epoch func(context.Context) (spec.Epoch, error)) *Log {
	sum := sha256.Sum256([]byte(user))
	subject := l.o.Subject + "." + hex.EncodeToString(sum[:16])
	return &Log{Logs: l, user: user, lines: subject, beside: subject + ".beside", epoch: epoch}
}
