package consent

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// maxCodes is how many codes may be wrong.
const maxCodes = 3

// Why an answer does not count.
var (
	ErrNoQuestion = errors.New("there is no such question any more: it was answered or withdrawn, or has expired")
	ErrChanged    = errors.New("this is not the question that was shown; look at it again")
	ErrReach      = errors.New("this question cannot be answered so")
	ErrCode       = errors.New("this is not the code that the page shows")
)

// outcome is how the wait for an answer has ended.
type outcome struct {
	word  string // for the record
	reach spec.Reach
	by    string
	err   error // nil: yes
}

// Answer answers a question that Open has shown with that digest. by is ByDashboard or
// ByCommand. The answer counts when there is no error, and only the first one does: the error
// is one of those above, or that of Options.Remember.
func (d *Desk) Answer(id, digest string, r spec.AskResult, by string) error {
	q := d.find(id)
	switch {
	case q == nil:
		return ErrNoQuestion
	case q.Digest != digest:
		return ErrChanged
	}
	return d.answer(q, r, by)
}

// find returns the open question of an id, or nil.
func (d *Desk) find(id string) *question {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.removeExpired(time.Now())
	if i := slices.IndexFunc(d.questions, func(q *question) bool { return q.ID == id }); i >= 0 {
		return d.questions[i]
	}
	return nil
}

// answer applies an answer, and blocks until the rule that it makes is stored. The error is that
// of Answer.
func (d *Desk) answer(q *question, r spec.AskResult, by string) error {
	if err := d.begin(q, r, by); err != nil {
		return err
	}
	o := outcome{"ok", r.Reach, by, nil}
	rule, wide := q.rules[r.Reach]
	if r.Reach == spec.ReachNo || r.Reach == spec.ReachNever {
		o.word, o.err = "declined", &Denied{"the owner has declined this"}
		if q.isCall() {
			o.err = &Denied{"the owner has declined this call; do not try it again unless the owner asks for it"}
		}
	}
	if wide {
		if err := d.remember(q, rule, by); err != nil {
			d.apply(q, policy.Rule{}, outcome{"not stored", "", by, &Denied{fmt.Sprintf("the owner's answer could not be stored, so it does not count: %v", err)}})
			return err
		}
	}
	return d.await(context.Background(), d.apply(q, rule, o))
}

// accept is answer for an answer that counts whatever it is: one that was not offered is a no. It
// reports false if the code was wrong and the owner is to try again.
func (d *Desk) accept(q *question, r spec.AskResult, by string) bool {
	err := d.answer(q, r, by)
	if errors.Is(err, ErrReach) {
		err = d.answer(q, spec.AskResult{Reach: spec.ReachNo}, by)
	}
	return !errors.Is(err, ErrCode)
}

// begin checks an answer. If it returns no error, no other answer counts from now on.
func (d *Desk) begin(q *question, r spec.AskResult, by string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	offered := q.offered()
	if by == ByClient {
		offered = q.forClient()
	}
	switch {
	case q.answering || !slices.Contains(d.questions, q):
		return ErrNoQuestion
	case r.Reach == spec.ReachNo:
	case !slices.Contains(offered, r.Reach):
		return ErrReach
	case !q.isCall() && !sameCode(r.Code, q.code):
		if q.wrongCodes++; q.wrongCodes < maxCodes {
			return ErrCode
		}
		d.end(q, outcome{"wrong code", "", by, &Denied{fmt.Sprintf("a wrong code was given %d times; start again", maxCodes)}})
		return ErrNoQuestion
	}
	q.answering = true
	return nil
}

func sameCode(got, want string) bool {
	got = strings.ToUpper(strings.ReplaceAll(got, " ", ""))
	return subtle.ConstantTimeCompare([]byte(got), []byte(strings.ToUpper(want))) == 1
}

// remember stores the rule that an answer makes, and the definition that it allows.
func (d *Desk) remember(q *question, r policy.Rule, by string) error {
	r.ID, r.Made, r.By = strings.ToLower(rand.Text()[:8]), time.Now(), by
	if r.Session != "" {
		r.Until = r.Made.Add(sessionLife)
	}
	if err := d.opts.Remember(r); err != nil {
		return err
	}
	if is := q.is; r.Pin != (policy.Pin{}) && len(is) > 0 && len(is) <= maxDefinition {
		d.mu.Lock()
		d.allowed = d.allowed.with(r.Pin, is)
		allowed, _ := json.Marshal(d.allowed) // of valid JSON
		d.mu.Unlock()
		if d.opts.Store != nil {
			d.opts.Store(allowed)
		}
	}
	return nil
}

// apply gives the answer to a question, of which it returns the deletion from the store, and to those others that it is about, too: a rule is about all
// calls that would have made the same.
func (d *Desk) apply(q *question, made policy.Rule, o outcome) *deletion {
	now := time.Now()
	var deferred []*question
	var gone *deletion
	d.mu.Lock()
	q.answering = false
	if q.withdrawn != nil && o.err == nil {
		made, o = policy.Rule{}, outcome{word: "withdrawn", by: o.by, err: q.withdrawn}
	}
	if o.word == "declined" && q.isCall() {
		no := declinedFor
		if len(q.waits) == 0 && !q.askedBack { // its client hears nothing of it
			no = quietFor
		}
		d.history.add(q.key, no, now)
		gone = d.takeBack(q.key)
	}
	for _, other := range slices.Clone(d.questions) {
		if other == q || !other.answering && !other.Allowed && other.answeredBy(made, o.reach) {
			if len(other.waits) == 0 {
				deferred = append(deferred, other)
			}
			if other == q {
				d.settle(q, o)
			} else { // the rule lets its call pass, where that is good
				d.end(other, o)
			}
		}
	}
	gone = cmp.Or(q.deleted, gone) // what is deleted later is stored later
	d.mu.Unlock()
	for _, q := range deferred {
		d.opts.record(q.entry, "", o, q.Since, now) // wait records the others
	}
	return gone
}

// settle ends a question with its answer. A yes for this once lets the latest of the calls pass that wait
// for it, for which a client listens most likely. If none waits, it permits the identical call once. The
// caller holds d.mu.
func (d *Desk) settle(q *question, o outcome) {
	_, wide := q.rules[o.reach]
	switch n := len(q.waits); {
	case o.err == nil && n == 0 && (!wide || o.reach == spec.ReachSession && !AboutActs(&q.Ask)): // that session may be over; then an act is, too
		q.by = o.by
		d.allow(q, time.Now().Add(PermitFor))
		return
	case o.err == nil && n > 1 && !wide:
		for _, w := range q.waits[:n-1] {
			w.end(outcome{"ok for another", o.reach, o.by, &Denied{"the owner has allowed one of several identical calls that this client makes at once, and it was not this one; make it again only if it is to be done once more"}})
		}
		q.waits = q.waits[n-1:]
	}
	if o.err == nil && !wide && q.isCall() {
		q.waits[0].once = d.pass(q, time.Now().Add(PermitFor))
	}
	d.end(q, o)
}

// answeredBy reports whether an answer that has made a rule is one to q as well.
func (q *question) answeredBy(made policy.Rule, reach spec.Reach) bool {
	rule, wide := q.rules[reach]
	return wide && rule == made && q.lasting
}

// record records how the wait of a call for a question has ended.
func (o *Options) record(e record.Entry, call string, how outcome, since, ended time.Time) {
	if o.Record == nil {
		return
	}
	e.Time, e.Call, e.By, e.Reach, e.Asked, e.Outcome = ended, call, how.by, string(how.reach), ended.Sub(since), how.word
	o.Record.Append(e)
}
