package consent

import (
	"context"
	"errors"
	"slices"
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
	case by.Elicit != nil && d.asks(AskClient) && (asksFirst(AskClient) || d.opts.Browser == nil || !d.opts.Browser.Paired()):
		return throughClient
	case d.canAskBrowser():
		return throughBrowser
	case d.isWatched():
		return throughDashboard
	}
	return noPath
}

func (d *Desk) asks(a Asker) bool { return slices.Contains(d.opts.Askers, a) }

func (d *Desk) canAskBrowser() bool {
	return d.asks(AskBrowser) && d.opts.Browser != nil && d.opts.Browser.Connected()
}

// show brings the question to the owner, and the answer back.
func (d *Desk) show(ctx context.Context, q *question, p path) {
	if p == throughClient {
		r, err := q.by.Elicit(ctx, q.shown(forClient(q.Reaches), q.Since.Add(askFor)))
		back, asksBack := errors.AsType[*AskBack](err)
		switch {
		case err == nil:
			d.accept(q, r, ByClient)
			return
		case asksBack:
			d.askBack(q, back)
			return
		case ctx.Err() != nil:
			return
		}
		d.opts.Log.Warn("a client could not ask its user", "client", q.key.client, "err", err)
		if p = noPath; d.canAskBrowser() {
			p = throughBrowser
		}
	}
	if p == throughBrowser {
		p = d.showInWindow(ctx, q)
	}
	if p == noPath && q.call != nil && !d.isWatched() {
		d.stop(q, outcome{word: "unanswered", err: q.unreachable()})
	}
}

// showInWindow asks in a browser, one question at a time. It returns noPath if the browser
// could not be asked.
func (d *Desk) showInWindow(ctx context.Context, q *question) path {
	select {
	case d.window <- struct{}{}:
		defer func() { <-d.window }()
	case <-ctx.Done():
		return throughBrowser
	}
	ask := q.shown(q.Reaches, q.Since.Add(askFor))
	ask.Waiting = d.waiting() - 1
	for {
		r, err := d.opts.Browser.Ask(ctx, ask)
		switch {
		case ctx.Err() != nil:
			return throughBrowser
		case err != nil:
			d.opts.Log.Warn("a browser could not ask its owner", "err", err)
			return noPath
		case d.accept(q, r, ByWindow):
			return throughBrowser
		}
		again := *ask // another window
		again.ID += "+"
		again.Why = append([]string{"The code was wrong."}, q.Why...)
		ask = &again
	}
}
