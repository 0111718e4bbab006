package record

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"time"

	"tabhub/storage"
)

// streamGather is how long what comes after a write to a stream waits for more. A node that is killed
// loses that much.
const streamGather = 100 * time.Millisecond

// Stream is where the batches of lines of a user are, if they are not in files, such as a Log of
// storage/jetstream/streamlog. Begin, Append, AppendBeside and Remove are called by one goroutine,
// the others by any. All end with their contexts.
type Stream interface {
	// Begin finds where the log ends. It returns the first and the last batch, which are empty if
	// there is none, and whether another that has taken over the user has written.
	Begin(ctx context.Context) (first, last storage.Batch, late bool, err error)
	// Append adds a batch, and reports whether it begins a piece. It fails with storage.ErrMoved if
	// another has written since, or with another error, after which it is called with the same
	// batch and finds out whether that is there.
	Append(ctx context.Context, b storage.Batch) (began bool, err error)
	// AppendBeside adds lines that belong to the batch that was appended last.
	AppendBeside(ctx context.Context, lines []byte) error
	// Pieces yields what there is, the newest first. An error is the last that it yields.
	Pieces(ctx context.Context) iter.Seq2[storage.Piece, error]
	// Read calls f with the batches of a piece. It fails with fs.ErrNotExist if that was removed.
	Read(ctx context.Context, p storage.Piece, f func(data []byte) error) error
	// ReadBeside calls f with whole lines of those that are beside a piece.
	ReadBeside(ctx context.Context, p storage.Piece, f func(data []byte) error) error
	// Remove removes all before the batch with this sequence, RemoveBeside what is beside it.
	Remove(ctx context.Context, before uint64) error
	RemoveBeside(ctx context.Context, before uint64) error
}

// OpenStream returns the log in a stream. o.Key must be set: readers of the stream would see a key
// there. The log writes nothing before the first entry. While it cannot write, the Status says so,
// and it tries again.
func OpenStream(s Stream, o Options) *Recorder {
	if len(o.Key) == 0 {
		panic("record: without a key anybody could guess arguments from their digests")
	}
	o.setDefaults()
	return start(&stream{s, o.Key, o.Node}, o, streamGather)
}

// stream is a Stream as a medium.
type stream struct {
	Stream
	key  []byte
	node string // see Options.Node
}

func (s *stream) begin(ctx context.Context, note *Note) (last Head, key []byte, err error) {
	oldest, newest, late, err := s.Begin(ctx)
	if err != nil {
		return Head{}, nil, err
	}
	if late {
		note.Late = cmp.Or(s.node, "another")
	}
	for raw := range bytes.Lines(newest.Data) {
		last = last.next(bytes.TrimSuffix(raw, []byte("\n")))
	}
	// The stream removes what is old of users who stay away. When they come back, no line says so.
	if l, ok := decodeLine(oldest.Data[:max(0, bytes.IndexByte(oldest.Data, '\n'))]); ok && l.N > 1 {
		note.Retired = &Head{l.N - 1, l.Prev}
	}
	return last, s.key, nil
}

func (s *stream) append(ctx context.Context, first uint64, lines []byte) (began bool, err error) {
	began, err = s.Append(ctx, storage.Batch{Index: first, Data: lines})
	if errors.Is(err, storage.ErrMoved) {
		err = errMoved
	}
	return began, err
}

func (s *stream) appendPayloads(ctx context.Context, lines []byte) error {
	return s.AppendBeside(ctx, lines)
}

// sync has nothing to do: what was appended is on as many servers as the stream has replicas.
func (s *stream) sync(Head) error { return nil }

func (s *stream) removePayloads(ctx context.Context, old []piece) error {
	return s.RemoveBeside(ctx, old[len(old)-1].(streamPiece).Next)
}

func (s *stream) remove(ctx context.Context, old []piece) error {
	return s.Remove(ctx, old[len(old)-1].(streamPiece).Next)
}

// now returns a time by the servers' clock. One of a node that is set to a later year removes nothing.
func (s *stream) now(newest time.Time) time.Time { return newest }

func (s *stream) close() error { return nil }

func (s *stream) pieces(ctx context.Context) iter.Seq2[piece, error] {
	return func(yield func(piece, error) bool) {
		for p, err := range s.Pieces(ctx) {
			if !yield(streamPiece{p, s.Stream}, err) {
				return
			}
		}
	}
}

// streamPiece is a piece of a stream.
type streamPiece struct {
	storage.Piece
	of Stream
}

func (p streamPiece) name() string { return fmt.Sprintf("messages %d to %d", p.Start, p.End) }

func (p streamPiece) stat() (int64, time.Time, error) { return p.Size, p.Changed, nil }

func (p streamPiece) first() uint64 { return p.Index }

func (p streamPiece) lines(ctx context.Context, yield func(raw []byte) error) (torn int, err error) {
	err = p.of.Read(ctx, p.Piece, inLines(yield))
	return 0, err
}

func (p streamPiece) payloads(ctx context.Context, yield func(raw []byte) error) error {
	err := p.of.ReadBeside(ctx, p.Piece, inLines(yield))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// inLines returns what calls f with each line of a batch.
func inLines(f func(raw []byte) error) func(data []byte) error {
	return func(data []byte) error {
		_, err := eachLineIn(context.Background(), bytes.NewReader(data), f)
		return err
	}
}
