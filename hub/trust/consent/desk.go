package consent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"tabhub/hub/broadcast"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

const (
	askFor        = 2 * time.Minute // how long a call waits for its answer
	deferredFor   = 24 * time.Hour  // how long a question stays open for which no call waits
	progressEvery = 10 * time.Second
)

// Asker is a way to reach the owner.
type Asker string

// The values of the setting ask.
const (
	AskBrowser   Asker = "browser"   // a window of a paired browser
	AskClient    Asker = "client"    // the client asks its own user
	AskDashboard Asker = "dashboard" // the dashboard, and the command tabhub approve
)

// Askers are all Askers, in their default order.
var Askers = []Asker{AskBrowser, AskClient, AskDashboard}

// ParseAskers reads a list of Askers.
func ParseAskers(names []string) ([]Asker, error) {
	var all []Asker
	for _, name := range names {
		a := Asker(name)
		if !slices.Contains(Askers, a) || slices.Contains(all, a) {
			return nil, fmt.Errorf("%q may be browser, client or dashboard, each once", name)
		}
		all = append(all, a)
	}
	if len(all) == 0 {
		return nil, errors.New("at least one of browser, client and dashboard has to ask")
	}
	return all, nil
}

// Where an answer was given.
const (
	ByWindow    = "window"
	ByClient    = "client"
	ByDashboard = "dashboard"
	ByCommand   = "command"
)

// Browser shows questions in windows of the browsers that the owner has paired with the hub,
// never in one that the hub has started. It is safe for concurrent use.
type Browser interface {
	// Paired reports whether there is such a browser at all, connected or not.
	Paired() bool
	// Connected reports whether one is connected that can show a question.
	Connected() bool
	// Ask shows q and blocks until the owner answers it there. If the connection is lost, it waits
	// for the next one and sends q again. When ctx ends, it closes the window. Waiting has the ids of
	// those that are shown for clients that have gone.
	Ask(ctx context.Context, q *spec.Ask) (spec.AskResult, error)
}

// Options configure a Desk.
type Options struct {
	Askers []Asker // in this order; nil means the variable Askers
	// Dashboard is the address of the hub's dashboard, and Command returns the line by which the owner runs one of
	// tabhub's commands, "" if the owner has no such program. Refusals name them.
	Dashboard string
	Command   func(words ...string) string
	Browser   Browser // nil: none can be asked
	// Remember stores a rule that an answer has made, and returns when it is stored and
	// holds. It may be called by several goroutines at once.
	Remember func(policy.Rule) error
	// Allowed holds the definitions that the owner has allowed, as Store was last given them, so
	// that a question can show what has changed since. Store does not block. Nil: a Desk forgets
	// them when it is closed.
	Allowed json.RawMessage
	Store   func(json.RawMessage)
	// Late are the deferred questions that an earlier Desk has stored by Keep, and not deleted by Forget.
	// Neither blocks. synced, if not nil, is called once the deletion is on disk or has failed. Nil: they end
	// with the Desk.
	Late   []json.RawMessage
	Keep   func(id string, question json.RawMessage)
	Forget func(id string, synced func(error))
	Record record.Log   // gets an entry for each question that ends; nil discards
	Log    *slog.Logger // nil discards
}

// Answer is how a question has ended.
type Answer struct {
	Question string     // its id; "" if there was none
	Reach    spec.Reach // "" without an answer
	By       string     // one of the constants above
	Asked    time.Duration

	once *once     // nil if the answer is good for more than one call, or for none
	used *deletion // that it is used up is stored when this is; nil: it need not be
}

// Denied is the error of a call that the owner has not allowed. Its words are for people and
// models, and say what the owner can do.
type Denied struct{ Words string }

func (e *Denied) Error() string { return e.Words }

// Desk holds the questions to one owner. It is safe for concurrent use.
type Desk struct {
	opts    Options
	window  chan struct{}    // holds an element while a window shows a question: one at a time
	changed broadcast.Signal // fires when the questions change
	ctx     context.Context  // ends with the Desk
	stop    context.CancelFunc
	shows   sync.WaitGroup // the goroutines that bring questions to the owner

	mu        sync.Mutex  // guards all below
	closed    error       // why the Desk takes no more questions
	questions []*question // oldest first
	watchers  int
	sweep     *time.Timer // nil: nothing is stored
	history   history
	permits   []permit // oldest first
	passed    []*once  // those whose calls may not be sent; oldest first
	allowed   definitions
}

