package policy

import (
	"cmp"
	"strings"
	"time"

	"tabhub/spec"
)

// Exceptions returns the rules that decide otherwise about a part of what the rule with an ID is
// about: more specific ones, stricter ones, and the file's. It tries examples, and leaves out
// flows.
func (s *Set) Exceptions(id string, now time.Time) []*Rule {
	var r *compiled
	for i := range s.owner.actions {
		if c := &s.owner.actions[i]; c.ID == id {
			r = c
		}
	}
	if r == nil {
		return nil
	}
	var out []*Rule
	for n, t := range []table{s.file.actions, s.owner.actions} {
		for i := range t {
			o := &t[i]
			weaker := n > 0 && (r.rank.covers(o.rank) && r.rank != o.rank || o.Effect < r.Effect && !o.rank.covers(r.rank))
			if o.Effect == r.Effect || weaker {
				continue
			}
			if a := both(o, r); o.matches(a, now) && r.matches(a, now) {
				out = append(out, o.Rule)
			}
		}
	}
	return out
}

// both returns an action that both rules match, if there is any.
func both(x, y *compiled) *Action {
	client, pack := cmp.Or(x.Client, y.Client, "anybody"), x.Pack
	if pack == "" || pack == anyPack {
		pack = cmp.Or(y.Pack, x.Pack)
	}
	class := cmp.Or(x.class, y.class, Destructive)
	switch {
	case y.class == Act: // x may be about acts, too, whatever its class
		class = Act
	case pack != "" && x.class|y.class == ClassUnset:
		class = Read // of what a pack offers, an allowing rule without one is about no more
	}
	a := &Action{
		Principal: &Principal{ID: client, Name: client}, Session: cmp.Or(x.Session, y.Session),
		Class: class, Late: x.Late || y.Late, Pack: pack,
	}
	switch of := x.of & y.of; {
	case of&ofPage != 0:
	case of&ofHub != 0:
		a.Of = OfHub
	default:
		a.Of = OfRelay
	}
	a.Site.Domain = x.site.example()
	if y.site.rank() > x.site.rank() {
		a.Site.Domain = y.site.example()
	}
	a.Name = x.tool()
	if y.rank.tool > x.rank.tool && y.Tool != "" || x.Tool == "" {
		a.Name = y.tool()
	}
	return a
}

// example is a site that the pattern stands for.
func (s *sites) example() spec.Domain {
	switch s.kind {
	case exactSite:
		return s.domain
	case belowSite:
		return spec.Domain(s.marks + s.host + s.port)
	case unverifiedSite:
		return "unverified_any.example"
	}
	return "any.example"
}

// tool is the name of a tool that the rule is about.
func (c *compiled) tool() string {
	if c.wild {
		return strings.ReplaceAll(c.Tool, "*", "")
	}
	return cmp.Or(c.Tool, "any")
}
