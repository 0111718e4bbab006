package consent

import (
	"context"
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
	askFor        = 2 * time.Minute  // how long a call waits for its answer
	deferredFor   = 10 * time.Minute // how long a question stays open whose call has ended
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
	// for the next one and sends q again. When ctx ends, it closes the window.
	Ask(ctx context.Context, q *spec.Ask) (spec.AskResult, error)
}

// Options configure a Desk.
type Options struct {
	Askers  []Asker // in this order; nil means the variable Askers
	Browser Browser // nil: none can be asked
	// Remember stores a rule that an answer has made, and returns when it is stored and
	// holds. It may be called by several goroutines at once.
	Remember func(policy.Rule) error
	// Allowed holds the definitions that the owner has allowed, as Store was last given them, so
	// that a question can show what has changed since. Store does not block. Nil: a Desk forgets
	// them when it is closed.
	Allowed json.RawMessage
	Store   func(json.RawMessage)
	Record  record.Log   // gets an entry for each question that ends; nil discards
	Log     *slog.Logger // nil discards
}

// Answer is how a question has ended.
type Answer struct {
	Question string     // its id; "" if there was none
	Reach    spec.Reach // "" without an answer
	By       string     // one of the constants above
	Asked    time.Duration
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

	mu        sync.Mutex  // guards all below
	closed    error       // why the Desk takes no more questions
	questions []*question // oldest first
	watchers  int
	history   history
	permits   []permit // oldest first
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
	return &Desk{opts: opts, window: make(chan struct{}, 1), allowed: readDefinitions(opts.Allowed)}
}

// Ask asks the owner whether a call may be made, for which c.Decision says policy.Ask, and
// blocks until there is an answer, two minutes at most. Without an error the answer is yes,
// and good for this very call: the same client, item, definition and arguments. A rule that
// the answer makes is stored by then. Ask does not ask if the owner has allowed the identical
// call already, or an earlier round of this one.
//
// The error is a *Denied; an *AskBack, with which the client's request is to end; the error
// given to Withdraw or Close; or ctx's cause. The Answer says how the question has ended
// in each case.
//
// A call that waits takes no slot for calls: there may be 16 questions of a client, and 64 in all.
func (d *Desk) Ask(ctx context.Context, by *Caller, c Call) (Answer, error) {
	k := keyOf(&c)
	if r := by.Reply; r != nil {
		if q := d.find(r.Question); q != nil && q.key == k && d.isAskedBack(q) {
			d.accept(q, r.Result, ByClient)
		}
	}
	if a, ok := d.usePermit(by, k); ok {
		return a, nil
	}
	q, err := newQuestion(by, &c, d.allowedBefore(c.Decision.Changed))
	if err != nil {
		return Answer{}, err
	}
	p := d.pathTo(by)
	if err := d.add(q, p); err != nil {
		return Answer{}, err
	}
	return d.wait(ctx, q, p)
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
	p := noPath
	if d.canAskBrowser() {
		p = throughBrowser
	}
	if err := d.add(q.sealed(), throughDashboard); err != nil {
		return Answer{}, err
	}
	return d.wait(ctx, q, p)
}

// add adds a question, if it may be asked. If no path leads to the owner, the error says so, and
// the question is a deferred one: an earlier one if that was about the same call.
func (d *Desk) add(q *question, p path) error {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.removeExpired(now)
	ofClient, waiting := 0, 0
	var deferred *question
	for _, o := range d.questions {
		switch {
		case !o.Deferred:
			waiting++
			if q.call != nil && o.call != nil && o.key.client == q.key.client {
				ofClient++
			}
		case q.call != nil && o.key == q.key && !o.answering:
			deferred = o
		}
	}
	switch {
	case d.closed != nil:
		return d.closed
	case q.call == nil && waiting < maxOpen:
	case ofClient >= maxOfClient, waiting >= maxOpen && ofClient > 0: // each client has room for one
		return &Denied{"too many calls wait for the owner's answer already; wait for some of them"}
	default:
		if words := d.history.refuse(q.key, now); words != "" {
			return &Denied{words}
		}
	}
	if p == noPath {
		if deferred == nil {
			d.questions = append(d.questions, q)
			deferred = q
		}
		err := deferred.unreachable()
		deferred.stopWaiting(outcome{word: "unanswered", err: err})
		d.limitDeferred(deferred, deferredFor)
		return err
	}
	if deferred != nil {
		d.end(deferred, outcome{}) // this one takes its place
	}
	if q.call != nil {
		d.history.add(q.key, false, now)
	}
	d.questions = append(d.questions, q)
	d.changed.Fire()
	return nil
}

