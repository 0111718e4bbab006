package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tabhub/naming"
	"tabhub/spec"
)

// Set is what holds: the rules of the owner, of a file and of a mode, and what is paused.
// It is immutable and safe for concurrent use. A nil Set denies everything.
type Set struct {
	mode    Mode
	fixed   bool
	doc     Document
	private []sites
	file    layer
	own     layer // those of the mode, too
	denied  []string
	bounded bool // everybody may be denied something
	traced  []string
	froms   []sites // of the rules about flows that are no preset

	bindings []Binding // of the file and of the owner
}

// layer is rules that decide together: those about actions, and those about flows.
type layer struct{ actions, flows *table }

// ErrInvalid is why New makes no Set.
var ErrInvalid = errors.New("the policy is not valid")

// New makes a Set of what the owner has decided, and of a policy file. The mode is that of
// the document if it is "", and ModeCareful if that has none. The document and the file are
// the Set's from now on. The error is an ErrInvalid and says what is wrong
// with which rule.
func New(doc Document, mode Mode, file File) (*Set, error) {
	s := &Set{doc: doc, mode: cmp.Or(mode, doc.Mode, ModeCareful), fixed: mode != "", bindings: slices.Concat(file.Bindings, doc.Bindings)}
	if err := errors.Join(s.mode.check(), doc.check()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := errors.Join(Check(file.Rules), CheckBindings(file.Bindings)); err != nil {
		return nil, fmt.Errorf("%w: the file: %w", ErrInvalid, err)
	}
	for _, p := range doc.Private {
		s.private = append(s.private, parseSites(p))
	}
	s.file = newLayer(file.Rules)
	s.own = newLayer(slices.Concat(doc.Rules, s.mode.Rules()))
	s.bounded = s.mode == ModeReadOnly
	for _, r := range slices.Concat(file.Rules, doc.Rules) {
		if r.Effect == Deny && r.From == "" {
			s.denied = append(s.denied, r.Client)
		}
		if r.From != "" {
			s.traced = append(s.traced, r.Client)
			s.froms = append(s.froms, parseSites(r.From))
		}
	}
	s.bounded = s.bounded || slices.Contains(s.denied, "")
	return s, nil
}

func newLayer(rules []Rule) layer {
	var actions, flows []*Rule
	for i := range rules {
		if rules[i].From == "" {
			actions = append(actions, &rules[i])
		} else {
			flows = append(flows, &rules[i])
		}
	}
	return layer{newTable(actions), newTable(flows)}
}

// Decide says whether an action may be done at a time.
func (s *Set) Decide(a *Action, now time.Time) Decision {
	switch {
	case s == nil || !a.complete():
		return Decision{Effect: Deny}
	case s.isPaused(a):
		return Decision{Effect: Deny, Paused: true, Layer: ByPause}
	}
	return s.decide(a, now)
}

// decide is Decide for what is not paused.
func (s *Set) decide(a *Action, now time.Time) Decision {
	switch {
	case a.Site.isDashboard():
		return Decision{Effect: Deny, Layer: ByOwnPage}
	case a.Who.Scope.refuses(a):
		return Decision{Effect: Deny, Layer: ByScope}
	case a.Browser != nil && !s.reaches(a):
		return Decision{Effect: Deny, Layer: ByBrowser}
	case s.mode == ModeReadOnly && a.class() != Read:
		return Decision{Effect: Deny, Layer: ByMode}
	}
	d := s.byRules(a, now)
	if len(a.Read) > 0 && a.takes() {
		d = s.withFlows(d, a, now)
	}
	return d
}

// takes reports whether an action may take something of other sites to where it is done.
func (a *Action) takes() bool {
	return !a.Dataless && !(a.Of == OfHub && a.Site == (Site{}))
}

// withFlows is d, or stricter by what the rules say of what the client has read.
func (s *Set) withFlows(d Decision, a *Action, now time.Time) Decision {
	var most Decision
	first := 0
	for i, from := range a.Read {
		if !a.Site.Any && bare(from) == bare(a.Site.Domain) {
			continue
		}
		f := s.byFlow(a, from, now)
		switch {
		case f.Rule == nil || f.Effect < most.Effect:
		case f.Effect > most.Effect:
			most, first = f, i
			most.From = a.Read[i : i+1 : i+1]
		case first+len(most.From) == i: // side by side, as most are: a part of Read
			most.From = a.Read[first : i+1 : i+1]
		default:
			most.From, first = append(most.From, from), -len(a.Read)
		}
	}
	if most.Effect > d.Effect || most.Effect == d.Effect && most.Effect == Ask {
		most.Changed = d.Changed
		return most
	}
	d.From = most.From
	return d
}

// isDashboard reports whether the site is a hub's dashboard: who reads or leads it decides
// for the owner.
func (s *Site) isDashboard() bool {
	if s.Own {
		return true
	}
	if !strings.Contains(string(s.Domain), naming.DashboardPrefix) {
		return false
	}
	_, host, _ := naming.SplitKey(bare(s.Domain))
	return naming.IsDashboard(host)
}

// complete reports whether an action says what a decision needs: who it is, and of what a
// page offers where that is.
func (a *Action) complete() bool {
	return a.Who != nil && a.Who.ID != "" && (a.Of != OfPage || a.Site != (Site{}))
}

// byRules is what the rules say of an action, whatever its client has read.
func (s *Set) byRules(a *Action, now time.Time) Decision {
	var place [16]*compiled // more winners are no usual case
	w := s.file.actions.match(winners{rules: place[:0]}, a, "", false, now)
	if len(w.rules) > 0 {
		return s.decision(w, ByFile)
	}
	return s.decision(s.own.actions.match(winners{rules: place[:0]}, a, "", false, now), ByRule)
}

// byFlow is what the rules say of an action of a client that has read another site. It has no
// Rule if none says anything.
func (s *Set) byFlow(a *Action, from spec.Domain, now time.Time) Decision {
	private := s.IsPrivate(from)
	var place [16]*compiled
	w := s.file.flows.match(winners{rules: place[:0]}, a, from, private, now)
	if len(w.rules) == 0 {
		w = s.own.flows.match(w, a, from, private, now)
	}
	if r := w.strictest(); r != nil {
		return Decision{Effect: r.Effect, Rule: r.Rule, Layer: ByFlow}
	}
	return Decision{}
}

// decision is what winners say. What they allow is asked for if the owner has allowed it
// with another definition, and said nothing since that is as specific.
func (s *Set) decision(w winners, at Layer) Decision {
	d := Decision{Effect: Deny}
	if r := w.strictest(); r != nil {
		d = Decision{Effect: r.Effect, Rule: r.Rule, Layer: at}
		if r.preset {
			d.Layer = ByPreset
		}
	}
	if w.changed == nil || slices.ContainsFunc(w.rules, func(r *compiled) bool { return r.rank.covers(w.changed.changed()) }) {
		return d
	}
	d.Changed = w.changed.Rule
	if d.Effect == Allow && s.mode.raises() {
		d.Effect, d.Rule, d.Layer = Ask, d.Changed, at
	}
	return d
}

func (s *Set) isPaused(a *Action) bool {
	for i := range s.doc.Pauses {
		if s.doc.Pauses[i].matches(a) {
			return true
		}
	}
	return false
}

// Shows reports whether a client is to know of what an action is about: it is not denied, or
// it would not be if it were not paused.
func (s *Set) Shows(a *Action, now time.Time) bool {
	return s != nil && a.complete() && s.decide(a, now).Effect != Deny
}

// Hides reports whether there may be anything that Shows does not show to a client.
func (s *Set) Hides(who *Principal) bool {
	if s == nil || who == nil || who.ID == "" || s.bounded || who.Scope.limits() {
		return true
	}
	return slices.ContainsFunc(s.denied, func(client string) bool { return isClient(client, who) })
}

// IsPrivate reports whether the owner has made a site private.
func (s *Set) IsPrivate(d spec.Domain) bool {
	for i := range s.private {
		if s.private[i].has(d, false) {
			return true
		}
	}
	return false
}

// Watches reports whether a decision may depend on whether a client has read a site.
func (s *Set) Watches(d spec.Domain) bool {
	return s.IsPrivate(d) || slices.ContainsFunc(s.froms, func(from sites) bool { return from.has(d, false) })
}

// Traces reports whether a decision about what a client does may depend on what it has Read.
func (s *Set) Traces(who *Principal) bool {
	if s == nil || who == nil {
		return false
	}
	return len(s.private) > 0 || slices.ContainsFunc(s.traced, func(client string) bool { return isClient(client, who) })
}

// Mode returns the mode, and whether it was given to New, so that that of the document
// counts for nothing.
func (s *Set) Mode() (mode Mode, fixed bool) { return s.mode, s.fixed }

// Document returns what the owner has decided. It must not be changed.
func (s *Set) Document() *Document { return &s.doc }

// Rules returns what holds: the rules of the file, then the owner's, then those of the
// mode. In each the most specific come first. They must not be changed.
func (s *Set) Rules() []*Rule {
	var file, own, presets []*Rule
	for _, t := range []*table{s.file.actions, s.file.flows} {
		for i := range t.rules {
			file = append(file, t.rules[i].Rule)
		}
	}
	for _, t := range []*table{s.own.actions, s.own.flows} {
		for i := range t.rules {
			if r := &t.rules[i]; r.preset {
				presets = append(presets, r.Rule)
			} else {
				own = append(own, r.Rule)
			}
		}
	}
	return slices.Concat(file, own, presets)
}

// Matching returns the rules that match an action, whether or not they decide, in the order
// of Rules, but for those about flows.
func (s *Set) Matching(a *Action, now time.Time) []*Rule {
	var out []*Rule
	for _, t := range []*table{s.file.actions, s.own.actions} {
		for i := range t.rules {
			if r := &t.rules[i]; r.matches(a, now) && (r.Pin.isZero() || a.Item != nil && a.Item.Pin() == r.Pin) {
				out = append(out, r.Rule)
			}
		}
	}
	return out
}
