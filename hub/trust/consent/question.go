package consent

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"tabhub/hub/trust/flow"
	"tabhub/hub/trust/policy"
	"tabhub/naming"
	"tabhub/spec"
)

// Bounds of what a question shows. Nothing is left out unseen: a call that has more than
// maxRows values is not asked about.
const (
	maxName  = 80       // characters of a name or title
	maxValue = 4096     // characters of a value
	minValue = 64       // also where there are many
	allShown = 64 << 10 // characters of all values
	maxRows  = 1000
	maxArgs  = 64 << 10 // bytes; a yes to more is for once
)

// Question is a question as it is shown.
type Question struct {
	spec.Ask
	Digest string    `json:"digest"` // of what is shown
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
	// Count is how many identical calls wait; an answer for once is for one of them.
	Count int `json:"count"`
	// Deferred: the call has ended without an answer. A yes permits the same call once.
	Deferred bool `json:"late,omitempty"`
}

// question is an open question. What it shows and is about does not change.
type question struct {
	Question
	by   *Caller // nil for a sign-in, as is call
	call *Call   // without its arguments
	key  key
	code string // of a sign-in

	done chan struct{} // closed when the call stops waiting

	// Guarded by Desk.mu, as are Deferred and Until. outcome and ended do not change once done is
	// closed, which is when Deferred is set.
	answering  bool // an answer is being stored: no other counts
	wrongCodes int
	askedBack  bool // a further request of the client may bring the answer
	outcome    outcome
	ended      time.Time
}

// key identifies a call, and the layer of rules that asks about it: a yes for this once is about
// nothing else.
type key struct {
	client string
	layer  policy.Layer
	of     policy.Of
	kind   spec.Kind
	site   spec.Domain
	name   string
	pin    policy.Pin
	args   [sha256.Size]byte
}

func keyOf(c *Call) key {
	a := c.Action
	return key{a.Principal.ID, c.Decision.Layer, a.Of, a.Kind, a.Site.Domain, a.Name, pin(a), sha256.Sum256(c.Args)}
}

// newQuestion makes the question about a call. was is the definition that was allowed, nil if
// that is not known.
func newQuestion(by *Caller, c *Call, was json.RawMessage) (*question, error) {
	a := c.Action
	q := &question{by: by, call: new(*c), key: keyOf(c)}
	q.call.Action, q.call.Args, q.call.Carries = new(*a), nil, nil // the caller may change its own
	q.Kind = spec.AskCall
	q.Client.Name = line(cmp.Or(a.Principal.Name, a.Principal.ID))
	if said := line(by.Said); said != q.Client.Name {
		q.Client.Said = said
	}
	if origin := cmp.Or(c.Origin, string(a.Site.Domain)); a.Site.Any || origin != "" {
		q.Site = &spec.AskSite{Origin: line(origin), Verified: !a.Site.Any && !naming.IsClaimed(a.Site.Domain), Top: line(c.Top), Any: a.Site.Any}
	}
	q.Tool = &spec.AskTool{Kind: a.Kind, Name: line(a.Name), Class: className(a.Class)}
	if title := line(c.Title); title != q.Tool.Name {
		q.Tool.Title = title
	}
	q.Reaches = reaches(by, c)
	q.Why = why(by, c, len(q.Reaches) > 1)
	var err error
	if q.Args, err = rows(c.Args); err != nil {
		return nil, err
	}
	if was != nil && c.Is != nil {
		q.Changes = changes(was, c.Is)
	}
	return q.sealed(), nil
}

// sealed completes q once all that it shows is set.
func (q *question) sealed() *question {
	q.ID = rand.Text()
	b, _ := json.Marshal(q.Ask) // strings and numbers
	sum := sha256.Sum256(b)
	q.Digest = hex.EncodeToString(sum[:])
	q.done = make(chan struct{})
	q.Since = time.Now()
	q.Until = q.Since.Add(askFor)
	q.Count = 1
	return q
}

// why says why the owner is asked and what an answer is worth, in sentences of the hub.
func why(by *Caller, c *Call, wide bool) []string {
	all := append([]string{c.Decision.Why(c.Action)}, carried(c)...)
	if by.Via != "" {
		all = append(all, fmt.Sprintf("The client does it through the tool %s.", by.Via))
	}
	if n := len(c.Args); n > maxArgs {
		all = append(all, fmt.Sprintf("The arguments have %d KB, of which most are not shown: a yes is for this call only.", n>>10))
	}
	switch {
	case c.Decision.Layer == policy.ByFile:
		all = append(all, "The policy file wants this to be asked, so a yes is for this call only.")
	case c.Decision.Layer == policy.ByFlow && wide:
		all = append(all, fmt.Sprintf("An answer for the session lets it act at %s, whatever it reads at private sites; `tabhub policy flow` does so for good.", c.Action.Site.Domain))
	case c.Decision.Layer == policy.ByFlow:
		all = append(all, "It is asked each time; `tabhub policy flow` allows it for good.")
	case wide && siteWide(c):
		all = append(all, fmt.Sprintf("An answer that reaches further is about all that %s offers.", c.Action.Site.Domain))
	}
	return all
}

// maxCarried is how many texts of other sites a question names.
const maxCarried = 3

// carried says which texts of other sites stand in the arguments, as far as it is seen.
func carried(c *Call) (all []string) {
	var found []flow.Match
	if c.Carries != nil {
		found = c.Carries()
	}
	for _, m := range found[:min(len(found), maxCarried)] {
		all = append(all, fmt.Sprintf("In %q stands %q, which %s returned.", m.Field, m.Text, m.From))
	}
	switch n := len(found) - maxCarried; {
	case n > 0:
		all = append(all, fmt.Sprintf("There are %d more such texts.", n))
	case len(found) == 0 && c.Decision.Layer == policy.ByFlow:
		all = append(all, "No text of it was recognised in what would be sent; the same in other words is not.")
	}
	return all
}

// rows returns the arguments for people.
func rows(args json.RawMessage) (all []spec.AskValue, err error) {
	if len(args) == 0 {
		return nil, nil
	}
	n := 0
	for range leaves(args) {
		if n++; n > maxRows {
			return nil, &Denied{fmt.Sprintf("the owner has to be asked about this call, and cannot be shown arguments with more than %d values; make smaller calls", maxRows)}
		}
	}
	limit := max(minValue, min(maxValue, allShown/n))
	for l := range leaves(args) {
		if l.path == "" {
			continue // there are none
		}
		v := spec.AskValue{Name: line(l.path)}
		v.Value, v.Cut = shown(l.text(), limit)
		all = append(all, v)
	}
	return all, nil
}

func className(c policy.Class) string {
	switch c {
	case policy.Read:
		return "read"
	case policy.Write:
		return "write"
	}
	return "destructive"
}

// same reports whether the question is about the same call for the same session, so that both
// are shown as one.
func (q *question) same(o *question) bool {
	return q.call != nil && o.call != nil && q.key == o.key && q.by.Session == o.by.Session
}

// shown returns the question as it is shown where it may be answered so, until then.
func (q *question) shown(reaches []spec.Reach, until time.Time) *spec.Ask {
	a := q.Ask
	a.Reaches = reaches
	a.ExpiresMs = max(0, time.Until(until).Milliseconds())
	return &a
}
