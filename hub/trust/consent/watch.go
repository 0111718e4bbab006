package consent

import (
	"context"
	"iter"
	"time"
)

// Open returns the questions that can be answered, oldest first.
func (d *Desk) Open() []Question {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.removeExpired(time.Now())
	var all []Question
	for _, q := range d.questions {
		shown := q.Question
		shown.Ask = *q.shown(q.offered(), q.Until)
		shown.Count = max(1, len(q.waits))
		all = append(all, shown)
	}
	return all
}

// Unanswered returns how many of the open questions have no answer.
func Unanswered(open []Question) (n int) {
	for _, q := range open {
		if !q.Allowed {
			n++
		}
	}
	return n
}

// Watch yields the open questions now and whenever they change, until ctx ends or the Desk
// is closed. While there is a watcher, questions wait for its answer.
func (d *Desk) Watch(ctx context.Context) iter.Seq[[]Question] {
	return func(yield func([]Question) bool) {
		count := func(n int) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.watchers += n
		}
		count(1)
		defer count(-1)
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

// Waiting returns how many questions are shown to the owner or have calls wait for their answer, those of
// which a browser shows although none waits, by their ids, and a channel that is closed when that may
// have changed. Unlike Watch it is for a caller that cannot answer.
func (d *Desk) Waiting() (n int, gone []string, changed <-chan struct{}) {
	changed = d.changed.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.questions {
		if len(q.waits) == 0 && q.showing != nil && q.showing.window != "" {
			gone = append(gone, q.showing.window)
		}
	}
	return d.waiting(), gone, changed
}

// isWatched reports whether somebody looks at the dashboard's questions, and may answer there.
func (d *Desk) isWatched() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.watchers > 0 && d.opts.asks(AskDashboard)
}

// waiting is the number that Waiting returns. The caller holds d.mu.
func (d *Desk) waiting() (n int) {
	for _, q := range d.questions {
		if len(q.waits) > 0 || q.showing != nil {
			n++
		}
	}
	return n
}
