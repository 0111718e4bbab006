package consent

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"time"

	"tabhub/hub/policy"
	"tabhub/hub/record"
	"tabhub/spec"
)

// Asker is a way to reach the owner.
type Asker string

// The ways, as --ask has them.
const (
	AskBrowser   Asker = "browser"   // a window of a paired browser
	AskClient    Asker = "client"    // the client asks its own user
	AskDashboard Asker = "dashboard" // the dashboard, and the command tabhub approve
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
	Askers  []Asker // in this order; nil means browser, client, dashboard
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
	By       string     // "window", "client", "dashboard" or "command"
	Asked    time.Duration
}

// Denied is the error of a question that was not answered with a yes. Its words are for
// people and models, and say what the owner can do.
type Denied struct{ Words string }

func (e *Denied) Error() string { return e.Words }

// Desk has the questions to one owner. It is safe for concurrent use.
type Desk struct{ opts Options }

// New returns a Desk. Its caller closes it.
func New(opts Options) *Desk { return &Desk{opts: opts} }

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
	return Answer{}, errors.New("not implemented")
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
	return Answer{}, errors.New("not implemented")
}

// Question is a question as it is shown.
type Question struct {
	spec.Ask
	Digest string    `json:"digest"` // of what is shown
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
	// Count is how many identical calls wait; an answer for once is for one of them.
	Count int `json:"count"`
	// Late: the call has ended without an answer. A yes is good for the same call again.
	Late bool `json:"late,omitempty"`
}

// Open returns the questions that can be answered, oldest first.
func (d *Desk) Open() []Question { return nil }

// Why an answer does not count.
var (
	ErrNoQuestion = errors.New("there is no such question any more: it was answered or withdrawn, or has expired")
	ErrChanged    = errors.New("this is not the question that was shown; look at it again")
	ErrReach      = errors.New("this cannot be answered so")
	ErrCode       = errors.New("this is not the code that the page shows")
)

// Answer answers a question that Open has shown with that digest. by is "dashboard" or
// "command". The answer counts when there is no error, and only the first one does: the error
// is one of those above, or that of Remember.
func (d *Desk) Answer(id, digest string, r spec.AskResult, by string) error { return ErrNoQuestion }

// Watch yields the open questions now and whenever they change, until ctx ends or the Desk
// is closed. Who watches can answer: questions wait for that.
func (d *Desk) Watch(ctx context.Context) iter.Seq[[]Question] {
	return func(func([]Question) bool) {}
}

// Withdraw ends the calls' questions that match, those of which the call has ended as well,
// with that error. A nil match matches all.
func (d *Desk) Withdraw(match func(*policy.Action) bool, cause error) {}

// Close withdraws all questions, refuses new ones, and waits for what the Desk has begun.
// It is idempotent.
func (d *Desk) Close(cause error) {}
