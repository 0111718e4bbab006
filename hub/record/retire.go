package record

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// retire removes the oldest segments, if those that are there are too many or too old, once
// a segment and each hour. A line says which, so that they are not taken for lost.
func (w *writer) retire() error {
	now := time.Now()
	if w.file == nil || now.Sub(w.retired) < retireDelay && w.since.Before(w.retired) {
		return nil
	}
	w.retired = now
	old, err := w.surplus(now)
	if err != nil || len(old) == 0 {
		return err
	}
	head, err := lastOf(w.dir, old)
	if err != nil {
		return err
	}
	if head.N > 0 {
		w.notes = append(w.notes, Note{Retired: &head})
		if _, err := w.write(nil); err != nil {
			w.notes = w.notes[:len(w.notes)-1]
			return err
		}
		if err := w.sync(); err != nil {
			return err
		}
	}
	for _, s := range old {
		if err := os.Remove(s.payloads(w.dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.Remove(s.lines(w.dir)); err != nil {
			return err
		}
	}
	return nil
}

// surplus returns the segments to remove, oldest first. The one that is being written stays.
func (w *writer) surplus(now time.Time) ([]segment, error) {
	all, err := segments(w.dir)
	if err != nil {
		return nil, err
	}
	sizes := make([]int64, len(all))
	changed := make([]time.Time, len(all))
	var total int64
	for i, s := range all {
		for _, path := range []string{s.lines(w.dir), s.payloads(w.dir)} {
			fi, err := os.Stat(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			sizes[i] += fi.Size()
			if fi.ModTime().After(changed[i]) {
				changed[i] = fi.ModTime()
			}
		}
		total += sizes[i]
	}
	n := 0
	for n < len(all) && all[n] != w.segment && (total > w.o.Max || now.Sub(changed[n]) > w.o.Keep) {
		total -= sizes[n]
		n++
	}
	return all[:n], nil
}

// lastOf returns the last line of segments, which are in order.
func lastOf(dir string, in []segment) (h Head, err error) {
	for i := len(in) - 1; i >= 0 && h.N == 0; i-- {
		whole, _, err := in[i].read(dir)
		if err != nil {
			return Head{}, err
		}
		for raw := range eachLine(whole) {
			h = h.next(raw)
		}
	}
	return h, nil
}
