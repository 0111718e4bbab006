package storage

import (
	"errors"
	"time"
)

// ErrMoved: a user's log does not end with the batch that was written last. The writer has to
// begin again.
var ErrMoved = errors.New("the log does not end where it did")

// Batch is what was appended to a user's log at once.
type Batch struct {
	Index uint64 // of the first of its elements, as its writer has said
	Data  []byte
}

// Piece is a part of a user's log, which is removed as a whole.
type Piece struct {
	Start, End uint64    // the sequences of its first and its last batch
	Next       uint64    // that of the first batch of the piece behind it; 0: there is none
	Index      uint64    // of its first batch
	Changed    time.Time // when its last batch was written, or a little later
	Size       int64     // bytes of its batches, and of what is beside them
}
