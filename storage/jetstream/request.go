package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/spec"
	"tabhub/storage/jetstream/streams"
)

const (
	// The timeout of an attempt grows from minAnswer, which is long for an answer and short for a
	// writer whose server has died, to maxAnswer.
	minAnswer, maxAnswer = 300 * time.Millisecond, 5 * time.Second
	// The pause between two attempts grows from minRest to maxRest.
	minRest, maxRest = 10 * time.Millisecond, 500 * time.Millisecond
	// lostTimeout is how long the servers must report a journal as missing before the store
	// believes them: a server that has just started may not know it yet.
	lostTimeout = 30 * time.Second
)

// ErrLost: the stream, or a user's messages in it, have been deleted.
var ErrLost = errors.New("the stream " + streamName + " has lost messages of users")

// ErrUnknown: the store cannot find out whether a write was stored.
var ErrUnknown = errors.New("it is not known whether the write was stored")

// persist calls try until it succeeds or fails for good, or ctx ends.
func (s *Store) persist(ctx context.Context, try func(ctx context.Context) error) error {
	for rest, answer := minRest, minAnswer; ; rest, answer = min(2*rest, maxRest), min(2*answer, maxAnswer) {
		var err error
		if s.nc.IsConnected() {
			once, cancel := context.WithTimeout(ctx, answer)
			err = try(once)
			cancel()
		} else if err = nats.ErrDisconnected; s.nc.IsClosed() { // the client would only buffer the request
			err = nats.ErrConnectionClosed
		}
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
		}
		if !temporary(err) {
			return err
		}
		s.log.Debug("JetStream does not answer; trying again", "err", err, "rest", rest)
		if ended := sleep(ctx, rest); ended != nil {
			return fmt.Errorf("%w (%w)", ended, err)
		}
	}
}

// sleep returns ctx's cause if that ends before.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// supersededError says that another writer's message has the sequence that a write expected.
type supersededError struct {
	by     Writer
	unsure bool // the write may have been stored before, and purged
}

func (e *supersededError) Error() string {
	return fmt.Sprintf("%s has written to the journal under epoch %d", e.by.Node, e.by.Epoch)
}

// publish writes m, whose id is unique, right behind the message with sequence after, and returns
// its sequence. It tries until the outcome is known or ctx ends. The error is a *supersededError if
// another message has that place; otherwise it says why the server refused m, with ErrUnknown if the
// server has not answered an earlier attempt.
func (s *Store) publish(ctx context.Context, m *nats.Msg, after uint64) (seq uint64, err error) {
	m.Header.Set(nats.ExpectedLastSubjSeqHdr, strconv.FormatUint(after, 10))
	var lost time.Time // since when the servers report the journal as missing
	var doubt bool     // an attempt may be stored without an acknowledgement
	err = s.persist(ctx, func(attempt context.Context) error {
		reply, err := s.nc.RequestMsgWithContext(attempt, m)
		if err == nil {
			seq, err = decodeAck(reply.Data)
		} else if !errors.Is(err, nats.ErrNoResponders) && !errors.Is(err, nats.ErrMaxPayload) {
			doubt = true
		}
		if e, ok := errors.AsType[*jetstream.APIError](err); ok && e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
			seq, err = s.successor(attempt, m, after)
		}
		if errors.Is(err, jetstream.ErrMsgNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) ||
			errors.Is(err, nats.ErrNoResponders) && s.gone(attempt) {
			if lost.IsZero() {
				lost = time.Now()
			}
			if time.Since(lost) > s.lostAfter {
				return fmt.Errorf("%w: message %d of %s", ErrLost, after, m.Subject)
			}
			return nats.ErrNoResponders // for now
		}
		lost = time.Time{}
		return err
	})
	if _, superseded := errors.AsType[*supersededError](err); err != nil && doubt && !superseded && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if err == nil {
		s.stats.messages.Add(1)
		s.stats.bytes.Add(int64(len(m.Data)))
	}
	return seq, err
}

// gone reports whether the servers say that the stream does not exist. It asks once a second for
// all users, with a short timeout: without a leader no server may answer.
func (s *Store) gone(ctx context.Context) bool {
	s.missing.Lock()
	defer s.missing.Unlock()
	if time.Since(s.missing.asked) > time.Second {
		ctx, cancel := context.WithTimeout(ctx, minAnswer)
		defer cancel()
		_, err := s.js.Stream(ctx, streamName)
		s.missing.asked, s.missing.yes = time.Now(), errors.Is(err, jetstream.ErrStreamNotFound)
	}
	return s.missing.yes
}

// explainSilence returns err, of a request, as ErrLost if no server answers because the stream is
// missing.
func (s *Store) explainSilence(ctx context.Context, err error) error {
	if errors.Is(err, nats.ErrNoResponders) && s.gone(ctx) {
		return explain(jetstream.ErrStreamNotFound)
	}
	return err
}

func decodeAck(data []byte) (uint64, error) {
	var ack struct {
		Seq   uint64              `json:"seq"`
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(data, &ack); err != nil {
		return 0, fmt.Errorf("answer to a publish: %w", err)
	}
	if ack.Error != nil {
		return 0, ack.Error
	}
	if ack.Seq == 0 {
		return 0, fmt.Errorf("answer to a publish has no sequence: %q", data)
	}
	return ack.Seq, nil
}

// successor returns the sequence of m if m is right behind the message with sequence after. If another
// message is there, the error is a *supersededError.
func (s *Store) successor(ctx context.Context, m *nats.Msg, after uint64) (uint64, error) {
	got, err := s.ask(ctx, streams.Get{Seq: after + 1, NextFor: m.Subject})
	if err != nil {
		return 0, err
	}
	switch {
	case got.id == m.Header.Get(headerID):
		return got.seq, nil
	case got.after != after: // the messages between were purged
		return 0, &supersededError{by: got.writer(), unsure: true}
	}
	return 0, &supersededError{by: got.writer()}
}

// ask returns a message from the stream's leader. If there is none, the error is
// jetstream.ErrMsgNotFound.
func (s *Store) ask(ctx context.Context, req streams.Get) (message, error) {
	m, err := streams.Leader(ctx, s.nc, streamName, req)
	if err != nil {
		return message{}, err
	}
	return parse(m.Sequence, m.Header, m.Data)
}

// last returns the user's last message, the zero message if there is none. With certain false it is
// quicker, and may return an older message.
func (s *Store) last(ctx context.Context, user spec.UserID, certain bool) (m message, err error) {
	req := streams.Get{LastFor: subject(user)}
	err = s.persist(ctx, func(ctx context.Context) error {
		if certain {
			m, err = s.ask(ctx, req)
			if errors.Is(err, jetstream.ErrMsgNotFound) {
				return nil
			}
			return explain(err)
		}
		reply, err := s.nc.RequestWithContext(ctx, streams.DirectGet(streamName), req.Body())
		if err != nil {
			return s.explainSilence(ctx, err)
		}
		m, err = parseDirect(reply)
		if errors.Is(err, errNone) {
			return nil
		}
		return err
	})
	return m, err
}
