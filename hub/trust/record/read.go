package record

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"
)

// Read returns the lines of the record in a directory that q selects, oldest first. The log
// may be open meanwhile, in this process or in another. What is no line is left out; Verify
// tells of it. The error is ctx's cause if that ends first.
func Read(ctx context.Context, path string, q Query) ([]Line, error) { return read(ctx, dir(path), q) }

// read holds no more than a line in memory that is not selected, and of those no more than q's
// Limit, and a piece.
func read(ctx context.Context, from source, q Query) ([]Line, error) {
	seek := q.seeker()
	var found []Line // newest first
	for p, err := range from.pieces(ctx) {
		if err != nil {
			return nil, err
		}
		if q.Limit > 0 && len(found) >= q.Limit {
			break
		}
		if _, changed, err := p.stat(); err == nil && changed.Before(q.Since) {
			break // of what was written later nothing is older
		}
		if q.Before > 0 && p.first() >= q.Before {
			continue
		}
		var lines []Line
		_, err := p.lines(ctx, func(raw []byte) error {
			if l, ok := seek.find(raw); ok {
				lines = append(lines, l)
			}
			return nil
		})
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was retired
		}
		if err != nil {
			return nil, err
		}
		slices.Reverse(lines)
		found = append(found, lines...)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if q.Limit > 0 {
		found = found[:min(len(found), q.Limit)]
	}
	slices.Reverse(found)
	return found, nil
}

// each calls f with each line that q selects, oldest first, whatever its Limit, and holds one of
// them in memory at a time. The error is f's, or ctx's cause if that ends first.
func each(ctx context.Context, from source, q Query, f func(*Line) error) error {
	seek := q.seeker()
	return eachRaw(ctx, from, func(raw []byte) error {
		if l, ok := seek.find(raw); ok {
			return f(&l)
		}
		return nil
	})
}

// eachRaw calls f with the bytes of each line, which are valid until it returns.
func eachRaw(ctx context.Context, from source, f func(raw []byte) error) error {
	all, err := piecesOf(ctx, from)
	if err != nil {
		return err
	}
	for _, p := range all {
		if _, err := p.lines(ctx, f); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// followDelay is how often Follow looks for new lines.
const followDelay = 200 * time.Millisecond

// Follow calls each with the lines that Read returns, and then with those that are added,
// until ctx is done or each fails. It blocks.
func Follow(ctx context.Context, dir string, q Query, each func(*Line) error) error {
	t := tail{dir: dir}
	if err := t.skip(); err != nil {
		return err
	}
	lines, err := Read(ctx, dir, q)
	if err != nil {
		return err
	}
	for {
		for i := range lines {
			l := &lines[i]
			if !q.Match(l) {
				continue
			}
			if err := each(l); err != nil {
				return err
			}
			q.After = l.N
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followDelay):
		}
		if lines, err = t.read(); err != nil {
			return err
		}
	}
}

// tail reads what is added to a record.
type tail struct {
	dir string
	at  segment // what is before it has been read; zero: there is nothing yet
	pos int64   // what has been read of it
}

// skip goes to the end.
func (t *tail) skip() error {
	all, err := segments(t.dir)
	if err != nil || len(all) == 0 {
		return err
	}
	t.at = all[len(all)-1]
	whole, _, err := t.at.read(t.dir)
	t.pos = int64(len(whole))
	return err
}

// read returns the lines since the last time.
func (t *tail) read() (lines []Line, err error) {
	all, err := segments(t.dir) // before the lines: nothing is added to a segment that has a successor
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.compare(t.at) < 0 {
			continue
		}
		if s != t.at {
			t.at, t.pos = s, 0
		}
		added, err := t.added()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for raw := range eachLine(added) {
			if l, ok := decodeLine(raw); ok {
				lines = append(lines, l)
			}
		}
		t.pos += int64(len(added))
	}
	return lines, nil
}

// added returns the whole lines of the segment that have not been read.
func (t *tail) added() ([]byte, error) {
	f, err := os.Open(t.at.lines(t.dir))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Seek(t.pos, io.SeekStart); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	return wholeLines(b), err
}
