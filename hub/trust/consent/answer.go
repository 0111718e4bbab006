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

// maxTries is how many codes may be wrong.
const maxTries = 3

// Why an answer does not count.
var (
	ErrNoQuestion = errors.New("there is no such question any more: it was answered or withdrawn, or has expired")
	ErrChanged    = errors.New("this is not the question that was shown; look at it again")
	ErrReach      = errors.New("this question cannot be answered so")
	ErrCode       = errors.New("this is not the code that the page shows")
)

// ending is how the wait for an answer has ended.
type ending struct {
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
	d.prune(time.Now())
	if i := slices.IndexFunc(d.questions, func(q *question) bool { return q.ID == id }); i >= 0 {
		return d.questions[i]
	}
	return nil
}

// answer takes an answer, and blocks until what it makes is stored. The error is that of
// Answer.
func (d *Desk) answer(q *question, r spec.AskResult, by string) error {
	if err := d.claim(q, r, by); err != nil {
		return err
	}
	o := ending{"ok", r.Reach, by, nil}
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
			d.settle(q, policy.Rule{}, ending{"not stored", "", by, &Denied{fmt.Sprintf("the owner's answer could not be stored, so it does not count: %v", err)}})
			return err
		}
	}
	d.settle(q, rule, o)
	return nil
}

// claim checks an answer, and sees to it that from now on no other one counts.
func (d *Desk) claim(q *question, r spec.AskResult, by string) error {
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
		if q.tries++; q.tries < maxTries {
			return ErrCode
		}
		d.end(q, ending{"wrong code", "", by, &Denied{fmt.Sprintf("a wrong code was given %d times; start again", maxTries)}})
		return ErrNoQuestion
	}
	q.answering = true
	return nil
}

func sameCode(got, want string) bool {
	got = strings.ToUpper(strings.ReplaceAll(got, " ", ""))
	return subtle.ConstantTimeCompare([]byte(got), []byte(strings.ToUpper(want))) == 1
}

// remember stores a rule, and the definition that it is about.
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
		d.kept = d.kept.with(r.Pin, is)
		kept, _ := json.Marshal(d.kept) // what was valid JSON
		d.mu.Unlock()
		if d.opts.Keep != nil {
			d.opts.Keep(kept)
		}
	}
	return nil
}

// settle ends a question that was answered, and the others to which this is an answer, too:
// to no the identical ones, and to what has made a rule all that would have made the same. A
// yes to a call that has ended is good for the same call again.
func (d *Desk) settle(q *question, made policy.Rule, o ending) {
	now := time.Now()
	late := map[*question]bool{}
	d.mu.Lock()
	q.answering = false
	if o.word == "declined" && q.call != nil {
		d.history.add(q.key, true, now)
	}
	for _, other := range slices.Clone(d.questions) {
		if other != q && (other.answering || !other.answeredBy(q, made, o.reach)) {
			continue
		}
		if other.Late {
			late[other] = true
			if o.err == nil {
				d.grant(grant{key: other.key, question: other.ID, by: o.by, left: maxRounds, until: now.Add(GrantFor)})
			}
		}
		d.end(other, o)
	}
	d.mu.Unlock()
	for q := range late {
		d.record(q, o, now) // of the others, who waits does
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

// end ends a question at once, unless it is being answered. The caller holds d.mu.
func (d *Desk) end(q *question, o ending) {
	if q.answering {
		return
	}
	d.questions = slices.DeleteFunc(d.questions, func(other *question) bool { return other == q })
	q.release(o)
	d.changed.Fire()
}

// release lets who waits for q go on, once. The caller holds Desk.mu.
func (q *question) release(o ending) {
	if !q.Late {
		q.Late, q.outcome, q.ended = true, o, time.Now()
		close(q.done)
	}
}

// giveUp ends the wait for an answer, unless one is being stored. That to a call can still be
// given.
func (d *Desk) giveUp(q *question, o ending) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case q.answering, q.Late:
	case q.call == nil:
		d.end(q, o)
	default:
		q.release(o)
		d.keep(q, lateFor)
	}
}

// keep has a question whose call has ended be open for some time. Of a client, and in all, as
// many are as can wait; older ones go. The caller holds d.mu.
func (d *Desk) keep(q *question, life time.Duration) {
	q.Until = time.Now().Add(life)
	ofClient, all := 0, 0
	for _, o := range slices.Backward(slices.Clone(d.questions)) {
		if !o.Late || o.answering {
			continue
		}
		all++
		if o.key.client == q.key.client {
			ofClient++
		}
		if all > maxOpen || ofClient > maxOfClient && o.key.client == q.key.client {
			d.end(o, ending{})
		}
	}
	d.changed.Fire()
}

// giveBack ends the wait of a call whose client brings the answer with a further request.
func (d *Desk) giveBack(q *question, back *AskBack) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if q.answering || q.Late {
		return
	}
	q.givenBack = true
	q.release(ending{word: "asked back", err: back})
	d.keep(q, askFor)
}

// prune forgets what has expired. The caller holds d.mu.
func (d *Desk) prune(now time.Time) {
	d.questions = slices.DeleteFunc(d.questions, func(q *question) bool { return q.Late && !q.answering && !now.Before(q.Until) })
	d.grants = slices.DeleteFunc(d.grants, func(g grant) bool { return !now.Before(g.until) })
}

// record notes how a question has ended.
func (d *Desk) record(q *question, o ending, ended time.Time) {
	if d.opts.Record == nil {
		return
	}
	e := record.Entry{
		Time: ended, Event: record.Ask, Name: q.Client.Name, Said: q.Client.Said,
		By: o.by, Reach: string(o.reach), Asked: ended.Sub(q.Since), Outcome: o.word, Question: q.ID,
	}
	if q.call != nil {
		a := q.call.Action
		e.Client, e.Session, e.Via = a.Who.ID, a.Session, q.by.Via
		e.Domain, e.Origin, e.Tool, e.Class = a.Site.Domain, q.call.Origin, a.Name, q.Tool.Class
	}
	d.opts.Record.Append(e)
}
