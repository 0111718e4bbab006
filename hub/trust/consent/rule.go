package consent

import (
	"slices"
	"strings"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/naming"
	"tabhub/spec"
)

// sessionLife is how long an answer for a session is good: sessions may be idle for long.
const sessionLife = 24 * time.Hour

// reaches returns how far a yes to a question may reach, and never.
func reaches(by *Caller, c *Call) []spec.Reach {
	a := c.Action
	once := []spec.Reach{spec.ReachOnce}
	switch {
	case len(c.Args) > maxArgs && a.Class != policy.Act, !lasting(&c.Decision): // of an act all is shown
		return once
	case c.Decision.Layer == policy.ByFlow:
		if by.Session == "" || a.Site.Domain == "" {
			return once
		}
		return append(once, spec.ReachSession)
	case a.Of == policy.OfPage && pin(a) == policy.Pin{}, a.Of != policy.OfPage && strings.Contains(a.Name, "*"):
		return once // no rule could be about this alone
	}
	if a.Class == policy.Act {
		return actReaches(by, a)
	}
	all := once
	if by.Session != "" {
		all = append(all, spec.ReachSession)
	}
	if naming.IsClaimed(a.Site.Domain) {
		return all // it may be another site the next time
	}
	if a.Principal.ID != policy.UnnamedID { // which may be another program
		all = append(all, spec.ReachApp)
	}
	return append(all, spec.ReachAlways, spec.ReachNever)
}

// forClient returns how a client's own user may answer. The hub has only the client's word for the answer: it
// is good for that client alone, and outlasts its session only if the client has a credential of its own, and
// at one site.
func (q *question) forClient() []spec.Reach {
	return slices.DeleteFunc(slices.Clone(q.offered()), func(r spec.Reach) bool {
		return r != spec.ReachOnce && r != spec.ReachSession && (r != spec.ReachApp || isShared(q.key.Client) || q.key.Site == "")
	})
}

// lasting reports whether a rule made by an answer would count against what has asked.
func lasting(d *policy.Decision) bool {
	switch r := d.Rule; d.Layer {
	case policy.ByFile:
		return false
	case policy.ByFlow: // all private sites, from anywhere to anywhere: any rule says more than that
		return r != nil && *r == (policy.Rule{ID: r.ID, Effect: policy.Ask, From: privateSites, Made: r.Made, By: r.By, Note: r.Note}) && r.By != "file"
	}
	return true
}

const privateSites = "private" // as Rule.From

// siteWide reports whether an answer is about all of a site: if what has asked is about
// everything, as in policy.ModeAsk.
func siteWide(c *Call) bool {
	r := c.Decision.Rule
	return r != nil && c.Decision.Layer != policy.ByFlow && c.Decision.Changed == nil && c.Action.Of == policy.OfPage && c.Action.Site.Domain != "" &&
		c.Action.Pack == "" && r.Site == "" && r.Tool == "" && r.Class == "" && !r.Late
}

// packWide reports whether an answer is about all that the pack does at the site and that is of the class of
// what has asked: if that is about packs, or about everything. What cannot be undone is asked about tool by tool.
func packWide(c *Call) bool {
	r, a := c.Decision.Rule, c.Action
	return r != nil && c.Decision.Layer != policy.ByFlow && c.Decision.Changed == nil && a.Pack != "" && a.Site.Domain != "" &&
		(a.Class == policy.Read || a.Class == policy.Write) && r.Site == "" && r.Tool == "" && !r.Late
}

// actReaches returns how far a yes to an act may reach: nobody knows what such a client does next, so it
// is good for one session at one site, unless the owner makes a rule.
func actReaches(by *Caller, a *policy.Action) []spec.Reach {
	switch {
	case by.Session == "" || a.Site.Domain == "":
		return []spec.Reach{spec.ReachOnce}
	case naming.IsClaimed(a.Site.Domain):
		return []spec.Reach{spec.ReachOnce, spec.ReachSession}
	}
	return []spec.Reach{spec.ReachOnce, spec.ReachSession, spec.ReachNever}
}

// actWide reports whether an answer is about all that a client does by itself at a site: unless what has
// asked is about a tool.
func actWide(c *Call) bool {
	r := c.Decision.Rule
	return c.Action.Class == policy.Act && c.Decision.Layer != policy.ByFlow && c.Action.Site.Domain != "" && (r == nil || r.Tool == "")
}

// rulesOf returns the rules that answers to a question make.
func rulesOf(by *Caller, c *Call) map[spec.Reach]policy.Rule {
	all := map[spec.Reach]policy.Rule{}
	for _, reach := range []spec.Reach{spec.ReachSession, spec.ReachApp, spec.ReachAlways, spec.ReachNever} {
		if r, ok := ruleOf(by, c, reach); ok {
			all[reach] = r
		}
	}
	return all
}

// ruleOf returns the rule that an answer makes; ok is false for one that is about this call
// only.
func ruleOf(by *Caller, c *Call, reach spec.Reach) (r policy.Rule, ok bool) {
	effect := policy.Allow
	if reach == spec.ReachNever {
		effect = policy.Deny
	}
	if c.Decision.Layer == policy.ByFlow {
		r = policy.Rule{Effect: effect, Client: c.Action.Principal.ID, Session: by.Session, Site: string(c.Action.Site.Domain), Pack: c.Action.Pack, From: privateSites}
		if c.Action.Class == policy.Act {
			r.Class = className(policy.Act)
		}
		return r, reach == spec.ReachSession
	}
	r = policy.RuleFor(c.Action, effect)
	if siteWide(c) {
		r = policy.Rule{Effect: effect, Client: r.Client, Site: r.Site}
	}
	if packWide(c) {
		r.Tool, r.Class, r.Pin = "", className(c.Action.Class), policy.Pin{}
	}
	if actWide(c) {
		r.Tool = ""
	}
	switch reach {
	case spec.ReachSession:
		r.Session = by.Session
	case spec.ReachAlways:
		r.Client = ""
	case spec.ReachApp, spec.ReachNever:
	default:
		return policy.Rule{}, false
	}
	return r, true
}

func pin(a *policy.Action) policy.Pin {
	if a.Item == nil {
		return policy.Pin{}
	}
	return a.Item.Pin()
}
