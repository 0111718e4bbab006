package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tabhub/hub/offer/item"
	"tabhub/hub/state"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// maxParse bounds the time that a registration takes to check: patterns in schemas
// can make it long. 1,024 tools without any take a hundredth of it.
const maxParse = time.Second

// register replaces what a tab offers of one kind (spec/PROTOCOL.md,
// "Registration"). Items that cannot be served are quarantined; the others live. They
// are parsed without the Hub's mutex. The tab is answered once what it offers is stored.
func (c *Core) register(from spec.TabAddr, id json.RawMessage, m *spec.Register) {
	start := time.Now()
	var r *state.Registration
	c.Update(func(tx *state.Tx) { r = tx.BeginRegistration(from, m) })
	if r == nil {
		return // its peer was given up while its message was in flight
	}
	if len(m.Items) == 0 {
		c.Log.Info("empty registration", "tab", from, "kind", m.Kind)
	}
	items, rejected := parse(c, r, m)
	var out state.Outcome
	var err error
	c.Update(
		func(tx *state.Tx) {
			items, rejected = stillActive(c, items, rejected)
			out, err = tx.Register(r, m, items, rejected)
		},
		func(stored error) {
			if id != nil && !errors.Is(err, state.ErrReplaced) {
				answerRegistration(c, from, id, out.Answer, err, stored)
			}
		},
	)
	if err != nil {
		return
	}
	if m.Kind == spec.KindResource {
		c.hooks.Registered(from)
	}
	if out.Changed || len(out.Rejected) > 0 {
		recordRegistration(c, from, m, items, out, time.Since(start))
	}
}

// parse checks the items of a registration.
func parse(c *Core, r *state.Registration, m *spec.Register) ([]*item.Item, []spec.Rejection) {
	items := make([]*item.Item, 0, len(m.Items))
	rejected := []spec.Rejection{}
	provenance := func(claimed item.Claim) (item.Provenance, error) { return item.ProvenanceOf(r.Conn, r.TabURL, claimed) }
	seen := make(map[item.Key]bool, len(m.Items))
	start := time.Now()
	for i, raw := range m.Items {
		if time.Since(start) > maxParse {
			rejected = append(rejected, spec.Rejection{Name: "*", Reason: fmt.Sprintf("the schemas take too long to check; the last %d are left out", len(m.Items)-i)})
			break
		}
		if i >= spec.MaxToolsPerTab {
			rejected = append(rejected, spec.Rejection{Name: "*", Reason: fmt.Sprintf("a tab may offer at most %d of a kind; the other %d are left out", spec.MaxToolsPerTab, len(m.Items)-i)})
			break
		}
		it, err := item.Parse(m.Kind, raw, &c.schemas, provenance)
		if err == nil {
			it, err = define(c, it)
		}
		if err == nil && seen[it.Key()] {
			err = fmt.Errorf("%q is registered twice; the first counts", it.Source)
		}
		if err != nil {
			rejected = append(rejected, it.Reject(i, err))
			continue
		}
		seen[it.Key()] = true
		items = append(items, it)
	}
	return ownWins(items, seen, rejected)
}

// answerRegistration answers a tab: err says why its registration was refused, stored
// why it could not be stored.
func answerRegistration(c *Core, to spec.TabAddr, id json.RawMessage, answer spec.Registered, err, stored error) {
	refusal, _ := errors.AsType[*spec.Error](err)
	switch {
	case refusal != nil:
		c.transport.Respond(to, id, nil, refusal)
	case stored != nil:
		c.transport.Respond(to, id, nil, spec.Errorf(spec.CodeInternal, "registered, but not stored: %v", stored))
	default:
		c.transport.Respond(to, id, answer, nil)
	}
}

// recordRegistration leaves the record of a registration that changed something.
func recordRegistration(c *Core, from spec.TabAddr, m *spec.Register, items []*item.Item, out state.Outcome, d time.Duration) {
	e := record.Entry{
		Time: time.Now(), Event: record.Register, Tab: from.String(), Duration: d,
		Outcome: "ok", Reason: plural(len(items), m.Kind),
	}
	if len(items) > 0 {
		e.Domain = items[0].Domain
	}
	if n := len(out.Answer.Warnings); n > 0 {
		c.Log.Info("offered in part", "tab", from, "domain", e.Domain, "tool", out.Answer.Warnings[0].Name, "err", out.Answer.Warnings[0].Reason, "count", n)
	}
	if rejected := out.Rejected; len(rejected) > 0 {
		e.Outcome = fmt.Sprintf("%d rejected", len(rejected))
		e.Reason += fmt.Sprintf("; %s: %s", rejected[0].Name, rejected[0].Reason)
		c.Log.Warn("quarantined", "tab", from, "domain", e.Domain, "tool", rejected[0].Name, "err", rejected[0].Reason, "count", len(rejected))
	}
	c.Record(e)
}

func plural(n int, kind spec.Kind) string {
	if n == 1 {
		return "1 " + string(kind)
	}
	return fmt.Sprintf("%d %ss", n, kind)
}
