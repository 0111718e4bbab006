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
	askFor        = 2 * time.Minute  // a question waits for its answer
	lateFor       = 10 * time.Minute // one whose call has ended can be answered
	progressEvery = 10 * time.Second
)

// Asker is a way to reach the owner.
type Asker string

// The ways, as ask has them.
const (
	AskBrowser   Asker = "browser"   // a window of a paired browser
	AskClient    Asker = "client"    // the client asks its own user
	AskDashboard Asker = "dashboard" // the dashboard, and the command tabhub approve
)

// Askers are all, in the order in which they are asked.
var Askers = []Asker{AskBrowser, AskClient, AskDashboard}

// ParseAskers reads a list of ways.
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
		return nil, errors.New("somebody has to ask: browser, client or dashboard")
	}
	return all, nil
}

// Who has answered.
const (
	ByWindow    = "window"
	ByClient    = "client"
	ByDashboard = "dashboard"
	ByCommand   = "command"
)

// Browser shows questions in windows of the browsers that the owner has paired with the hub;
// never in one that the hub has started. It is safe for concurrent use.
type Browser interface {
	// Paired reports whether there is such a browser at all, connected or not.
	Paired() bool
	// Connected reports whether one is connected that can show a question.
	Connected() bool
	// Ask shows q and blocks until it is answered there. It waits for a connection that is
	// lost meanwhile, and sends q again. When ctx ends, the window is closed.
	Ask(ctx context.Context, q *spec.Ask) (spec.AskResult, error)
}

// Options configure a Desk.
type Options struct {
	Askers  []Asker // in this order; nil means the variable Askers
	Browser Browser // nil: none can be asked
	// Remember stores a rule that an answer has made, and returns when it is stored and
	// holds. It may be called by several goroutines at once.
	Remember func(policy.Rule) error
	// Kept is what Keep was given last, nil the first time. Keep stores the definitions
	// that the owner has allowed, so that a question can show what has changed; it does not
	// block. Nil: they are forgotten with the Desk.
	Kept   json.RawMessage
	Keep   func(json.RawMessage)
	Record record.Log   // gets an entry for each question that has ended; nil discards
	Log    *slog.Logger // nil discards
}

// Answer is how a question has ended.
type Answer struct {
	Question string     // its id; "" if there was none
	Reach    spec.Reach // "" if nobody has answered
	By       string     // one of the constants above
	Asked    time.Duration
}

// Denied is the error of a question that was not answered with a yes. Its words are for
// people and models, and say what the owner can do.
type Denied struct{ Words string }

func (e *Denied) Error() string { return e.Words }

// Desk has the questions to one owner. It is safe for concurrent use.
type Desk struct {
	opts    Options
	log     *slog.Logger
	windows chan struct{}    // has room for the one question that is shown in a window
	changed broadcast.Signal // fired when the questions change

	mu        sync.Mutex  // guards all below
	closed    error       // why no more is asked
	questions []*question // oldest first
	watchers  int
	history   history
	grants    []grant // oldest first
	kept      definitions
}

// New returns a Desk. Its caller closes it.
func New(opts Options) *Desk {
	if opts.Askers == nil {
		opts.Askers = Askers
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return &Desk{opts: opts, log: opts.Log, windows: make(chan struct{}, 1), kept: read(opts.Kept)}
}

// Ask asks the owner whether a call may be made, for which c.Decision says policy.Ask, and
// blocks until there is an answer, two minutes at most. Without an error the answer is yes,
// and good for this very call: the same client, item, definition and arguments. What reaches
// further is stored by then, so that who decides again is told so. It does not ask if the
// owner has allowed the identical call already, or an earlier round of this one.
//
// The error is a *Denied; an *AskBack, with which the client's request is to end; what was
// given to Withdraw or Close; or ctx's cause. The Answer says how the question has ended
// also then.
//
// Who waits holds no slot for calls: there may be 16 questions of a client, and 64 in all.
func (d *Desk) Ask(ctx context.Context, by *Caller, c Call) (Answer, error) {
	k := keyOf(&c)
	if r := by.Reply; r != nil {
		if q := d.find(r.Question); q != nil && q.key == k && d.isGivenBack(q) {
			d.take(q, r.Result, ByClient)
		}
	}
	if a, ok := d.redeem(by, k); ok {
		return a, nil
	}
	q, err := newQuestion(by, &c, d.allowed(c.Decision.Changed))
	if err != nil {
		return Answer{}, err
	}
	w := d.wayTo(by)
	if err := d.open(q, w); err != nil {
		return Answer{}, err
	}
	return d.wait(ctx, q, w)
}

func (d *Desk) isGivenBack(q *question) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return q.givenBack
}

// allowed returns the definition that a rule has allowed, nil if it is not known.
func (d *Desk) allowed(r *policy.Rule) json.RawMessage {
	if r == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.kept.get(r.Pin)
}

// SignIn is a client that wants to be let in.
type SignIn struct {
	Client spec.AskClient
	Why    []string // sentences about how it is known, and what it will be able to do
	// Code is shown on the page that wants to sign in: the owner has to repeat it.
	Code string
}

