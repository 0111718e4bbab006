package consent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// Question is a question as it is shown.
type Question struct {
	spec.Ask
	Digest string    `json:"digest"` // of what is shown
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
	// Count is how many identical calls wait; an answer for once is for one of them.
	Count int `json:"count"`
	// Deferred: no call waits for the answer any more. A yes permits the same call once.
	Deferred bool `json:"late,omitempty"`
	// Allowed: the owner has said yes to it, and the call has not been made since.
	Allowed bool `json:"allowed,omitempty"`
}

// question is an open question. It ends when it is answered, withdrawn or too old, whatever becomes of
// the calls that wait for it: the client may give up, and ask again. What it shows and is about does not
// change.
type question struct {
	Question
	key        key
	code       string                     // of a sign-in
	action     *policy.Action             // nil for a sign-in, and for one that was read from the store
	rules      map[spec.Reach]policy.Rule // that the answers make which reach further than this call
	lasting    bool                       // such a rule counts against what has asked
	beforehand []string                   // the command that allows such calls unasked
	is         json.RawMessage            // the definition that is called
	entry      record.Entry               // for the record, but for how the question ends

	// Guarded by Desk.mu, as are Deferred, Allowed and Until.
	waits      []*waiter // oldest first
	showing    *showing  // nil: nothing shows it
	shows      int       // how often something has
	asked      time.Time // since when it has been shown: Since, or when a call has joined it
	answering  bool      // an answer is being stored: no other counts
	withdrawn  error     // why a yes that is being stored does not count; nil: it does
	wrongCodes int
	askedBack  bool   // a further request of the client may bring the answer
	by         string // where it was allowed
	stored     bool
	deleted    *deletion // the latest
	kept       struct {  // as it was stored last
		Allowed bool
		Until   time.Time
	}
}

// waiter is a call that waits for the answer to a question.
type waiter struct {
	by    *Caller // nil for a sign-in
	call  string  // its id, for the record
	since time.Time
	until time.Time     // set when it begins to wait
	shown chan struct{} // closed when its client shows it nothing more; nil: it does not

	done chan struct{} // closed when it stops waiting, before which the rest is guarded by Desk.mu
	outcome
	ended   time.Time
	deleted *deletion // of the question
	once    *once     // nil if the answer is good for more than this call, or for none
}

// showing is the goroutine that brings a question to the owner. It belongs to the question, but for one
// that a client shows: that ends with the client's call.
type showing struct {
	carrier *waiter         // whose client shows it; nil: a browser does
	ctx     context.Context // ends when it is to be shown no more
	stop    context.CancelFunc

	// Guarded by Desk.mu.
	window  string // the id that a browser has shown it by
	running int    // goroutines: a second one if the time was begun anew
	again   bool   // it was
}

func (w *waiter) end(o outcome) {
	w.outcome, w.ended = o, time.Now()
	close(w.done)
}

// key identifies a call, where it goes, and the layer of rules that asks about it: a yes for this once is
// about nothing else.
type key struct {
	Client string       `json:"client"`
	Layer  policy.Layer `json:"layer"`
	Of     policy.Of    `json:"of"`
	Kind   spec.Kind    `json:"kind"`
	Site   spec.Domain  `json:"site"`
	Name   string       `json:"name"`
	Pin    policy.Pin   `json:"pin"`
	Args   string       `json:"args"`            // as digest has them
	Bound  string       `json:"bound,omitempty"` // the browsers that the client\'s connection is for, as in Party
	Top    string       `json:"top,omitempty"`   // as in Call
}

func keyOf(by *Caller, c *Call) key {
	a := c.Action
	return key{
		a.Principal.ID, c.Decision.Layer, a.Of, a.Kind, a.Site.Domain, a.Name, pin(a), digest(c),
		strings.TrimPrefix(Party(a.Principal, by.Bound), a.Principal.ID), c.Top,
	}
}