// New returns a Desk. Its caller closes it.
func New(opts Options) *Desk {
	if opts.Askers == nil {
		opts.Askers = Askers
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	d := &Desk{opts: opts, window: make(chan struct{}, 1), questions: readQuestions(opts.Late), allowed: readDefinitions(opts.Allowed)}
	d.ctx, d.stop = context.WithCancel(context.Background())
	return d
}

// Ask asks the owner whether a call may be made, for which c.Decision says policy.Ask, and
// blocks until there is an answer, two minutes at most. Without an error the answer is yes,
// and good for this very call: the same client, item, definition and arguments. A rule that
// the answer makes is stored by then. Ask does not ask if the owner has allowed the identical
// call already, or an earlier round of this one; nor does it ask twice while an identical call is
// asked about.
//
// The error is a *Denied; an *AskBack, with which the client's request is to end; the error
// given to Withdraw or Close; or ctx's cause. The Answer says how the question has ended
// in each case. If ctx ends, the question stays open: a yes permits the identical call once.
//
// A call that waits takes no slot for calls: 16 of a client may wait, and 64 in all.
func (d *Desk) Ask(ctx context.Context, by *Caller, c Call) (Answer, error) {
	k := keyOf(by, &c)
	if r := by.Reply; r != nil && !r.Unanswered {
		if q := d.find(r.Question); q != nil && q.key == k && d.isAskedBack(q) {
			d.accept(q, r.Result, ByClient)
		}
	}
	q, err := newQuestion(by, &c, d.allowedBefore(c.Decision.Changed))
	if err != nil {
		return Answer{}, err
	}
	w := &waiter{by: by, call: c.ID, since: time.Now(), done: make(chan struct{})}
	p := d.pathTo(by)
	q, a, err := d.add(q, w, p)
	switch {
	case q != nil:
		return d.wait(ctx, q, w, p)
	case a.used != nil:
		return d.used(ctx, a)
	}
	return a, err
}

func (d *Desk) isAskedBack(q *question) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return q.askedBack
}

// allowedBefore returns the definition that a rule has allowed, nil if the Desk does not know it.
func (d *Desk) allowedBefore(r *policy.Rule) json.RawMessage {
	if r == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.allowed.get(r.Pin)
}

// SignIn is a client that wants to use the hub.
type SignIn struct {
	Client spec.AskClient
	Why    []string // sentences about how it is known, and what it will be able to do
	// Code is shown on the page that wants to sign in: the owner has to repeat it.
	Code string
}

// SignIn asks the owner whether a client may use the hub, as Ask does, but never through a
// client. A yes comes with the code; three wrong codes are a no.
func (d *Desk) SignIn(ctx context.Context, s SignIn) (Answer, error) {
	q := &question{code: s.Code}
	q.Kind = spec.AskSignIn
	q.Client = spec.AskClient{Name: line(s.Client.Name), Said: line(s.Client.Said), Return: line(s.Client.Return)}
	q.Why, q.Reaches = s.Why, []spec.Reach{spec.ReachOnce}
	q.entry = record.Entry{Event: record.Ask, Name: q.Client.Name, Said: q.Client.Said}
	q.seal(rand.Text())
	p := throughDashboard
	if d.opts.canAskBrowser() {
		p = throughBrowser
	}
	w := &waiter{since: time.Now(), done: make(chan struct{})}
	if q, _, err := d.add(q, w, p); q == nil {
		return Answer{}, err
	}
	return d.wait(ctx, q, w, p)
}

// add has a call wait for the answer to a question, if it may be asked, and returns that: an open one if
// that is about the identical call. It returns nil and the answer if the owner has permitted that already.
// If no path leads to the owner, the error says so, and the question is a deferred one.
func (d *Desk) add(q *question, w *waiter, p path) (*question, Answer, error) {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.removeExpired(now)
	if q.isCall() {
		if a, ok := d.usePermit(w.by, q.key); ok {
			return nil, a, nil
		}
	}
	ofClient, waiting := 0, 0
	var open *question
	for _, o := range d.questions {
		waiting += len(o.waits)
		if q.isCall() && o.isCall() && o.key.Client == q.key.Client {
			ofClient += len(o.waits)
		}
		if q.isCall() && o.takes(w, q.key) {
			open = o
		}
	}
	joins := open != nil && (open.answering || open.showing != nil || len(open.waits) > 0)
	switch {
	case d.closed != nil:
		return nil, Answer{}, d.closed
	case !q.isCall() && waiting < maxOpen:
	case ofClient >= maxOfClient, waiting >= maxOpen && ofClient > 0: // each client has room for one
		return nil, Answer{}, &Denied{"too many calls wait for the owner's answer already; wait for some of them"}
	case joins, p == noPath && open != nil: // the owner is not asked once more
	default:
		if words := d.history.refuse(q.key, now); words != "" {
			return nil, Answer{}, &Denied{words}
		}
	}
	switch {
	case joins:
		q = open
		if s := q.showing; s != nil && s.window != "" && !s.again && len(q.waits) == 0 {
			s.again, q.asked = true, now
			d.bringFor(q, s)
		}
	case p == noPath && open != nil:
		open.askedBack = false
		d.deferQuestion(open, deferredFor)
		return nil, Answer{Question: open.ID}, d.opts.unreachable(q, open.ID)
	case p == noPath:
		d.history.addUnseen(q.key, now)
		d.questions = append(d.questions, q)
		d.deferQuestion(q, deferredFor)
		return nil, Answer{Question: q.ID}, d.opts.unreachable(q, q.ID)
	default:
		if open != nil { // what is known of the call by now takes its place, under the id that the owner may have
			q.shows, q.stored, open.stored = open.shows, open.stored, false
			q.seal(open.ID)
			d.end(open, outcome{})
		}
		if q.isCall() {
			d.history.add(q.key, 0, now)
		}
		d.questions = append(d.questions, q)
		d.show(q, w, p)
	}
	w.until = q.expires()
	q.waits, q.Deferred, q.askedBack, q.Until = append(q.waits, w), false, false, q.expires()
	d.changed.Fire()
	return q, Answer{}, nil
}