// SignIn asks the owner whether a client may use the hub, as Ask does, but never through a
// client. A yes comes with the code; who gives a wrong one three times has declined.
func (d *Desk) SignIn(ctx context.Context, s SignIn) (Answer, error) {
	q := &question{code: s.Code}
	q.Kind = spec.AskSignIn
	q.Client = spec.AskClient{Name: line(s.Client.Name), Said: line(s.Client.Said), Return: line(s.Client.Return)}
	q.Why, q.Reaches = s.Why, []spec.Reach{spec.ReachOnce}
	way := byNobody
	if d.browserAsks() {
		way = byBrowser
	}
	if err := d.open(q.sealed(), byOthers); err != nil {
		return Answer{}, err
	}
	return d.wait(ctx, q, way)
}

// open adds a question, if it may be asked. If nobody is there to ask, the error says so, and
// the question is one whose call has ended already: an earlier one if it was about the same.
func (d *Desk) open(q *question, w way) error {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.prune(now)
	ofClient, waiting := 0, 0
	var late *question
	for _, o := range d.questions {
		switch {
		case !o.Late:
			waiting++
			if q.call != nil && o.call != nil && o.key.client == q.key.client {
				ofClient++
			}
		case q.call != nil && o.key == q.key && !o.answering:
			late = o
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
	if w == byNobody {
		if late == nil {
			d.questions = append(d.questions, q)
			late = q
		}
		err := late.nobodyThere()
		late.release(ending{word: "unanswered", err: err})
		d.keep(late, lateFor)
		return err
	}
	if late != nil {
		d.end(late, ending{}) // this one takes its place
	}
	if q.call != nil {
		d.history.add(q.key, false, now)
	}
	d.questions = append(d.questions, q)
	d.changed.Fire()
	return nil
}

func (q *question) nobodyThere() *Denied {
	return &Denied{"the owner has to allow this call first, and cannot be asked now" + q.later()}
}

// later says how a call can still be allowed.
func (q *question) later() string {
	if q.call == nil {
		return ""
	}
	return fmt.Sprintf(". The owner can allow it with `tabhub approve %s` within %s; make the same call again then", q.ID, minutes(lateFor))
}

func minutes(d time.Duration) string { return fmt.Sprintf("%d minutes", int(d.Minutes())) }

// wait blocks until nobody is to wait for the answer to an open question any more.
func (d *Desk) wait(ctx context.Context, q *question, w way) (Answer, error) {
	var shown sync.WaitGroup
	defer shown.Wait()
	showing, cancel := context.WithCancel(ctx)
	defer cancel()
	shown.Go(func() { d.show(showing, q, w) })
	expired := time.NewTimer(askFor)
	defer expired.Stop()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	gone := ctx.Done()
	q.tellWaiting(0, w)
	for n := 1; ; n++ {
		select {
		case <-q.done:
			d.record(q, q.outcome, q.ended)
			if o := q.outcome; o.err == nil && q.call != nil {
				d.mu.Lock()
				d.goOn(q.by, grant{key: q.key, left: maxRounds, question: q.ID, by: o.by})
				d.mu.Unlock()
			}
			return Answer{q.ID, q.outcome.reach, q.outcome.by, q.ended.Sub(q.Since)}, q.outcome.err
		case <-gone:
			gone = nil // what is being answered ends soon
			o := ending{word: "cancelled", err: context.Cause(ctx)}
			if errors.Is(o.err, ErrWithdrawn) {
				d.withdraw(q, o.err)
			} else {
				d.giveUp(q, o)
			}
		case <-expired.C:
			d.giveUp(q, ending{word: "expired", err: &Denied{fmt.Sprintf("the owner has not answered within %s%s", minutes(askFor), q.later())}})
		case <-tick.C:
			q.tellWaiting(n, w)
		}
	}
}

// tellWaiting tells the client for the nth time, from 0 on, what its call waits for.
func (q *question) tellWaiting(n int, w way) {
	if q.by == nil {
		return
	}
	words := map[way]string{
		byOthers:  "waiting for the owner's answer (tabhub approve " + q.ID + ")",
		byBrowser: "waiting for the owner's answer in the browser",
		byClient:  "waiting for your answer",
	}[w]
	// It has to rise, and to be less than what the page says afterwards.
	q.by.Report(spec.Progress{Progress: float64(n) / 1000, Message: words, Waiting: true})
}

// ErrWithdrawn is, or is in, the cause of a context by which the owner has ended a call: its
// question is not to be answered any more.
var ErrWithdrawn = errors.New("the owner does not want to be asked")

func (d *Desk) withdraw(q *question, why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end(q, ending{word: "withdrawn", err: why})
}

// Withdraw ends the calls' questions for which why returns an error, with that error; those
// of which the call has ended as well.
func (d *Desk) Withdraw(why func(*policy.Action) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range slices.Clone(d.questions) {
		if q.call == nil {
			continue
		}
		if err := why(q.call.Action); err != nil {
			d.end(q, ending{word: "withdrawn", err: err})
		}
	}
}

// Close withdraws all questions and refuses new ones. It is idempotent, and does not wait for
// calls of Ask to return.
func (d *Desk) Close(cause error) {
	d.mu.Lock()
	if d.closed == nil {
		d.closed = cause
	}
	for _, q := range slices.Clone(d.questions) {
		d.end(q, ending{word: "withdrawn", err: cause})
	}
	d.grants = nil
	d.changed.Fire()
	d.mu.Unlock()
}
