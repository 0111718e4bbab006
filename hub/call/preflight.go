package call

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/core"
	"tabhub/hub/offer/item"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// Readiness says what a call would come to now.
type Readiness string

// The values of Readiness, from the best to the worst.
const (
	Ready     Readiness = "ready"
	NoTab     Readiness = "no tab"     // that can take the call, and none can be opened
	NoBrowser Readiness = "not paired" // no browser is connected that could have the tab
	WouldAsk  Readiness = "would ask"
	Denied    Readiness = "denied"
)

// worse has the values of Readiness in their order.
var worse = []Readiness{Ready, NoTab, NoBrowser, WouldAsk, Denied}

// Worse returns the worse of two.
func (r Readiness) Worse(than Readiness) Readiness {
	return worse[max(slices.Index(worse, r), slices.Index(worse, than))]
}

// Preflight is what a call of a tool by a client would come to now.
type Preflight struct {
	State    Readiness
	Why      string // the reason, in a sentence without its full stop
	Action   policy.Action
	Decision policy.Decision // Effect is Unset if the hub does not know the tool
	Tab      string          // where the call would go; "" if nowhere, or to a tab that would be opened
	OpenURL  string          // what would be opened for the call
}

// PreflightAction says what the rules decide now about an action of a client that begins a session.
func (o *Owner) PreflightAction(a policy.Action) Preflight {
	d := o.calls.gate.decision(&a, time.Now())
	p := Preflight{State: Ready, Why: "the rules allow it", Action: a, Decision: d}
	switch d.Effect {
	case policy.Allow:
	case policy.Ask:
		why := strings.TrimSuffix(d.Why(&a), ".")
		p.State, p.Why = WouldAsk, strings.ToLower(why[:1])+why[1:]
	default:
		p.State, p.Why = Denied, d.Words(&a)
	}
	return p
}

// Preflight says what a call of a tool's public name by a client that begins a session would come to
// now: by the decision that the call would get, and the tab that it would go to. It asks, opens and
// sends nothing.
func (o *Owner) Preflight(by *consent.Caller, name string) Preflight {
	target, it, p := o.place(by, name)
	if it == nil {
		return p
	}
	a := core.ActionFor(by, it, it.Source)
	if target != nil {
		o.calls.reach(by, &a, target.Addr.Peer)
	}
	d := o.PreflightAction(a)
	p.Action, p.Decision = d.Action, d.Decision
	switch {
	case d.State == Ready:
	case p.State == Ready:
		p.State, p.Why = d.State, d.Why
	default:
		p.State, p.Why = d.State, d.Why+"; and "+p.Why
	}
	return p
}

// place finds out where a call would go: to target, of which p says whether it can take the call, or to
// a tab that would be opened. it is nil if the hub does not know the tool.
func (o *Owner) place(by *consent.Caller, name string) (target *state.Candidate, it *item.Item, p Preflight) {
	cs, who, now := o.calls, o.calls.rules.By(by), time.Now()
	cs.core.RLock()
	defer cs.core.RUnlock()
	s := cs.core.State()
	nowhere := func(why string) Preflight { return o.nowhere(s, who, why) }
	ref, ok := s.Lookup(who, spec.KindTool, name)
	if !ok {
		more := strings.TrimPrefix(cs.lists.UnknownLocked(by, spec.KindTool, name).Error(), fmt.Sprintf("unknown tool %q", name))
		return nil, nil, nowhere("no open page offers it, and it is not cached" + more)
	}
	snap := s.Snapshot(&ref, who, nil, "", nil)
	best, why := snap.Choose()
	if best < 0 {
		it = s.Known(&ref, who)
		switch url, ready, _ := s.Opener(&ref, who, "", now); {
		case it != nil && ref.ID.Tab == 0 && ready:
			return nil, it, Preflight{State: Ready, Why: "no tab is open; the call opens " + url, OpenURL: url}
		case it != nil && ref.ID.Tab == 0 && why == state.ReasonNone:
			return nil, it, nowhere(fmt.Sprintf("no tab of %s is open", ref.ID.Domain))
		}
		return nil, it, nowhere(why)
	}
	c := &snap.Candidates[best]
	switch {
	case !c.Present && !c.Departed:
		return c, c.Item, nowhere("the browser of its tab is away")
	case c.Dialog != nil:
		return c, c.Item, Preflight{State: NoTab, Why: core.DialogWords(c.Addr, c.Dialog)}
	}
	if h := s.Agents().Bars(c.Addr, core.SessionOf(by), c.Reads()); h != nil && !core.IsOwner(by) {
		return c, c.Item, Preflight{State: NoTab, Why: core.LeasedFailure(c.Addr, h).Message}
	}
	return c, c.Item, Preflight{State: Ready, Why: "a tab is open", Tab: c.Addr.Public()}
}

// NoTools is Preflight for a client that is listed no tool of a page.
func (o *Owner) NoTools(by *consent.Caller) Preflight {
	return core.View(o.calls.core, func(s *state.State) Preflight {
		return o.nowhere(s, o.calls.rules.By(by), "no page offers the client a tool")
	})
}

// nowhere is the Preflight of a call that no tab can take, for a reason.
func (o *Owner) nowhere(s *state.State, who agents.By, why string) Preflight {
	for _, b := range s.Browsers(who, time.Now()) {
		if b.Connected && !b.Single {
			return Preflight{State: NoTab, Why: why}
		}
	}
	no := "no browser is connected"
	if !windowOf(o.calls).Paired() {
		no = "no browser is paired with the hub"
	}
	return Preflight{State: NoBrowser, Why: why + ", and " + no}
}
