package policy

import (
	"slices"
	"time"
)

// Put adds a rule, and removes the rules about the same that it makes useless, and those
// that have ended. A rule that ends does not replace one that does not.
func (d *Document) Put(r Rule, now time.Time) {
	subject := r.subject()
	d.Rules = slices.DeleteFunc(slices.Clone(d.Rules), func(old Rule) bool {
		s := old.subject()
		if r.Pin.isZero() || r.Effect != old.Effect {
			s.Pin = subject.Pin
		}
		if r.Until.IsZero() {
			s.Until = subject.Until
		}
		return s == subject || old.ended(now)
	})
	d.Rules = append(d.Rules, r)
}

// Remove removes the rule with an ID, and reports whether there was one.
func (d *Document) Remove(id string) bool {
	before := len(d.Rules)
	d.Rules = slices.DeleteFunc(slices.Clone(d.Rules), func(r Rule) bool { return r.ID == id })
	return len(d.Rules) < before
}

// Allows reports whether the rule allows what the tools of a pack do, and names that pack.
func (r *Rule) Allows(pack string) bool { return r.Pack == pack && r.Effect == Allow }

// WithdrawPack removes the rules that Allow what a pack does, and returns them.
func (d *Document) WithdrawPack(name string) (withdrawn []Rule) {
	d.Rules = slices.DeleteFunc(slices.Clone(d.Rules), func(r Rule) bool {
		if r.Allows(name) {
			withdrawn = append(withdrawn, r)
			return true
		}
		return false
	})
	return withdrawn
}

// Pause adds a pause, in the place of one of the same client and site.
func (d *Document) Pause(p Pause) {
	d.Resume(p.Client, p.Site)
	d.Pauses = append(d.Pauses, p)
}

// Resume lifts the pause of exactly this client and site, and reports whether there was one.
// The pause of everything has neither.
func (d *Document) Resume(client, site string) bool {
	before := len(d.Pauses)
	d.Pauses = slices.DeleteFunc(slices.Clone(d.Pauses), func(p Pause) bool { return p.Client == client && p.Site == site })
	return len(d.Pauses) < before
}

func (r *Rule) ended(now time.Time) bool { return !r.Until.IsZero() && !now.Before(r.Until) }

// RuleFor returns the rule about actions like this one: of the same client, site, tool,
// pack and, if it allows, definition. It has no ID.
func RuleFor(a *Action, effect Effect) Rule {
	r := Rule{Effect: effect, Client: a.Principal.ID, Site: string(a.Site.Domain), Tool: a.Name, Pack: a.Pack}
	switch {
	case a.Class == Act: // of the hub, too
		r.Class = Act.String()
	case a.Of == OfHub:
		r.Class = classHub
	case a.Of == OfRelay:
		r.Class = classRelay
	case effect == Allow && a.Item != nil:
		r.Pin = a.Item.Pin()
	}
	if a.Site.Any {
		r.Site = ""
	}
	return r
}
