package consent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// Kind is that of the documents in which deferred questions are stored.
const Kind = "question"

// keepEvery is how much of a question's time a client can use up by asking again, before that is stored.
const keepEvery = time.Hour

// maxStoredQuestion bounds such a document, in bytes: a larger question ends with the process.
const maxStoredQuestion = 64 << 10

// storedQuestion is what is stored of a question: what it has shown, and a digest of the arguments.
type storedQuestion struct {
	Question
	Key     key                        `json:"key"`
	Any     bool                       `json:"anySite,omitempty"`
	Class   policy.Class               `json:"class,omitzero"`
	Rules   map[spec.Reach]policy.Rule `json:"rules,omitempty"`
	Lasting bool                       `json:"lasting,omitempty"`
	Entry   record.Entry               `json:"entry"`
	By      string                     `json:"by,omitempty"`
}

// keep stores a question, unless a client brings the answer. The caller holds d.mu.
func (d *Desk) keep(q *question) {
	if d.opts.Keep == nil || q.action == nil || q.askedBack {
		return
	}
	if q.stored && q.Allowed == q.kept.Allowed && q.Until.Sub(q.kept.Until) < keepEvery {
		return
	}
	b, err := json.Marshal(storedQuestion{q.Question, q.key, q.action.Site.Any, q.action.Class, q.rules, q.lasting, q.entry, q.by})
	if err != nil || len(b) > maxStoredQuestion {
		return
	}
	d.sweepLater()
	q.stored, q.kept.Allowed, q.kept.Until = true, q.Allowed, q.Until
	d.opts.Keep(q.ID, b)
}

// sweepLater has what is over deleted from the store, also if nobody asks for anything. The caller holds d.mu.
func (d *Desk) sweepLater() {
	if d.sweep == nil && d.closed == nil {
		d.sweep = time.AfterFunc(keepEvery, d.Sweep)
	}
}

// Sweep deletes the questions whose time is over.
func (d *Desk) Sweep() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.removeExpired(time.Now())
	d.sweep = nil
	if len(d.questions) > 0 {
		d.sweepLater()
	}
}

// deletion is that of a stored question. err does not change once done is closed.
type deletion struct {
	done chan struct{}
	err  error
}

// forget deletes a question from the store, if it is there. The caller holds d.mu.
func (d *Desk) forget(q *question) {
	if !q.stored {
		return
	}
	gone := &deletion{done: make(chan struct{})}
	q.stored, q.deleted = false, gone
	d.opts.Forget(q.ID, func(err error) {
		gone.err = err
		close(gone.done)
	})
}

// await blocks until a deletion, nil if there is none, is on disk: else a hub that is started again would take
// an answer for one that still holds. The error is ctx's cause, or says that it could not be stored.
func (d *Desk) await(ctx context.Context, gone *deletion) error {
	if gone == nil {
		return nil
	}
	select {
	case <-gone.done:
		return gone.err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-d.ctx.Done():
		return d.closed // which does not change any more
	}
}

// readQuestions reads what keep has stored, nothing of what it cannot read.
func readQuestions(stored []json.RawMessage) (all []*question) {
	for _, b := range stored {
		var s storedQuestion
		if json.Unmarshal(b, &s) != nil || s.Tool == nil {
			continue
		}
		k := s.Key
		all = append(all, &question{
			Question: s.Question, key: k, rules: s.Rules, lasting: s.Lasting, entry: s.Entry, by: s.By, stored: true, shows: 1,
			action: &policy.Action{
				Principal: &policy.Principal{ID: k.Client, Name: s.Client.Name}, Session: s.Entry.Session, Of: k.Of, Kind: k.Kind,
				Site: policy.Site{Domain: k.Site, Any: s.Any}, Name: k.Name, Pack: s.Entry.Pack, Class: s.Class, Item: pinned(k.Pin),
			},
		})
	}
	slices.SortFunc(all, func(a, b *question) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return all
}

// pinned is a definition of which only the pin is known.
type pinned policy.Pin

func (p pinned) Pin() policy.Pin { return policy.Pin(p) }
