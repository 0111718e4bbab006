package streams

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Get asks for a message of a stream, or for several.
type Get struct {
	Seq      uint64 `json:"seq,omitempty"`
	LastFor  string `json:"last_by_subj,omitempty"`
	NextFor  string `json:"next_by_subj,omitempty"`
	Batch    int    `json:"batch,omitempty"`     // direct gets only
	MaxBytes int    `json:"max_bytes,omitempty"` // direct gets only
}

// Body returns the body of the request.
func (g Get) Body() []byte {
	b, err := json.Marshal(g)
	if err != nil {
		panic(err) // of numbers and strings
	}
	return b
}

// DirectGet is the subject where any server with a replica of a stream answers.
func DirectGet(stream string) string { return "$JS.API.DIRECT.GET." + stream }

// Message is a stored message of a stream.
type Message struct {
	Sequence uint64
	Time     time.Time
	Header   nats.Header // nil: it has none
	Data     []byte
}

// Leader gets a message from the leader of a stream; jetstream.Stream may ask replicas. The error is
// jetstream.ErrMsgNotFound if there is none, else the connection's or the server's.
func Leader(ctx context.Context, nc *nats.Conn, stream string, g Get) (Message, error) {
	reply, err := nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+stream, g.Body())
	if err != nil {
		return Message{}, err
	}
	var got struct {
		Error   *jetstream.APIError `json:"error"`
		Message *struct {
			Sequence uint64    `json:"seq"`
			Time     time.Time `json:"time"`
			Header   []byte    `json:"hdrs"`
			Data     []byte    `json:"data"`
		} `json:"message"`
	}
	switch err := json.Unmarshal(reply.Data, &got); {
	case err != nil:
		return Message{}, fmt.Errorf("answer to a get: %w", err)
	case got.Error != nil:
		return Message{}, got.Error
	case got.Message == nil:
		return Message{}, fmt.Errorf("answer to a get has no message: %.100q", reply.Data)
	}
	m := Message{Sequence: got.Message.Sequence, Time: got.Message.Time, Data: got.Message.Data}
	if len(got.Message.Header) > 0 {
		if m.Header, err = nats.DecodeHeadersMsg(got.Message.Header); err != nil {
			return Message{}, fmt.Errorf("answer to a get: %w", err)
		}
	}
	return m, nil
}
