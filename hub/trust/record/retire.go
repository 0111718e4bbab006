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
	if w.late != "" {
		return nil
	}
	if err := w.clear(ctx); err != nil || !w.begun {
		return err
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

// clear removes the payloads of pieces that are older than Options.Arguments, also if this writer has
// written nothing yet.
func (w *writer) clear(ctx context.Context) error {
	if w.o.Payloads {
		return nil
	}
	all, err := piecesOf(ctx, w.medium)
	if err != nil || len(all) == 0 {
		return err
	}
	_, newest, err := all[len(all)-1].stat()
	if err != nil {
		return err
	}
	now := w.medium.now(newest)
	n := 0
	for ; n < len(all); n++ {
		_, changed, err := all[n].stat()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if w.o.Arguments > 0 && now.Sub(changed) <= w.o.Arguments {
			break
		}
	}
	if n == 0 || n < len(all) && all[n-1].first() == w.cleared { // the last piece may have got new ones
		return nil
	}
	if err := w.medium.removePayloads(ctx, all[:n]); err != nil {
		return err
	}
	w.cleared = all[n-1].first()
	return nil
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