func (q *question) unreachable() *Denied {
	return &Denied{"the owner has to allow this call first, and cannot be asked now" + q.howToApprove()}
}

// howToApprove says how the owner can allow a call that does not wait any more.
func (q *question) howToApprove() string {
	if q.call == nil {
		return ""
	}
	return fmt.Sprintf(". The owner can allow it with `tabhub approve %s` within %s; make the same call again then", q.ID, minutes(deferredFor))
}

func minutes(d time.Duration) string { return fmt.Sprintf("%d minutes", int(d.Minutes())) }

// wait blocks until a question is answered or ends otherwise.
func (d *Desk) wait(ctx context.Context, q *question, p path) (Answer, error) {
	var shown sync.WaitGroup
	defer shown.Wait()
	showing, cancel := context.WithCancel(ctx)
	defer cancel()
	shown.Go(func() { d.show(showing, q, p) })
	expired := time.NewTimer(askFor)
	defer expired.Stop()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	gone := ctx.Done()
	q.reportWaiting(0, p)
	for n := 1; ; n++ {
		select {
		case <-q.done:
			o := q.outcome
			d.record(q, o, q.ended)
			if o.err == nil && q.call != nil {
				d.mu.Lock()
				d.permitNextRound(q.by, permit{key: q.key, left: maxRounds, question: q.ID, by: o.by})
				d.mu.Unlock()
			}
			return Answer{q.ID, o.reach, o.by, q.ended.Sub(q.Since)}, o.err
		case <-gone:
			gone = nil // an answer that is being stored ends the wait soon
			err := context.Cause(ctx)
			if errors.Is(err, ErrWithdrawn) {
				d.mu.Lock()
				d.end(q, outcome{word: "withdrawn", err: err})
				d.mu.Unlock()
			} else {
				d.stop(q, outcome{word: "cancelled", err: err})
			}
		case <-expired.C:
			d.stop(q, outcome{word: "expired", err: &Denied{fmt.Sprintf("the owner has not answered within %s%s", minutes(askFor), q.howToApprove())}})
		case <-tick.C:
			q.reportWaiting(n, p)
		}
	}
}

// reportWaiting tells the client for the nth time, from 0 on, what its call waits for.
func (q *question) reportWaiting(n int, p path) {
	if q.by == nil {
		return
	}
	words := map[path]string{
		throughDashboard: "waiting for the owner's answer (tabhub approve " + q.ID + ")",
		throughBrowser:   "waiting for the owner's answer in the browser",
		throughClient:    "waiting for your answer",
	}[p]
	// It has to rise, and to be less than what the page says afterwards.
	q.by.Report(spec.Progress{Progress: float64(n) / 1000, Message: words, Waiting: true})
}

// ErrWithdrawn is, or is in, the cause of a context by which the owner has ended a call: its
// question ends, too.
var ErrWithdrawn = errors.New("the owner does not want to be asked")

// Withdraw ends the questions about calls, deferred ones too, for which why returns an error, with
// that error.
func (d *Desk) Withdraw(why func(*policy.Action) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range slices.Clone(d.questions) {
		if q.call == nil {
			continue
		}
		if err := why(q.call.Action); err != nil {
			d.end(q, outcome{word: "withdrawn", err: err})
		}
	}
}

// Close ends all questions and refuses new ones. It is idempotent, and does not wait for
// calls of Ask to return.
func (d *Desk) Close(cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed == nil {
		d.closed = cause
	}
	for _, q := range slices.Clone(d.questions) {
		d.end(q, outcome{word: "withdrawn", err: cause})
	}
	d.permits = nil
	d.changed.Fire()
}
