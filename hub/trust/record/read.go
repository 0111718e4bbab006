package record

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"
)

// Read returns the lines of the record in a directory that q selects, oldest first. The log
// may be open meanwhile, in this process or in another. Read leaves out what is no line; Verify
// reports it. The error is ctx's cause if that ends first.
func Read(ctx context.Context, path string, q Query) ([]Line, error) { return read(ctx, dir(path), q) }

// read is Read for any source. It holds no more than the Limit of selected lines in memory, and a
// piece of them.
func read(ctx context.Context, from source, q Query) ([]Line, error) {
	return q.seeker().read(ctx, from)
}

func (q *seeker) read(ctx context.Context, from source) ([]Line, error) {
	var found []Line // newest first
	for p, err := range from.pieces(ctx) {
		if err != nil {
			return nil, err
		}
		if q.Limit > 0 && len(found) >= q.Limit {
			break
		}
		if _, changed, err := p.stat(); err == nil && changed.Before(q.Since) {
			break // all others are older
		}
		if q.Before > 0 && p.first() >= q.Before {
			continue
		}
		var lines []Line
		_, err := p.lines(ctx, func(raw []byte) error {
			if l, ok := q.find(raw); ok {
				lines = append(lines, l)
			}
			return nil
		})
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		slices.Reverse(lines)
		found = append(found, lines...)
		if first := p.first(); 0 < first && first <= q.After { // 0: it has no line, or a damaged one
			break // the others have what is before
		}
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
func Follow(ctx context.Context, path string, q Query, each func(*Line) error) error {
	seek := q.seeker()
	for seen := ""; ; {
		if end := dir(path).end(); end != seen {
			lines, err := seek.read(ctx, dir(path))
			if err != nil {
				return err
			}
			for i := range lines {
				if err := each(&lines[i]); err != nil {
					return err
				}
			}
			seen, seek.After = end, max(seek.After, seek.last)
		}
		seek.Limit = 0 // it is about the lines that are there at first
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followDelay):
		}
	}
}