// digest is that of the arguments, and of what an act does with them: another button may have the same reference
// as its page has it.
func digest(c *Call) string {
	h := sha256.New()
	h.Write(c.Args)
	if c.Action.Pack == "" && (c.Script != "" || len(c.Steps) > 0) {
		_ = json.NewEncoder(h).Encode([]any{c.Steps, c.Script}) // strings
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (q *question) isCall() bool { return q.Kind == spec.AskCall }

// offered is how far a yes may reach: one that was given can only be taken back. The caller holds Desk.mu.
func (q *question) offered() []spec.Reach {
	if q.Allowed {
		return nil
	}
	return q.Reaches
}

// expires is when a call stops waiting for the answer, and a window showing the question. The caller holds
// Desk.mu, or knows the question alone.
func (q *question) expires() time.Time { return q.asked.Add(askFor) }

// takes reports whether a call may wait for the answer to an open question about the identical one, which
// is to be asked only once: the same session has made it, or nobody waits for it any more. The caller
// holds Desk.mu.
func (q *question) takes(w *waiter, k key) bool {
	return q.isCall() && q.key == k && !q.Allowed && (len(q.waits) == 0 || q.waits[0].by.Session == w.by.Session)
}

// leave ends the wait of one call. Its question stays open, but for a sign-in, and unless an answer is
// being stored, which ends the wait soon.
func (d *Desk) leave(q *question, w *waiter, o outcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.Index(q.waits, w)
	switch {
	case i < 0, q.answering:
		return
	case !q.isCall(), len(q.waits) == 1 && o.word == "withdrawn":
		d.end(q, o)
		return
	}
	q.waits = slices.Delete(q.waits, i, i+1)
	w.end(o)
	if s := q.showing; s != nil && s.carrier == w {
		s.stop()
		q.showing = nil
		if n := len(q.waits); n > 0 {
			next := q.waits[n-1]
			d.show(q, next, d.pathTo(next.by))
		}
	}
	if len(q.waits) == 0 {
		d.deferQuestion(q, deferredFor)
	}
	d.changed.Fire()
}

// leaveAll is leave for all calls that wait for a question. With an *AskBack a further request of the client
// brings the answer.
func (d *Desk) leaveAll(q *question, o outcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if q.answering || len(q.waits) == 0 {
		return
	}
	for _, w := range q.waits {
		w.end(o)
	}
	q.waits = nil
	life := deferredFor
	if _, q.askedBack = errors.AsType[*AskBack](o.err); q.askedBack {
		q.showing, life = nil, askFor
	}
	d.deferQuestion(q, life)
}

// deferQuestion lets a question for which no call waits stay open for some time, and ends the oldest ones if a
// client, or all, have more of them than may: of those that the owner has allowed for themselves, so that no client
// pushes them out by asking. The caller holds d.mu.
func (d *Desk) deferQuestion(q *question, life time.Duration) {
	q.Deferred, q.Until = true, time.Now().Add(life)
	var ofClient, all [2]int // questions without an answer, and with a yes
	for _, o := range slices.Backward(slices.Clone(d.questions)) {
		if len(o.waits) > 0 || o.answering || o.showing != nil { // of which there are as many as may be asked about
			continue
		}
		i := 0
		if o.Allowed {
			i = 1
		}
		all[i]++
		if o.key.Client == q.key.Client {
			ofClient[i]++
		}
		if all[i] > maxOpen || ofClient[i] > maxOfClient && o.key.Client == q.key.Client {
			d.end(o, outcome{})
		}
	}
	if slices.Contains(d.questions, q) {
		d.keep(q)
	}
	d.changed.Fire()
}

// end removes a question and ends the calls that wait for it, unless its answer is being stored. The
// caller holds d.mu.
func (d *Desk) end(q *question, o outcome) {
	if q.answering {
		return
	}
	d.questions = slices.DeleteFunc(d.questions, func(other *question) bool { return other == q })
	d.forget(q)
	for _, w := range q.waits {
		w.deleted = q.deleted
		w.end(o)
	}
	q.waits = nil
	if q.showing != nil {
		q.showing.stop()
		q.showing = nil
	}
	d.changed.Fire()
}

// removeExpired removes questions and permits whose time is over. The caller holds d.mu.
func (d *Desk) removeExpired(now time.Time) {
	for _, q := range slices.Clone(d.questions) {
		if len(q.waits) == 0 && !now.Before(q.Until) {
			d.end(q, outcome{})
		}
	}
	d.permits = slices.DeleteFunc(d.permits, func(p permit) bool { return !now.Before(p.until) })
}
