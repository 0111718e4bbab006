package streamlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/jetstream/streams"
)

// The headers of a batch.
const (
	headerUser   = "Tabhub-User"   // for people, in the form of a URL's path
	headerEpoch  = "Tabhub-Epoch"  // the newest epoch of the writers so far
	headerIndex  = "Tabhub-Index"  // see storage.Batch
	headerPiece  = "Tabhub-Piece"  // the sequence of the first batch of the piece; the first batch itself has none
	headerBefore = "Tabhub-Before" // in the first batch of a piece: the sequence of the first batch of the piece before
	headerBytes  = "Tabhub-Bytes"  // bytes of the log before the batch, including removed ones
)

// maxBeside is how many bytes of attachments go into one message, plus the rest of a line.
const maxBeside = 384 << 10

// errAway: without a server a write fails at once. The NATS client would buffer it and write it late.
var errAway = errors.New("NATS cannot be reached")

// Log is a user's log, a chain of batches; the package's doc describes it.
//
// Begin, Append, AppendBeside and Remove are for one goroutine; the others are safe for concurrent
// use. None takes longer than its context, and a read of one part no longer than readTimeout.
type Log struct {
	*Logs
	user          spec.UserID
	lines, beside string // subjects
	epoch         func(context.Context) (spec.Epoch, error)

	// The writer's, set by Begin.
	newest spec.Epoch // the log's newest epoch
	last   uint64     // the sequence of the last batch; 0: there is none
	doubt  bool       // a batch behind it may have been written
	total  int64      // bytes of the log, including removed ones
	piece  uint64     // the sequence of the first batch of the piece; 0: there is none
	before int64      // the total at its begin
	since  time.Time  // when it began
}

// Begin finds the end of the log for the caller to write behind. It returns the first and the last
// batch, empty if there is none, and late if a writer with a newer epoch has written.
func (l *Log) Begin(ctx context.Context) (first, last storage.Batch, late bool, err error) {
	own, err := l.epoch(ctx)
	if err != nil {
		return first, last, false, err
	}
	l.newest, l.last, l.doubt, l.total, l.piece = own, 0, false, 0, 0
	m, err := l.leader(ctx, streams.Get{LastFor: l.lines})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return first, last, false, nil
	}
	if err != nil {
		return first, last, false, err
	}
	begin := m
	if m.piece > 0 {
		if begin, err = l.leader(ctx, streams.Get{Seq: m.piece, NextFor: l.lines}); err != nil {
			return first, last, false, err
		}
	}
	oldest, err := l.leader(ctx, streams.Get{Seq: 1, NextFor: l.lines})
	if err != nil {
		return first, last, false, err
	}
	l.newest = max(own, m.epoch)
	l.last, l.total = m.seq, m.bytes+int64(len(m.data))
	l.piece, l.before, l.since = begin.seq, begin.bytes, begin.time
	return storage.Batch{Index: oldest.index, Data: oldest.data}, storage.Batch{Index: m.index, Data: m.data}, m.epoch > own, nil
}

// Append adds a batch, and reports whether it begins a piece. It fails with storage.ErrMoved if another
// writer has written behind the last one. After any other error the batch may be stored; another Append
// of the same batch finds out.
func (l *Log) Append(ctx context.Context, b storage.Batch) (began bool, err error) {
	if l.doubt {
		switch m, err := l.behind(ctx); {
		case err == nil:
			return l.settle(m, b)
		case !errors.Is(err, jetstream.ErrMsgNotFound):
			return false, err
		}
	}
	msg := nats.NewMsg(l.lines)
	msg.Data = b.Data
	msg.Header.Set(headerUser, url.PathEscape(string(l.user)))
	setNumber(msg, headerEpoch, uint64(l.newest))
	setNumber(msg, headerIndex, b.Index)
	setNumber(msg, headerBytes, uint64(l.total))
	if began = l.piece == 0 || l.total-l.before >= l.o.PieceSize || time.Since(l.since) >= maxPieceAge; began {
		setNumber(msg, headerBefore, l.piece)
	} else {
		setNumber(msg, headerPiece, l.piece)
	}
	setNumber(msg, jetstream.ExpectedLastSubjSeqHeader, l.last)
	ack, err := l.publish(ctx, msg)
	if err != nil {
		l.doubt = l.doubt || !errors.Is(err, errAway) && !errors.Is(err, nats.ErrMaxPayload)
		if !isWrongLast(err) {
			return false, err
		}
		return l.refused(ctx, b)
	}
	l.appended(ack.Sequence, began, len(b.Data), time.Now())
	return began, nil
}

