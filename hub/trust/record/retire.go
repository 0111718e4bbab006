package record

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// retire removes the oldest pieces if there are too many or they are too old, once
// a piece and each hour. A line says up to where, so that the check does not miss them.
func (w *writer) retire(ctx context.Context) error {
	now := time.Now()
	if now.Sub(w.retired) < retireDelay {
		return nil
	}
	w.retired = now // also if another writer has to do it: next counts from here
	if !w.begun || w.late != "" {
		return nil
	}
	old, err := w.surplus(ctx)
	if err != nil || len(old) == 0 {
		return err
	}
	head, err := lastOf(ctx, old)
	if err != nil {
		return err
	}
	if head.N > 0 {
		w.notes = append(w.notes, Note{Retired: &head})
		if _, err := w.write(ctx, nil); err != nil {
			return err
		}
		w.retired = now // though the line may have begun a piece
		if err := w.sync(); err != nil {
			return err
		}
	}
	return w.medium.remove(ctx, old)
}

// surplus returns the pieces to remove, oldest first. The last one, which is being written, stays.
func (w *writer) surplus(ctx context.Context) ([]piece, error) {
	all, err := piecesOf(ctx, w.medium)
	if err != nil {
		return nil, err
	}
	sizes := make([]int64, len(all))
	changed := make([]time.Time, len(all))
	var total int64
	for i, p := range all {
		if sizes[i], changed[i], err = p.stat(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		total += sizes[i]
	}
	if len(all) == 0 {
		return nil, nil
	}
	now := w.medium.now(changed[len(all)-1])
	n := 0
	for n < len(all)-1 && (total > w.o.Max || now.Sub(changed[n]) > w.o.Keep) {
		total -= sizes[n]
		n++
	}
	return all[:n], nil
}

// lastOf returns the last line of pieces, which are in order.
func lastOf(ctx context.Context, in []piece) (h Head, err error) {
	for i := len(in) - 1; i >= 0 && h.N == 0; i-- {
		if _, err := in[i].lines(ctx, func(raw []byte) error { h = h.next(raw); return nil }); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Head{}, err
		}
	}
	return h, nil
}
