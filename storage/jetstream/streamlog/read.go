package streamlog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/spec"
	"tabhub/storage"
)

const (
	// readTimeout is how long the servers may take for one part of a log.
	readTimeout = 5 * time.Second
	// maxPart is how many bytes they are asked for at once, and a batch more.
	maxPart = 1 << 20
	// maxMessages is how many messages they are asked for at once.
	maxMessages = 1024
)

// errNone: there is no such message.
var errNone = errors.New("there is no such message")

// query asks for a message, or for several.
type query struct {
	Seq      uint64 `json:"seq,omitempty"`
	LastFor  string `json:"last_by_subj,omitempty"`
	NextFor  string `json:"next_by_subj,omitempty"`
	Batch    int    `json:"batch,omitempty"`
	MaxBytes int    `json:"max_bytes,omitempty"`
}

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

func (l *Logs) newMessage(subject string, seq uint64, at time.Time, h nats.Header, data []byte) (message, error) {
	if err := l.signer.Check(subject, seq, h, data); err != nil {
		return message{}, err
	}
	number := func(header string) uint64 {
		n, _ := strconv.ParseUint(h.Get(header), 10, 64)
		return n
	}
	return message{
		seq: seq, time: at, epoch: spec.Epoch(number(headerEpoch)), index: number(headerIndex),
		piece: number(headerPiece), before: number(headerBefore), bytes: int64(number(headerBytes)), data: data,
	}, nil
}

// newDirect returns the message of a subject that a replica has answered.
func (l *Logs) newDirect(subject string, m *nats.Msg) (message, error) {
	seq, err := strconv.ParseUint(strings.Join(m.Header.Values(jetstream.SequenceHeader), ","), 10, 64) // the server adds one
	if err != nil {
		return message{}, fmt.Errorf("NATS has sent a message without its sequence: %w", err)
	}
	at, err := time.Parse(time.RFC3339Nano, m.Header.Get(jetstream.TimeStampHeaer))
	if err != nil {
		return message{}, fmt.Errorf("NATS has sent a message without its time: %w", err)
	}
	return l.newMessage(subject, seq, at, m.Header, m.Data)
}

// leader asks the leader of the stream, which knows all that was confirmed, for a message.
func (l *Logs) leader(ctx context.Context, q query) (message, error) {
	ask, err := json.Marshal(q)
	if err != nil {
		return message{}, err
	}
	answer, err := l.request(ctx, "$JS.API.STREAM.MSG.GET."+l.o.Stream, ask)
	if err != nil {
		return message{}, err
	}
	var got struct {
		Error   *jetstream.APIError `json:"error"`
		Message struct {
			Seq     uint64    `json:"seq"`
			Time    time.Time `json:"time"`
			Headers []byte    `json:"hdrs"`
			Data    []byte    `json:"data"`
		} `json:"message"`
	}
	if err := json.Unmarshal(answer.Data, &got); err != nil {
		return message{}, fmt.Errorf("NATS has answered what is no message: %w", err)
	}
	switch {
	case got.Error != nil && got.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return message{}, errNone
	case got.Error != nil:
		return message{}, got.Error
	}
	subject := cmp.Or(q.LastFor, q.NextFor)
	if err := l.signer.CheckRaw(subject, got.Message.Seq, got.Message.Headers); err != nil {
		return message{}, err
	}
	var h nats.Header
	if len(got.Message.Headers) > 0 {
		if h, err = nats.DecodeHeadersMsg(got.Message.Headers); err != nil {
			return message{}, err
		}
	}
	return l.newMessage(subject, got.Message.Seq, got.Message.Time, h, got.Message.Data)
}

func (l *Logs) request(ctx context.Context, subject string, ask []byte) (*nats.Msg, error) {
	if !l.nc.IsConnected() {
		return nil, errAway
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readTimeout, errAway)
	defer cancel()
	answer, err := l.nc.RequestWithContext(ctx, subject, ask)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return answer, err
}

// direct yields messages that any replica has, which may not have the last ones yet. It ends
// early when one fails: the leader is asked then.
func (l *Logs) direct(ctx context.Context, q query, yield func(message) bool) error {
	ask, err := json.Marshal(q)
	if err != nil {
		return err
	}
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
	if err := l.nc.PublishRequest("$JS.API.DIRECT.GET."+l.o.Stream, inbox, ask); err != nil {
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
		if m.Header.Get("Status") != "" { // the end, there is none, nobody answers
			return nil
		}
		got, err := l.newDirect(q.NextFor, m)
		if err != nil {
			return err
		}
		if !yield(got) {
			return nil
		}
	}
}

// from returns the first message of a subject that has a sequence or a greater one.
func (l *Logs) from(ctx context.Context, subject string, seq uint64) (message, error) {
	q := query{Seq: seq, NextFor: subject}
	ask, err := json.Marshal(q)
	if err != nil {
		return message{}, err
	}
	m, err := l.request(ctx, "$JS.API.DIRECT.GET."+l.o.Stream, ask)
	if err != nil {
		return message{}, err
	}
	if m.Header.Get(jetstream.SequenceHeader) == strconv.FormatUint(seq, 10) {
		return l.newDirect(subject, m)
	}
	return l.leader(ctx, q) // the replica may not have it yet
}

// Pieces yields the pieces that the log has at the moment, the newest first. An error is the last
// that it yields.
func (l *Log) Pieces(ctx context.Context) iter.Seq2[storage.Piece, error] {
	return func(yield func(storage.Piece, error) bool) {
		last, err := l.leader(ctx, query{LastFor: l.lines})
		if errors.Is(err, errNone) {
			return
		}
		p := storage.Piece{Start: last.piece, End: last.seq, Changed: last.time}
		if p.Start == 0 {
			p.Start = last.seq
		}
		end := last.bytes + int64(len(last.data))
		for err == nil {
			var m message
			if m, err = l.from(ctx, l.lines, p.Start); errors.Is(err, errNone) || err == nil && m.seq > p.End {
				return // it was removed
			}
			if err != nil {
				break
			}
			whole := m.seq == p.Start // else its begin was too old
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

// Read calls f with the batches of a piece. One that was removed meanwhile fails with
// fs.ErrNotExist, before f was called.
func (l *Log) Read(ctx context.Context, p storage.Piece, f func(data []byte) error) error {
	var batches [][]byte // all of them, before it is known that the piece was not removed meanwhile
	if err := l.read(ctx, l.lines, p.Start, p.End, func(data []byte) error { batches = append(batches, data); return nil }); err != nil {
		return err
	}
	if m, err := l.leader(ctx, query{Seq: p.Start, NextFor: l.lines}); errors.Is(err, errNone) || err == nil && m.seq > p.End {
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

// ReadBeside calls f with what is beside a piece, as AppendBeside was given it, or parts of that
// which end with a line.
func (l *Log) ReadBeside(ctx context.Context, p storage.Piece, f func(data []byte) error) error {
	last, err := l.leader(ctx, query{LastFor: l.beside})
	if errors.Is(err, errNone) {
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

// read calls f with the messages of a subject that have these sequences, in order.
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
		err := l.direct(ctx, query{Seq: next, NextFor: subject, Batch: maxMessages, MaxBytes: maxPart}, take)
		if failed != nil {
			return failed
		}
		if err != nil {
			return err
		}
		if next > before {
			continue
		}
		m, err := l.leader(ctx, query{Seq: next, NextFor: subject})
		if errors.Is(err, errNone) {
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
