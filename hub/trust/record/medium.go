package record

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"
)

// source reads a record. It is safe for concurrent use.
type source interface {
	// pieces yields the pieces of the moment, the newest first. It ends with an error if there is one.
	pieces(ctx context.Context) iter.Seq2[piece, error]
}

// piece is a part of a record that is removed as a whole. The methods of a removed piece fail with
// fs.ErrNotExist.
type piece interface {
	name() string
	// stat returns its size in bytes, with payloads, and the time of its last write, or a little later.
	stat() (size int64, changed time.Time, err error)
	// first returns the number of the first line, 0 if it has none.
	first() uint64
	// lines yields the lines, and returns how many bytes of an unfinished one follow them. The
	// error is that of yield, or ctx's cause if that ends first.
	lines(ctx context.Context, yield func(raw []byte) error) (torn int, err error)
	// payloads is lines of the payloads.
	payloads(ctx context.Context, yield func(raw []byte) error) error
}

// medium stores a record. Only one goroutine writes to it, any may read.
type medium interface {
	source
	// begin finds the last line, 0 if there is none, and the key of digests, and notes what is wrong
	// with the record. It may be called again, after an error or errMoved.
	begin(ctx context.Context, note *Note) (Head, []byte, error)
	// append adds lines, of which first is the number of the first one, and reports whether they
	// begin a piece. After an error it is called with the same lines until it returns none, so
	// that a medium which cannot know whether they are there can find out; unless the error is
	// errMoved.
	append(ctx context.Context, first uint64, lines []byte) (began bool, err error)
	// appendPayloads adds payloads of the lines that were appended last.
	appendPayloads(ctx context.Context, lines []byte) error
	// removePayloads removes the payloads of pieces that pieces has yielded, the oldest first. The last
	// piece of all is not among them.
	removePayloads(ctx context.Context, old []piece) error
	// sync brings all lines to the disk, of which head is the last.
	sync(head Head) error
	// remove removes pieces that pieces has yielded, the oldest first.
	remove(ctx context.Context, old []piece) error
	// now returns the time by the clock that dates pieces; newest is the date of the last one.
	now(newest time.Time) time.Time
	close() error
}

var (
	// errSuperseded: another writer has begun to write to a medium that takes one.
	errSuperseded = errors.New("another hub has taken over the record")
	// errMoved: another writer has added lines behind the last one.
	errMoved = errors.New("the record does not end where it did")
)

// piecesOf returns the pieces of a source, oldest first.
func piecesOf(ctx context.Context, s source) ([]piece, error) {
	var all []piece
	for p, err := range s.pieces(ctx) {
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	slices.Reverse(all)
	return all, nil
}
