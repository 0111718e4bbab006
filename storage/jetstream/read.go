package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"

	"tabhub/storage/jetstream/streams"
)

// The limits of one direct get: less than a connection's buffers hold.
const (
	readMessages = 1000
	readBytes    = 4 << 20
)

var (
	errNone = errors.New("there is no message")
	errEnd  = errors.New("end of the batch")
)

// parseDirect parses an answer to a direct get. If it is no message the error is
// errNone, errEnd, or what the server says.
func parseDirect(m *nats.Msg) (message, error) {
	switch status := m.Header.Get("Status"); status {
	case "":
	case "204":
		return message{}, errEnd
	case "404":
		return message{}, errNone
	case "503":
		return message{}, nats.ErrNoResponders
	default:
		return message{}, fmt.Errorf("answer to a direct get: %s %s", status, m.Header.Get("Description"))
	}
	seq, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
	if err != nil {
		return message{}, fmt.Errorf("%w: its sequence: %w", errMessage, err)
	}
	return parse(seq, m.Header, m.Data)
}

// read visits the messages of a subject up to the one with sequence to, which exists. Any server
// may answer; if it does not have that message yet, read asks again. If the message was purged
// since, the error is a *supersededError.
func (s *Store) read(ctx context.Context, subject string, to uint64, visit func(*message) error) error {
	next := uint64(1)
	for rest := minRest; next <= to; {
		before := next
		err := s.persist(ctx, func(ctx context.Context) error {
			var err error
			next, err = s.readSome(ctx, subject, next, to, visit)
			return s.explainSilence(ctx, err)
		})
		if err != nil {
			return err
		}
		if next != before {
			rest = minRest
			continue
		}
		if err := sleep(ctx, rest); err != nil {
			return err
		}
		rest = min(2*rest, maxRest)
	}
	return nil
}

// readSome visits what one server sends at once, from sequence next on, and returns where to go
// on.
func (s *Store) readSome(ctx context.Context, subject string, next, to uint64, visit func(*message) error) (uint64, error) {
	inbox := s.nc.NewInbox()
	sub, err := s.nc.SubscribeSync(inbox)
	if err != nil {
		return next, err
	}
	defer sub.Unsubscribe()
	req := streams.Get{Seq: next, NextFor: subject, Batch: readMessages, MaxBytes: readBytes}
	if err := s.nc.PublishRequest(streams.DirectGet(streamName), inbox, req.Body()); err != nil {
		return next, err
	}
	for first := true; next <= to; first = false {
		reply, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return next, err
		}
		m, err := parseDirect(reply)
		if errors.Is(err, errEnd) || errors.Is(err, errNone) {
			break
		}
		if err != nil {
			return next, err
		}
		if m.seq > to { // another writer's snapshot has replaced the message
			return next, &supersededError{by: m.writer()}
		}
		if m.after >= next && !first {
			break // a message was lost in transit, or purged: the next request tells
		}
		if err := visit(&m); err != nil {
			return next, err
		}
		next = m.seq + 1
	}
	return next, nil
}
