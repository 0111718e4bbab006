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
	headerEpoch  = "Tabhub-Epoch"  // the newest of the writers up to it
	headerIndex  = "Tabhub-Index"  // see storage.Batch
	headerPiece  = "Tabhub-Piece"  // the sequence of the first batch of its piece; of that one there is none
	headerBefore = "Tabhub-Before" // of the first batch of a piece: that of the piece before it
	headerBytes  = "Tabhub-Bytes"  // how many bytes the log had before it, with what was removed
)

// maxBeside is how many bytes of attachments are written at once, and a line more.
const maxBeside = 384 << 10

// errAway: without a server a write fails at once. The NATS client would buffer it and write it late.
var errAway = errors.New("NATS cannot be reached")

// Log is a user's log: batches, each of which was written with the sequence of the one before it
// as the last one of the user. So when two processes write at once, one of them is refused and
// continues behind the other. Each piece of batches knows where the piece before it begins, so a
// log can be read from its end.
//
// Begin, Append, AppendBeside and Remove are for one goroutine; the others are safe for concurrent
// use. None takes longer than its context, and a read of one part no longer than readTimeout.
type Log struct {
	*Logs
	user          spec.UserID
	lines, beside string // subjects
	epoch         func(context.Context) (spec.Epoch, error)

	// Of the writer, since Begin.
	newest spec.Epoch // that of the log
	last   uint64     // the sequence of the last batch; 0: there is none
	doubt  bool       // whether a batch behind it was written is not known
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

// Append adds a batch, and reports whether it begins a piece. It fails with storage.ErrMoved if
// another has written behind the last one. After another error it is not known whether the batch is
// there; when Append is called with the same one again, it finds out.
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

// refused finds out why a batch was not taken: it may have landed before.
func (l *Log) refused(ctx context.Context, b storage.Batch) (began bool, err error) {
	last, err := l.leader(ctx, streams.Get{LastFor: l.lines})
	switch {
	case err != nil && !errors.Is(err, jetstream.ErrMsgNotFound):
		return false, err
	case last.seq < l.last: // or there is none any more
		return false, storage.ErrMoved
	case last.seq == l.last:
		return false, errors.New("NATS has not taken a write, because of one that is under way")
	}
	m, err := l.behind(ctx)
	if err != nil {
		return false, err
	}
	return l.settle(m, b)
}

// settle goes by m, which stands where b was to be.
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

// AppendBeside adds lines that belong to the batch that was appended last. They are written
// without a fence: that batch had one. If it fails some of them may be there.
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

// Remove removes all before a piece.
func (l *Log) Remove(ctx context.Context, before uint64) error {
	for _, subject := range []string{l.lines, l.beside} {
		if err := l.stream.Purge(ctx, jetstream.WithPurgeSubject(subject), jetstream.WithPurgeSequence(before)); err != nil {
			return fmt.Errorf("remove what is old of %s: %w", l.user, err)
		}
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

// isWrongLast reports whether the subject's last message was another one, or one is being written.
func isWrongLast(err error) bool {
	var of *jetstream.APIError
	return errors.As(err, &of) &&
		(of.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || of.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

func setNumber(m *nats.Msg, header string, n uint64) { m.Header.Set(header, strconv.FormatUint(n, 10)) }
