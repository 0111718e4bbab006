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

// Set is the policy that holds: the rules of the owner, of a file and of a mode, and the pauses.
// It is immutable and safe for concurrent use. A nil Set denies everything.
type Set struct {
	mode    Mode
	fixed   bool
	doc     Document
	private []sites
	file    layer
	owner   layer    // and the mode's rules
	denied  []string // clients that rules deny something, "" for all
	bounded bool     // each client may be denied something
	traced  []string // clients that rules about flows are about
	froms   []sites  // of these rules, the mode's apart

	bindings []Binding // of the file and of the owner
}

// layer holds rules that decide together: those about actions, and those about flows.
type layer struct{ actions, flows table }

// ErrInvalid is in the errors of New.
var ErrInvalid = errors.New("the policy is not valid")

// New makes a Set of what the owner has decided, and of a policy file. Without a mode it
// is the document's, or ModeCareful. The document and the file belong to the Set from now on.
// The error is an ErrInvalid and says what is wrong with which rule.
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
	s.owner = newLayer(slices.Concat(doc.Rules, s.mode.Rules()))
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
	case s.PauseOf(a) != nil:
		return Decision{Effect: Deny, Paused: true, Layer: ByPause}
	}
	return s.decide(a, now)
}

// decide is Decide for what is not paused.
func (s *Set) decide(a *Action, now time.Time) Decision {
	switch {
	case a.Site.isDashboard():
		return Decision{Effect: Deny, Layer: ByDashboard}
	case a.Principal.Scope.refuses(a):
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

// takes reports whether an action may carry something of other sites to its own.
func (a *Action) takes() bool {
	return !a.Dataless && !(a.Of == OfHub && a.Site == (Site{}))
}

// withFlows returns d, or a stricter decision of the rules about flows.
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

// isDashboard reports whether the site is a hub's dashboard: a client that reads or steers it could
// decide for the owner.
func (s *Site) isDashboard() bool {
	if s.Dashboard {
		return true
	}
	if !strings.Contains(string(s.Domain), naming.DashboardPrefix) {
		return false
	}
	_, host, _ := naming.SplitKey(bare(s.Domain))
	return naming.IsDashboard(host)
}

// complete reports whether an action says what a decision needs: its principal and, for a page's
// item, the site.
func (a *Action) complete() bool {
	return a.Principal != nil && a.Principal.ID != "" && (a.Of != OfPage || a.Site != (Site{}))
}

// byRules decides by the rules about actions.
func (s *Set) byRules(a *Action, now time.Time) Decision {
	var place [16]*compiled // there are rarely more winners
	w := s.file.actions.match(winners{rules: place[:0]}, a, "", false, now)
	if len(w.rules) > 0 {
		return s.decision(w, ByFile)
	}
	return s.decision(s.owner.actions.match(winners{rules: place[:0]}, a, "", false, now), ByRule)
}

// byFlow decides by the rules about flows, about an action of a client that has read a site. It has no
// Rule if none matches.
func (s *Set) byFlow(a *Action, from spec.Domain, now time.Time) Decision {
	private := s.IsPrivate(from)
	var place [16]*compiled
	w := s.file.flows.match(winners{rules: place[:0]}, a, from, private, now)
	if len(w.rules) == 0 {
		w = s.owner.flows.match(w, a, from, private, now)
	}
	if r := w.strictest(); r != nil {
		return Decision{Effect: r.Effect, Rule: r.Rule, Layer: ByFlow}
	}
	return Decision{}
}

// decision decides by the winners. An item that they allow is asked about if the owner has allowed it
// with another definition, and has made no rule since that is as specific.
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

// PauseOf returns the pause that stops an action. Nil: none does.
func (s *Set) PauseOf(a *Action) *Pause {
	for i := range s.doc.Pauses {
		if p := &s.doc.Pauses[i]; p.matches(a) {
			return p
		}
	}
	return nil
}

// Shows reports whether the client is to see the item of an action: pauses apart, it is not denied.
func (s *Set) Shows(a *Action, now time.Time) bool {
	return s != nil && a.complete() && s.decide(a, now).Effect != Deny
}

// Hides reports whether Shows may be false for a client.
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

// Mode returns the mode, and whether it was given to New and the document's does not count.
func (s *Set) Mode() (mode Mode, fixed bool) { return s.mode, s.fixed }

// Document returns what the owner has decided. It must not be changed.
func (s *Set) Document() *Document { return &s.doc }

// Rules returns the rules of the file, then the owner's, then those of the mode, in each the most
// specific first. They must not be changed.
func (s *Set) Rules() (all []*Rule) {
	var presets []*Rule
	for _, t := range []table{s.file.actions, s.file.flows, s.owner.actions, s.owner.flows} {
		for i := range t {
			if r := &t[i]; r.preset {
				presets = append(presets, r.Rule)
			} else {
				all = append(all, r.Rule)
			}
		}
	}
	return append(all, presets...)
}

// Matching returns the rules that match an action, whether or not they decide, in the order
// of Rules, but for those about flows.
func (s *Set) Matching(a *Action, now time.Time) []*Rule {
	var out []*Rule
	for _, t := range []table{s.file.actions, s.owner.actions} {
		for i := range t {
			if r := &t[i]; r.matches(a, now) && (r.Pin.isZero() || a.Item != nil && a.Item.Pin() == r.Pin) {
				out = append(out, r.Rule)
			}
		}
	}
	return out
}
