package streamlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/jetstream/streams"
)

const (
	// readTimeout is how long the servers may take for one part of a log.
	readTimeout = 5 * time.Second
	// maxPart is how many bytes one request asks for, plus the rest of a batch.
	maxPart = 1 << 20
	// maxMessages is how many messages one request asks for.
	maxMessages = 1024
)

// message is a message of a log.
type message struct {
	seq    uint64
	time   time.Time
	epoch  spec.Epoch
	index  uint64
	piece  uint64
	before uint64
	bytes  int64
	data   []byte
}

func newMessage(seq uint64, at time.Time, h nats.Header, data []byte) message {
	number := func(header string) uint64 {
		n, _ := strconv.ParseUint(h.Get(header), 10, 64)
		return n
	}
	return message{
		seq: seq, time: at, epoch: spec.Epoch(number(headerEpoch)), index: number(headerIndex),
		piece: number(headerPiece), before: number(headerBefore), bytes: int64(number(headerBytes)), data: data,
	}
}

// newDirect parses a replica's answer.
func newDirect(m *nats.Msg) (message, error) {
	seq, err := strconv.ParseUint(m.Header.Get(jetstream.SequenceHeader), 10, 64)
	if err != nil {
		return message{}, fmt.Errorf("NATS has sent a message without its sequence: %w", err)
	}
	at, err := time.Parse(time.RFC3339Nano, m.Header.Get(jetstream.TimeStampHeaer))
	if err != nil {
		return message{}, fmt.Errorf("NATS has sent a message without its time: %w", err)
	}
	return newMessage(seq, at, m.Header, m.Data), nil
}

// leader gets a message from the stream's leader, which has all acknowledged ones. The error is
// jetstream.ErrMsgNotFound if there is none.
func (l *Logs) leader(ctx context.Context, g streams.Get) (message, error) {
	if !l.nc.IsConnected() {
		return message{}, errAway
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readTimeout, errAway)
	defer cancel()
	m, err := streams.Leader(ctx, l.nc, l.o.Stream, g)
	if err != nil {
		return message{}, cmp.Or(context.Cause(ctx), err)
	}
	return newMessage(m.Sequence, m.Time, m.Header, m.Data), nil
}

// direct yields messages from any replica, which may not have the last ones yet. It may end early; then
// the caller asks the leader.
func (l *Logs) direct(ctx context.Context, g streams.Get, yield func(message) bool) error {
	if !l.nc.IsConnected() {
		return errAway
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readTimeout, errAway)
	defer cancel()
	inbox := l.nc.NewInbox()
	answers, err := l.nc.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer answers.Unsubscribe()
	if err := l.nc.PublishRequest(streams.DirectGet(l.o.Stream), inbox, g.Body()); err != nil {
		return err
	}
	for {
		m, err := answers.NextMsgWithContext(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		}
		if m.Header.Get("Status") != "" { // end of the batch, no message, or no server
			return nil
		}
		got, err := newDirect(m)
		if err != nil {
			return err
		}
		if !yield(got) {
			return nil
		}
	}
}

// from returns the first message of a subject from a sequence on.
func (l *Logs) from(ctx context.Context, subject string, seq uint64) (message, error) {
	g := streams.Get{Seq: seq, NextFor: subject}
	var m message
	if err := l.direct(ctx, g, func(found message) bool { m = found; return false }); err != nil || m.seq == seq {
		return m, err
	}
	return l.leader(ctx, g) // the replica may not have it yet
}

// Pieces yields the present pieces of the log, the newest first. It ends with the first error.
func (l *Log) Pieces(ctx context.Context) iter.Seq2[storage.Piece, error] {
	return func(yield func(storage.Piece, error) bool) {
		last, err := l.leader(ctx, streams.Get{LastFor: l.lines})
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return
		}
		p := storage.Piece{Start: last.piece, End: last.seq, Changed: last.time}
		if p.Start == 0 {
			p.Start = last.seq
		}
		end := last.bytes + int64(len(last.data))
		for err == nil {
			var m message
			if m, err = l.from(ctx, l.lines, p.Start); errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && m.seq > p.End {
				return // it was removed
			}
			if err != nil {
				break
			}
			whole := m.seq == p.Start // else its first batches were too old
			p.Start, p.Index, p.Size = m.seq, m.index, end-m.bytes
			if !yield(p, nil) || !whole || m.before == 0 {
				return
			}
			p = storage.Piece{Start: m.before, End: m.seq - 1, Next: m.seq, Changed: m.time}
			end = m.bytes
		}
		yield(storage.Piece{}, err)
	}
}

// Read calls f with the batches of a piece. If the piece was removed meanwhile, it fails with
// fs.ErrNotExist and does not call f.
func (l *Log) Read(ctx context.Context, p storage.Piece, f func(data []byte) error) error {
	var batches [][]byte // f may get them only when the piece is certainly still there
	if err := l.read(ctx, l.lines, p.Start, p.End, func(data []byte) error { batches = append(batches, data); return nil }); err != nil {
		return err
	}
	if m, err := l.leader(ctx, streams.Get{Seq: p.Start, NextFor: l.lines}); errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && m.seq > p.End {
		return fs.ErrNotExist
	} else if err != nil {
		return err
	}
	for _, b := range batches {
		if err := f(b); err != nil {
			return err
		}
	}
	return nil
}

// ReadBeside calls f with the attachments of a piece, in parts that end with a line.
func (l *Log) ReadBeside(ctx context.Context, p storage.Piece, f func(data []byte) error) error {
	last, err := l.leader(ctx, streams.Get{LastFor: l.beside})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	end := last.seq
	if p.Next > 0 {
		end = min(end, p.Next)
	}
	return l.read(ctx, l.beside, p.Start, end, f)
}

// read calls f with the messages of a subject from sequence next to end, in order.
func (l *Logs) read(ctx context.Context, subject string, next, end uint64, f func(data []byte) error) error {
	var failed error
	take := func(m message) bool {
		if m.seq < next || m.seq > end {
			next = max(next, m.seq)
			return false
		}
		next = m.seq + 1
		failed = f(m.data)
		return failed == nil
	}
	for next <= end {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		before := next
		err := l.direct(ctx, streams.Get{Seq: next, NextFor: subject, Batch: maxMessages, MaxBytes: maxPart}, take)
		if failed != nil {
			return failed
		}
		if err != nil {
			return err
		}
		if next > before {
			continue
		}
		m, err := l.leader(ctx, streams.Get{Seq: next, NextFor: subject})
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if m.seq > end {
			return nil
		}
		if take(m); failed != nil {
			return failed
		}
	}
	return nil
}
