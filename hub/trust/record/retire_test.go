package record

import (
	"context"
	"iter"
	"testing"
	"time"

	"tabhub/storage"
)

// aged is a Stream with a piece of each time, the newest first.
type aged struct {
	Stream
	changed []time.Time
}

func (a aged) Pieces(context.Context) iter.Seq2[storage.Piece, error] {
	return func(yield func(storage.Piece, error) bool) {
		for i, at := range a.changed {
			if !yield(storage.Piece{Start: uint64(len(a.changed) - i), Changed: at}, nil) {
				return
			}
		}
	}
}

// The clock of a node may be set to a wrong day. It must not remove records for good, whose times are
// the servers'.
func TestRetireByTheClockOfTheServers(t *testing.T) {
	const day = 24 * time.Hour
	o := Options{Keep: 90 * day}
	o.setDefaults()
	for _, ahead := range []time.Duration{0, 365 * day, -365 * day} {
		servers := time.Now().Add(-ahead)
		w := newWriter(&stream{Stream: aged{changed: []time.Time{servers, servers.Add(-80 * day), servers.Add(-100 * day)}}}, o)
		old, err := w.surplus(t.Context())
		if err != nil || len(old) != 1 || old[0].(streamPiece).Start != 1 {
			t.Errorf("with a clock that is %v ahead it removes %v, %v", ahead, old, err)
		}
	}
}
