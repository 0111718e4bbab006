package consent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// path is how a question first reaches the owner. The dashboard and the command can answer
// meanwhile.
type path int

const (
	noPath           path = iota // nobody is there to answer
	throughDashboard             // somebody watches the questions
	throughBrowser
	throughClient
)

// pathTo returns how a question about a client's call reaches the owner. The client is asked if
// the owner wants that first, or has no browser that could be: else a program could answer
// for its user by closing the browser.
func (d *Desk) pathTo(by *Caller) path {
	asksFirst := func(a Asker) bool { return d.opts.Askers[0] == a }
	switch {
	case by.Elicit != nil && (by.Reply == nil || !by.Reply.Unanswered) && d.opts.asks(AskClient) && (asksFirst(AskClient) || d.opts.Browser == nil || !d.opts.Browser.Paired()):
		return throughClient
	case d.opts.canAskBrowser():
		return throughBrowser
	case d.isWatched():
		return throughDashboard
	}
	return noPath
}

func (o *Options) asks(a Asker) bool { return slices.Contains(o.Askers, a) }

func (o *Options) canAskBrowser() bool {
	return o.asks(AskBrowser) && o.Browser != nil && o.Browser.Connected()
}

// show begins to bring a question to the owner, and the answer back: for w, if that is how. The caller
// holds d.mu.
func (d *Desk) show(q *question, w *waiter, p path) {
	if p != throughBrowser && p != throughClient {
		return
	}
	s := new(showing)
	s.ctx, s.stop = context.WithCancel(d.ctx)
	if p == throughClient {
		s.carrier, w.shown = w, make(chan struct{})
	}
	q.showing = s
	q.shows++
	d.bringFor(q, s)
}

// bringFor brings a question to the owner until it expires: for the second time if a client has made its call
// again meanwhile, which begins the owner's time anew. The caller holds d.mu.
func (d *Desk) bringFor(q *question, s *showing) {
	s.running++
	until, again := q.expires(), s.again
	d.shows.Go(func() {
		ctx, cancel := context.WithDeadline(s.ctx, until)
		defer cancel()
		unreachable := false
		if again {
			unreachable = d.showInWindow(ctx, q, s, until)
		} else {
			unreachable = d.bring(ctx, q, s, until)
		}
		d.mu.Lock()
		if s.running--; s.running == 0 {
			s.stop()
			if q.showing == s {
				q.showing = nil
			}
		}
		d.changed.Fire()
		d.mu.Unlock()
		if unreachable && !d.isWatched() {
			d.leaveAll(q, outcome{word: "unanswered", err: d.opts.unreachable(q, q.ID)})
		}
	})
}

// bring shows a question until it is answered, or ctx ends. It reports true if it could not be shown.
func (d *Desk) bring(ctx context.Context, q *question, s *showing, until time.Time) (unreachable bool) {
	if w := s.carrier; w != nil {
		r, err := w.by.Elicit(ctx, q.shown(q.forClient(), until))
		close(w.shown)
		back, asksBack := errors.AsType[*AskBack](err)
		switch {
		case err == nil:
			d.accept(q, r, ByClient)
			return false
		case asksBack:
			d.leaveAll(q, outcome{word: "asked back", err: back})
			return false
		case ctx.Err() != nil:
			return false
		}
		if !errors.Is(err, ErrUnanswered) {
			d.opts.Log.Warn("a client could not ask its user", "client", q.key.Client, "err", err)
		}
		d.mu.Lock()
		s.carrier = nil
		d.mu.Unlock()
		if !d.opts.canAskBrowser() {
			return true
		}
	}
	select {
	case d.window <- struct{}{}: // one question at a time
		defer func() { <-d.window }()
		return d.showInWindow(ctx, q, s, until)
	case <-ctx.Done():
		return false
	}
}

// showInWindow asks in a browser. It reports true if the browser could not be asked.
func (d *Desk) showInWindow(ctx context.Context, q *question, s *showing, until time.Time) (unreachable bool) {
	ask := q.shown(q.Reaches, until)
	d.mu.Lock()
	ask.ID += strings.Repeat("+", q.shows-1) // a window of its own
	ask.Waiting = d.waiting() - 1
	d.mu.Unlock()
	for {
		d.mu.Lock()
		s.window = ask.ID
		d.changed.Fire()
		d.mu.Unlock()
		r, err := d.opts.Browser.Ask(ctx, ask)
		switch {
		case err == nil && d.accept(q, r, ByWindow), ctx.Err() != nil:
			return false
		case err != nil:
			d.opts.Log.Warn("a browser could not ask its owner", "err", err)
			return true
		}
		again := *ask
		again.ID += "+"
		again.Why = append([]string{"The code was wrong."}, q.Why...)
		ask = &again
	}
}