// refused finds out why NATS refused a batch: an earlier attempt may have stored it.
func (l *Log) refused(ctx context.Context, b storage.Batch) (began bool, err error) {
	last, err := l.leader(ctx, streams.Get{LastFor: l.lines})
	switch {
	case err != nil && !errors.Is(err, jetstream.ErrMsgNotFound):
		return false, err
	case last.seq < l.last: // or none is left
		return false, storage.ErrMoved
	case last.seq == l.last:
		return false, errors.New("NATS has refused a write while an earlier one is in flight")
	}
	m, err := l.behind(ctx)
	if err != nil {
		return false, err
	}
	return l.settle(m, b)
}

// settle decides by m, the message at b's place, whether b is stored.
func (l *Log) settle(m message, b storage.Batch) (began bool, err error) {
	if !bytes.Equal(m.data, b.Data) {
		return false, storage.ErrMoved
	}
	l.appended(m.seq, m.piece == 0, len(b.Data), m.time)
	return m.piece == 0, nil
}

func (l *Log) appended(seq uint64, began bool, n int, at time.Time) {
	if began {
		l.piece, l.before, l.since = seq, l.total, at
	}
	l.last, l.doubt = seq, false
	l.total += int64(n)
}

// behind returns the batch behind the last one.
func (l *Log) behind(ctx context.Context) (message, error) {
	return l.leader(ctx, streams.Get{Seq: l.last + 1, NextFor: l.lines})
}

// AppendBeside adds lines that belong to the last appended batch, without a fence: that batch had one.
// If it fails, some of the lines may be stored.
func (l *Log) AppendBeside(ctx context.Context, data []byte) error {
	for len(data) > 0 {
		n := min(len(data), maxBeside)
		if end := bytes.IndexByte(data[n-1:], '\n'); end >= 0 {
			n += end
		} else {
			n = len(data) // the last line is not ended
		}
		msg := nats.NewMsg(l.beside)
		msg.Data, data = data[:n], data[n:]
		if _, err := l.publish(ctx, msg); err != nil {
			return err
		}
		l.total += int64(n)
	}
	return nil
}

// Remove removes everything before a piece.
func (l *Log) Remove(ctx context.Context, before uint64) error {
	if err := l.purge(ctx, l.lines, before); err != nil {
		return err
	}
	return l.RemoveBeside(ctx, before)
}

// RemoveBeside removes what is beside the batches before a piece.
func (l *Log) RemoveBeside(ctx context.Context, before uint64) error {
	return l.purge(ctx, l.beside, before)
}

func (l *Log) purge(ctx context.Context, subject string, before uint64) error {
	if err := l.stream.Purge(ctx, jetstream.WithPurgeSubject(subject), jetstream.WithPurgeSequence(before)); err != nil {
		return fmt.Errorf("remove old batches of %s: %w", l.user, err)
	}
	return nil
}

func (l *Log) publish(ctx context.Context, msg *nats.Msg) (*jetstream.PubAck, error) {
	if !l.nc.IsConnected() {
		return nil, errAway
	}
	msg.Header.Set(jetstream.ExpectedStreamHeader, l.o.Stream)
	ack, err := l.js.PublishMsg(ctx, msg)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return ack, err
}

// isWrongLast reports whether the subject has another last message, or the server is storing one.
func isWrongLast(err error) bool {
	var of *jetstream.APIError
	return errors.As(err, &of) &&
		(of.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || of.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

func setNumber(m *nats.Msg, header string, n uint64) { m.Header.Set(header, strconv.FormatUint(n, 10)) }
