package consent

import (
	"context"
	"iter"
	"slices"
	"time"
)

// Open returns the questions that can be answered, oldest first. Identical ones that wait are
// one.
func (d *Desk) Open() []Question {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.removeExpired(time.Now())
	var all []Question
	var of []*question
	for _, q := range d.questions {
		waits := func(o *question) bool { return !o.Deferred && q.same(o) }
		if i := slices.IndexFunc(of, waits); i >= 0 && !q.Deferred {
			all[i].Count++
			continue
		}
		shown := q.Question
		shown.Ask = *q.shown(q.Reaches, q.Until)
		all, of = append(all, shown), append(of, q)
	}
	return all
}

// Watch yields the open questions now and whenever they change, until ctx ends or the Desk
// is closed. While there is a watcher, questions wait for its answer.
func (d *Desk) Watch(ctx context.Context) iter.Seq[[]Question] {
	return func(yield func([]Question) bool) {
		d.countWatchers(1)
		defer d.countWatchers(-1)
		for {
			changed := d.changed.Wait()
			all := d.Open()
			d.mu.Lock()
			closed := d.closed
			d.mu.Unlock()
			if closed != nil || !yield(all) {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// Waiting returns how many questions wait for an answer, and a channel that is closed when
// that may have changed. Unlike Watch it is for a caller that cannot answer.
func (d *Desk) Waiting() (n int, changed <-chan struct{}) {
	changed = d.changed.Wait()
	return d.waiting(), changed
}

func (d *Desk) countWatchers(change int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watchers += change
}

// isWatched reports whether somebody looks at the dashboard's questions, and may answer there.
func (d *Desk) isWatched() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.watchers > 0 && d.asks(AskDashboard)
}

// waiting returns how many questions wait.
func (d *Desk) waiting() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.questions {
		if !q.Deferred {
			n++
		}
	}
	return n
}
