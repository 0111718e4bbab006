package consent

import (
	"context"
	"errors"
	"slices"

	"tabhub/spec"
)

// way is who is asked first. The dashboard and the command can answer meanwhile.
type way int

const (
	byNobody way = iota // who could answer is not there
	byOthers            // somebody watches the questions
	byBrowser
	byClient
)

// wayTo returns how the owner can be reached about a client's call. The client is asked if
// the owner wants that first, or has no browser that could be: else a program could answer
// for its user by closing the browser.
func (d *Desk) wayTo(by *Caller) way {
	has := func(a Asker) bool { return slices.Contains(d.opts.Askers, a) }
	d.mu.Lock()
	watched := d.watchers > 0
	d.mu.Unlock()
	switch {
	case by.Elicit != nil && has(AskClient) && (d.opts.Askers[0] == AskClient || d.opts.Browser == nil || !d.opts.Browser.Paired()):
		return byClient
	case d.browserAsks():
		return byBrowser
	case watched && has(AskDashboard):
		return byOthers
	}
	return byNobody
}

func (d *Desk) browserAsks() bool {
	return slices.Contains(d.opts.Askers, AskBrowser) && d.opts.Browser != nil && d.opts.Browser.Connected()
}

// show gets the question to who is asked first, and takes the answer.
func (d *Desk) show(ctx context.Context, q *question, w way) {
	if w == byClient {
		r, err := q.by.Elicit(ctx, q.shown(forClient(q.Reaches), q.Since.Add(askFor)))
		back, ends := errors.AsType[*AskBack](err)
		switch {
		case err == nil:
			d.take(q, r, ByClient)
			return
		case ends:
			d.giveBack(q, back)
			return
		case ctx.Err() != nil:
			return
		}
		d.log.Warn("a client could not ask its user", "client", q.key.client, "err", err)
		if w = byNobody; d.browserAsks() {
			w = byBrowser
		}
	}
	if w == byBrowser {
		w = d.showInWindow(ctx, q)
	}
	if w == byNobody && q.call != nil && !d.watched() {
		d.giveUp(q, ending{word: "unanswered", err: q.nobodyThere()})
	}
}

// showInWindow asks in a browser, one question at a time. It returns byNobody if the browser
// could not be asked.
func (d *Desk) showInWindow(ctx context.Context, q *question) way {
	select {
	case d.windows <- struct{}{}:
		defer func() { <-d.windows }()
	case <-ctx.Done():
		return byBrowser
	}
	ask := q.shown(q.Reaches, q.Since.Add(askFor))
	ask.Waiting = d.waiting() - 1
	for {
		r, err := d.opts.Browser.Ask(ctx, ask)
		switch {
		case ctx.Err() != nil:
			return byBrowser
		case err != nil:
			d.log.Warn("a browser could not ask its owner", "err", err)
			return byNobody
		case d.take(q, r, ByWindow):
			return byBrowser
		}
		again := *ask // another window
		again.ID += "+"
		again.Why = append([]string{"The code was wrong."}, q.Why...)
		ask = &again
	}
}

// take takes an answer that counts whatever it is: one that was not offered is a no. It
// reports false if the owner is to try again, as the code was wrong.
func (d *Desk) take(q *question, r spec.AskResult, by string) bool {
	err := d.answer(q, r, by)
	if errors.Is(err, ErrReach) {
		err = d.answer(q, spec.AskResult{Reach: spec.ReachNo}, by)
	}
	return !errors.Is(err, ErrCode)
}
