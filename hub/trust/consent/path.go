package consent

import (
	"context"
	"errors"
	"slices"
	"strings"
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
	ctx, stop := context.WithDeadline(d.ctx, q.expires())
	s := &showing{stop: stop}
	if p == throughClient {
		s.carrier, w.shown = w, make(chan struct{})
	}
	q.showing = s
	q.shows++
	d.shows.Go(func() {
		defer stop()
		unreachable := d.bring(ctx, q, s)
		d.mu.Lock()
		if q.showing == s {
			q.showing = nil
		}
		d.changed.Fire()
		d.mu.Unlock()
		if unreachable && !d.isWatched() {
			d.leaveAll(q, outcome{word: "unanswered", err: d.opts.unreachable(q, q.ID)})
		}
	})
}

// bring shows a question until it is answered, or ctx ends. It reports true if it could not be shown.
func (d *Desk) bring(ctx context.Context, q *question, s *showing) (unreachable bool) {
	if w := s.carrier; w != nil {
		r, err := w.by.Elicit(ctx, q.shown(q.forClient(), q.expires()))
		close(w.shown)
		back, asksBack := errors.AsType[*AskBack](err)
		switch {
		case err == nil:
			d.accept(q, r, ByClient)
			return false
		case asksBack:
			d.askBack(q, back)
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
	return d.showInWindow(ctx, q, s)
}

// showInWindow asks in a browser, one question at a time. It reports true if the browser could not be
// asked.
func (d *Desk) showInWindow(ctx context.Context, q *question, s *showing) (unreachable bool) {
	select {
	case d.window <- struct{}{}:
		defer func() { <-d.window }()
	case <-ctx.Done():
		return false
	}
	ask := q.shown(q.Reaches, q.expires())
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
