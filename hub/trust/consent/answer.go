package consent

import (
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
	rule, wide := policy.Rule{}, false
	if q.call != nil {
		rule, wide = ruleOf(q.by, q.call, r.Reach)
	}
	if r.Reach == spec.ReachNo || r.Reach == spec.ReachNever {
		o.word, o.err = "declined", &Denied{"the owner has declined this"}
		if q.call != nil {
			o.err = &Denied{"the owner has declined this call; do not try it again unless the owner asks for it"}
		}
	}
	if wide {
		if err := d.remember(q, rule, by); err != nil {
			d.apply(q, policy.Rule{}, outcome{"not stored", "", by, &Denied{fmt.Sprintf("the owner's answer could not be stored, so it does not count: %v", err)}})
			return err
		}
	}
	d.apply(q, rule, o)
	return nil
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
	offered := q.Reaches
	if by == ByClient {
		offered = forClient(offered)
	}
	switch {
	case q.answering || !slices.Contains(d.questions, q):
		return ErrNoQuestion
	case r.Reach == spec.ReachNo:
	case !slices.Contains(offered, r.Reach):
		return ErrReach
	case q.call == nil && !sameCode(r.Code, q.code):
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
	if is := q.call.Is; r.Pin != (policy.Pin{}) && len(is) > 0 && len(is) <= maxDefinition {
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

// apply ends the question that was answered, and those others that the answer is about, too:
// a no is about identical calls, a rule about all calls that would have made the same. A
// yes to a deferred question permits its call once.
func (d *Desk) apply(q *question, made policy.Rule, o outcome) {
	now := time.Now()
	var deferred []*question
	d.mu.Lock()
	q.answering = false
	if o.word == "declined" && q.call != nil {
		d.history.add(q.key, true, now)
	}
	for _, other := range slices.Clone(d.questions) {
		if other != q && (other.answering || !other.answeredBy(q, made, o.reach)) {
			continue
		}
		if other.Deferred {
			deferred = append(deferred, other)
			if o.err == nil {
				d.addPermit(permit{key: other.key, question: other.ID, by: o.by, left: maxRounds, until: now.Add(PermitFor)})
			}
		}
		d.end(other, o)
	}
	d.mu.Unlock()
	for _, q := range deferred {
		d.record(q, o, now) // wait records the others
	}
}

// answeredBy reports whether the answer to o, which has made that rule, is one to q as well.
func (q *question) answeredBy(o *question, made policy.Rule, reach spec.Reach) bool {
	if q.call == nil {
		return false
	}
	rule, wide := ruleOf(q.by, q.call, reach)
	return wide && rule == made && lasting(&q.call.Decision) || reach == spec.ReachNo && q.same(o)
}

// end removes a question, unless its answer is being stored. The caller holds d.mu.
func (d *Desk) end(q *question, o outcome) {
	if q.answering {
		return
	}
	d.questions = slices.DeleteFunc(d.questions, func(other *question) bool { return other == q })
	q.stopWaiting(o)
	d.changed.Fire()
}

// stopWaiting ends the wait of a question's call, once: the question is deferred from then on, if it
// stays open. The caller holds Desk.mu.
func (q *question) stopWaiting(o outcome) {
	if !q.Deferred {
		q.Deferred, q.outcome, q.ended = true, o, time.Now()
		close(q.done)
	}
}

// stop ends the wait for an answer, unless one is being stored. A question about a call is
// deferred then.
func (d *Desk) stop(q *question, o outcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case q.answering, q.Deferred:
	case q.call == nil:
		d.end(q, o)
	default:
		q.stopWaiting(o)
		d.limitDeferred(q, deferredFor)
	}
}

// askBack ends the wait of a call whose client brings the answer with a further request.
func (d *Desk) askBack(q *question, back *AskBack) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if q.answering || q.Deferred {
		return
	}
	q.askedBack = true
	q.stopWaiting(outcome{word: "asked back", err: back})
	d.limitDeferred(q, askFor)
}

// limitDeferred lets a deferred question stay open for some time, and ends the oldest ones if a
// client, or all, have more of them than may wait. The caller holds d.mu.
func (d *Desk) limitDeferred(q *question, life time.Duration) {
	q.Until = time.Now().Add(life)
	ofClient, all := 0, 0
	for _, o := range slices.Backward(slices.Clone(d.questions)) {
		if !o.Deferred || o.answering {
			continue
		}
		all++
		if o.key.client == q.key.client {
			ofClient++
		}
		if all > maxOpen || ofClient > maxOfClient && o.key.client == q.key.client {
			d.end(o, outcome{})
		}
	}
	d.changed.Fire()
}

// removeExpired removes deferred questions and permits whose time is over. The caller holds d.mu.
func (d *Desk) removeExpired(now time.Time) {
	d.questions = slices.DeleteFunc(d.questions, func(q *question) bool { return q.Deferred && !q.answering && !now.Before(q.Until) })
	d.permits = slices.DeleteFunc(d.permits, func(p permit) bool { return !now.Before(p.until) })
}

// record records how a question has ended.
func (d *Desk) record(q *question, o outcome, ended time.Time) {
	if d.opts.Record == nil {
		return
	}
	e := record.Entry{
		Time: ended, Event: record.Ask, Name: q.Client.Name, Said: q.Client.Said,
		By: o.by, Reach: string(o.reach), Asked: ended.Sub(q.Since), Outcome: o.word, Question: q.ID,
	}
	if q.call != nil {
		a := q.call.Action
		e.Call, e.Client, e.Session, e.Via = q.call.ID, a.Principal.ID, a.Session, q.by.Via
		e.Domain, e.Origin, e.Tool, e.Class = a.Site.Domain, q.call.Origin, a.Name, q.Tool.Class
	}
	d.opts.Record.Append(e)
}