func minutes(d time.Duration) string { return fmt.Sprintf("%d minutes", int(d.Minutes())) }

// wait blocks until a question is answered, or the wait of a call for that ends otherwise.
func (d *Desk) wait(ctx context.Context, q *question, w *waiter, p path) (Answer, error) {
	expired := time.NewTimer(time.Until(w.until))
	defer expired.Stop()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	gone := ctx.Done()
	words := d.opts.waitingFor(q.ID, p)
	w.reportWaiting(0, words)
	for n := 1; ; n++ {
		select {
		case <-w.done:
			return d.ended(ctx, q, w)
		case <-gone:
			gone = nil // an answer that is being stored ends the wait soon
			o := outcome{word: "cancelled", err: context.Cause(ctx)}
			if errors.Is(o.err, ErrWithdrawn) {
				o.word = "withdrawn"
			}
			d.leave(q, w, o)
		case <-expired.C:
			d.leave(q, w, outcome{word: "expired", err: d.opts.expired(q)})
		case <-tick.C:
			w.reportWaiting(n, words)
		}
	}
}

// ended returns how the wait of a call has ended, once its client shows it nothing more.
func (d *Desk) ended(ctx context.Context, q *question, w *waiter) (Answer, error) {
	if w.shown != nil {
		<-w.shown
	}
	d.opts.record(q.entryFor(w), w.call, w.outcome, w.since, w.ended)
	a := Answer{Question: q.ID, Reach: w.reach, By: w.outcome.by, Asked: w.ended.Sub(w.since)}
	if w.err != nil || !q.isCall() {
		return a, w.err
	}
	a.once = w.once
	if ctx.Err() != nil {
		d.Unsent(a, context.Cause(ctx))
		return a, context.Cause(ctx)
	}
	a.used = w.deleted
	if a, err := d.used(ctx, a); err != nil {
		return a, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.permitNextRound(w.by, permit{key: q.key, left: maxRounds, question: q.ID, by: a.By, action: q.action})
	return a, nil
}

// entryFor returns the record of how the wait of one call for a question has ended: another session of the
// client may have asked first.
func (q *question) entryFor(w *waiter) record.Entry {
	e := q.entry
	if w.by == nil {
		return e
	}
	e.Session, e.Via, e.Said = w.by.Session, w.by.Via, ""
	if said := line(w.by.Said); said != e.Name {
		e.Said = said
	}
	return e
}

// reportWaiting tells the client for the nth time, from 0 on, what its call waits for.
func (w *waiter) reportWaiting(n int, words string) {
	if w.by != nil {
		// It has to rise, and to be less than what the page says afterwards.
		w.by.Report(spec.Progress{Progress: float64(n) / 1000, Message: words, Waiting: true})
	}
}

// waitingFor says what a call waits for whose question takes a path.
func (o *Options) waitingFor(id string, p path) string {
	switch p {
	case throughBrowser:
		return "waiting for the owner's answer in the browser"
	case throughClient:
		return "waiting for your answer"
	}
	if line := o.command("approve", ShortID(id)); line != "" {
		return "waiting for the owner's answer (" + line + ")"
	}
	return "waiting for the owner's answer"
}

// ErrWithdrawn is, or is in, the cause of a context by which the owner has ended a call: its
// question ends, too.
var ErrWithdrawn = errors.New("the owner does not want to be asked")

// Withdraw ends the questions about calls, those too that are deferred or allowed, for which why returns an error, with
// that error. A yes that is being stored lets nothing pass then, nor does one that lets the next round of a call pass.
func (d *Desk) Withdraw(why func(*policy.Action) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range slices.Clone(d.questions) {
		if q.action == nil {
			continue
		}
		if err := why(q.action); err != nil {
			q.withdrawn = err
			d.end(q, outcome{word: "withdrawn", err: err})
		}
	}
	d.passed = slices.DeleteFunc(d.passed, func(o *once) bool { return why(o.of.action) != nil })
	d.permits = slices.DeleteFunc(d.permits, func(p permit) bool { return why(p.action) != nil })
}

// Close ends the wait of all calls, of which the questions stay in the store, and refuses further ones. It is idempotent, and does not wait for
// calls of Ask to return.
func (d *Desk) Close(cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed == nil {
		d.closed = cause
	}
	for _, q := range slices.Clone(d.questions) {
		if len(q.waits) > 0 && !q.answering {
			q.Deferred, q.Until = true, time.Now().Add(deferredFor)
			d.keep(q)
		}
		q.stored = false // the next Desk has it
		d.end(q, outcome{word: "withdrawn", err: cause})
	}
	d.permits = nil
	if d.sweep != nil {
		d.sweep.Stop()
	}
	d.stop()
	d.changed.Fire()
}

// Wait blocks until nothing shows a question any more. Its caller has called Close.
func (d *Desk) Wait() { d.shows.Wait() }
