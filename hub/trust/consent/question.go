package consent

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"tabhub/describe"
	"tabhub/hub/trust/flow"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
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
	maxStep  = 4096     // characters of a step
	// maxScript is the length of a script in bytes. A longer one is not asked about: it is shown whole.
	maxScript = 64 << 10
)

// newQuestion makes the question about a call. was is the definition that was allowed, nil if
// that is not known.
func newQuestion(by *Caller, c *Call, was json.RawMessage) (*question, error) {
	a := c.Action
	q := &question{key: keyOf(by, c), action: new(*a), rules: rulesOf(by, c), beforehand: beforehand(c), lasting: lasting(&c.Decision)} // the caller may change its own
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
	wide := len(q.Reaches) > 1
	q.AboutSite = wide && (siteWide(c) || packWide(c) || actWide(c))
	q.Why = why(by, c, wide)
	var err error
	switch {
	case a.Pack != "":
		q.Tool.Pack = packOf(c)
	case a.Of == policy.OfHub:
		q.Tool.Steps, q.Tool.Script, err = actOf(c)
	}
	if err != nil {
		return nil, err
	}
	if q.Args, err = rows(c.Args); err != nil {
		return nil, err
	}
	if was != nil && c.Is != nil {
		q.Changes = changes(was, c.Is)
	}
	q.entry = record.Entry{
		Event: record.Ask, Client: a.Principal.ID, Name: q.Client.Name, Said: q.Client.Said, Session: a.Session, Via: by.Via,
		Domain: a.Site.Domain, Origin: c.Origin, Tool: a.Name, Pack: a.Pack, Class: q.Tool.Class,
	}
	q.is = bytes.Clone(c.Is)
	q.seal(rand.Text())
	return q, nil
}

// packOf describes the pack whose tool is called.
func packOf(c *Call) *spec.AskPack {
	p := &spec.AskPack{Name: c.Action.Pack}
	if !c.Added.IsZero() {
		p.Added = c.Added.Local().Format("2 January 2006")
	}
	p.Steps = stepsOf(c)
	return p
}

// actOf describes what a client does by itself: an act, or what an act leads to.
func actOf(c *Call) (steps []string, script string, err error) {
	switch {
	case len(c.Script) > maxScript:
		return nil, "", &Denied{fmt.Sprintf("the owner has to be asked about this script, and is shown scripts of up to %d KB whole; make it shorter", maxScript>>10)}
	case len(c.Steps) > maxRows:
		return nil, "", &Denied{fmt.Sprintf("the owner has to be asked about these steps, and is shown up to %d; make smaller calls", maxRows)}
	}
	return stepsOf(c), describe.Visible(c.Script), nil
}

func stepsOf(c *Call) (all []string) {
	for _, step := range c.Steps {
		text, cut := shown(step, maxStep)
		if cut > 0 {
			text += fmt.Sprintf(" (%d characters are left out)", cut)
		}
		all = append(all, text)
	}
	return all
}

// seal completes q once all that it shows is set.
func (q *question) seal(id string) {
	q.ID, q.entry.Question = id, id
	b, _ := json.Marshal(q.Ask) // strings and numbers
	sum := sha256.Sum256(b)
	q.Digest = hex.EncodeToString(sum[:])
	q.Since = time.Now()
	q.asked = q.Since
	q.Until = q.Since.Add(askFor)
}

// why says why the owner is asked and what an answer is worth, in sentences of the hub.
func why(by *Caller, c *Call, wide bool) []string {
	all := append([]string{c.Decision.Why(c.Action)}, carried(c)...)
	if c.Trusted {
		all = append(all, "It acts with input that the page cannot tell from yours.")
	}
	if by.Via != "" {
		all = append(all, fmt.Sprintf("The client does it through the tool %s.", by.Via))
	}
	if n := len(c.Args); n > maxArgs && c.Action.Class != policy.Act {
		all = append(all, fmt.Sprintf("The arguments have %d KB, of which most are not shown: a yes is for this call only.", n>>10))
	}
	switch {
	case c.Decision.Layer == policy.ByFile:
		all = append(all, "The policy file wants this to be asked, so a yes is for this call only.")
	case c.Decision.Layer == policy.ByFlow && wide:
		all = append(all, fmt.Sprintf("An answer for the session lets it act at %s, whatever it reads at private sites; `tabhub policy flow` does so for good.", c.Action.Site.Domain))
	case c.Decision.Layer == policy.ByFlow:
		all = append(all, "It is asked each time; `tabhub policy flow` allows it for good.")
	case wide && packWide(c):
		verb := map[policy.Class]string{policy.Read: "reads", policy.Write: "changes"}[c.Action.Class]
		all = append(all, fmt.Sprintf("An answer that reaches further is about all that the pack %s %s on %s.", c.Action.Pack, verb, c.Action.Site.Domain))
	case wide && actWide(c):
		all = append(all, fmt.Sprintf("An answer that reaches further is about all that the client does by itself on %s.", c.Action.Site.Domain))
	case wide && siteWide(c):
		all = append(all, fmt.Sprintf("An answer that reaches further is about all that %s itself offers.", c.Action.Site.Domain))
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
		if len(l.path) == 0 {
			continue // there are none
		}
		v := spec.AskValue{Name: line(l.name())}
		for _, name := range l.path {
			v.Path = append(v.Path, line(name))
		}
		v.Value, v.Cut = shown(l.text(), limit)
		all = append(all, v)
	}
	return all, nil
}

// className is how a class counts.
func className(c policy.Class) string { return cmp.Or(c, policy.Destructive).String() }

// shown returns the question as it is shown where it may be answered so, until then.
func (q *question) shown(reaches []spec.Reach, until time.Time) *spec.Ask {
	a := q.Ask
	a.Reaches = reaches
	a.ExpiresMs = max(0, time.Until(until).Milliseconds())
	return &a
}
