package core

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/offer/item"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/storage"
)

// policySettings is what a policy.Document is stored as.
const policySettings = "policy"

// Rules are what the owner has decided beforehand, kept in the store. Its methods are safe for
// concurrent use.
type Rules struct {
	core     *Core
	mode     policy.Mode
	rules    atomic.Pointer[policy.Set] // never nil
	edits    atomic.Uint64
	onPolicy []func(*policy.Set) // static once the hub is open

	editing    sync.Mutex  // held while the policy is changed; taken before Core.mu
	policyFile policy.File // guarded by editing
}

// OpenRules has the rules hold that the store has.
func OpenRules(core *Core, mode policy.Mode) (*Rules, error) {
	var doc policy.Document
	if body := core.Settings(policySettings); body != nil {
		if err := json.Unmarshal(body, &doc); err != nil {
			return nil, fmt.Errorf("the policy in the store: %w", err)
		}
	}
	set, err := policy.New(doc, mode, policy.File{})
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	rs := &Rules{core: core, mode: mode}
	rs.rules.Store(set)
	return rs, nil
}

// OnChange has f called with the rules each time that they change, in the order of the calls of
// OnChange, which must be before the hub is served.
func (rs *Rules) OnChange(f func(*policy.Set)) { rs.onPolicy = append(rs.onPolicy, f) }

// Policy returns the rules that hold now. They are immutable.
func (rs *Rules) Policy() *policy.Set { return rs.rules.Load() }

// Edits counts the changes of the rules.
func (rs *Rules) Edits() uint64 { return rs.edits.Load() }

// EditPolicy changes what the owner has decided so far; by says by what means, for the
// record. edit gets a copy that it may change; its error, one of the document that it makes,
// and one of the store are returned, and then nothing has changed but that what edit has
// paused is. The rest holds once it is stored, which EditPolicy waits for.
func (rs *Rules) EditPolicy(by string, edit func(*policy.Document) error) error {
	rs.editing.Lock()
	defer rs.editing.Unlock()
	was := rs.Policy()
	doc := *was.Document()
	doc.Rules, doc.Pauses = slices.Clone(doc.Rules), slices.Clone(doc.Pauses)
	doc.Private, doc.Bindings = slices.Clone(doc.Private), slices.Clone(doc.Bindings)
	if err := edit(&doc); err != nil {
		return err
	}
	doc.Rules = slices.DeleteFunc(doc.Rules, func(r policy.Rule) bool { return !r.Until.IsZero() && r.Until.Before(time.Now()) })
	set, err := policy.New(doc, rs.mode, rs.policyFile)
	if err != nil {
		return err
	}
	if len(doc.Pauses) > len(was.Document().Pauses) {
		rs.setPolicy(set)
	}
	body, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	if err := rs.core.KeepSettings(storage.Settings{Name: policySettings, Body: body}); err != nil {
		return fmt.Errorf("it could not be stored: %w", err)
	}
	rs.setPolicy(set)
	rs.recordPolicy(by, was.Document(), &doc)
	return nil
}

// SetPolicyFile replaces what the policy file says. An error in it leaves what holds.
func (rs *Rules) SetPolicyFile(file policy.File) error {
	rs.editing.Lock()
	defer rs.editing.Unlock()
	set, err := policy.New(*rs.Policy().Document(), rs.mode, file)
	if err != nil {
		return err
	}
	rs.policyFile = file
	rs.setPolicy(set)
	return nil
}

// setPolicy makes rules hold, and ends what they stop.
func (rs *Rules) setPolicy(set *policy.Set) {
	rs.rules.Store(set)
	rs.edits.Add(1)
	for _, f := range rs.onPolicy {
		f(set)
	}
}

// Remember stores a rule that an answer of the owner has made.
func (rs *Rules) Remember(r policy.Rule) error {
	return rs.EditPolicy(r.By, func(doc *policy.Document) error {
		doc.Put(r, time.Now())
		return nil
	})
}

// WithdrawPack removes the owner's rules that name a pack and allow what it does, and returns them: a pack that
// is gone, or that does more than before, has to be allowed anew. What the file says stays. by is as for EditPolicy.
func (rs *Rules) WithdrawPack(name, by string) (withdrawn []policy.Rule, err error) {
	if !slices.ContainsFunc(rs.Policy().Document().Rules, func(r policy.Rule) bool { return r.Allows(name) }) {
		return nil, nil
	}
	err = rs.EditPolicy(by, func(doc *policy.Document) error {
		withdrawn = doc.WithdrawPack(name)
		return nil
	})
	return withdrawn, err
}

// Hears returns why a client is not to be told now what an action brings it: a *Failure if
// that is denied by now; nil otherwise.
func (rs *Rules) Hears(a *policy.Action) error {
	if d := rs.Policy().Decide(a, time.Now()); d.Effect != policy.Allow && d.Effect != policy.Ask {
		return Refusal(d, a)
	}
	return nil
}

// Shows reports whether a client is to know of what an action is about.
func (rs *Rules) Shows(a *policy.Action) bool { return rs.Policy().Shows(a, time.Now()) }

// recordPolicy leaves a record of each change of the policy.
func (rs *Rules) recordPolicy(by string, was, is *policy.Document) {
	add := func(e record.Entry) {
		e.Time, e.Event, e.By = time.Now(), record.Policy, by
		rs.core.Record(e)
	}
	rules := func(of, but []policy.Rule, outcome string) {
		for _, r := range of {
			if !slices.Contains(but, r) {
				e := record.Entry{Rule: r.ID, Decision: r.Effect.String(), Client: r.Client, Session: r.Session, Domain: spec.Domain(r.Site), Tool: r.Tool, Pack: r.Pack, Class: r.Class, Outcome: outcome}
				if r.From != "" {
					e.Flows = []string{r.From + " → " + cmp.Or(r.Site, "any site")}
				}
				add(e)
			}
		}
	}
	pauses := func(of, but []policy.Pause, outcome string) {
		for _, p := range of {
			if !slices.Contains(but, p) {
				add(record.Entry{Client: p.Client, Domain: spec.Domain(p.Site), Outcome: outcome})
			}
		}
	}
	rules(was.Rules, is.Rules, "removed")
	rules(is.Rules, was.Rules, "made")
	pauses(was.Pauses, is.Pauses, "resumed")
	pauses(is.Pauses, was.Pauses, "paused")
	if is.Mode != was.Mode {
		add(record.Entry{Outcome: "mode", Reason: string(is.Mode)})
	}
	if !slices.Equal(is.Private, was.Private) {
		add(record.Entry{Outcome: "private", Reason: strings.Join(is.Private, " ")})
	}
}

// Pause stops everything that is done for clients, or lets it go on; by says by what means,
// for the record. What is paused of a client or a site alone stays so.
func (rs *Rules) Pause(by string, on bool) error {
	return rs.EditPolicy(by, func(doc *policy.Document) error {
		if on {
			doc.Pause(policy.Pause{Since: time.Now(), By: by})
		} else {
			doc.Resume("", "")
		}
		return nil
	})
}

// SessionOf returns the session that a caller's tabs go by. The owner's commands and pages have none.
func SessionOf(by *consent.Caller) agents.SessionID {
	switch {
	case by.Session != "":
		return agents.SessionID{Client: by.Principal.ID, ID: by.Session}
	case by.Agent != "":
		return agents.SessionID{Client: by.Principal.ID, ID: by.Agent}
	}
	return agents.SessionID{}
}

// By returns for which session, with which binding, the state is asked and changed.
func (rs *Rules) By(by *consent.Caller) agents.By {
	if by == nil { // sees everything
		return agents.By{}
	}
	return agents.By{Session: SessionOf(by), Label: by.Label(), Browsers: rs.Policy().Browsers(by.Principal, by.Bound)}
}

// IsOwner reports whether a caller is the hub's owner, by a command or page of the hub's: no lease
// stops the owner.
func IsOwner(by *consent.Caller) bool {
	return by.Principal == policy.Owner && SessionOf(by) == agents.SessionID{}
}

// ActionFor is what a call of an item comes to, by the page's own name or URI.
func ActionFor(by *consent.Caller, it *item.Item, name string) policy.Action {
	return policy.Action{
		Principal: by.Principal, Session: by.Session, Bound: by.Bound, Site: policy.Site{Domain: it.Domain},
		Kind: it.Kind, Name: name, Pack: it.Pack.Name, Class: it.Class, Item: it,
	}
}

// Refusal is the failure of a call that a decision stops.
func Refusal(d policy.Decision, a *policy.Action) *Failure {
	code := spec.FailDenied
	if d.Paused {
		code = spec.FailPaused
	}
	return &Failure{Code: code, Message: d.Words(a)}
}

func LeasedFailure(addr spec.TabAddr, by *agents.Holder) *Failure {
	what := "uses"
	if by.Reads {
		what = "changes anything in"
	}
	return Fail(spec.FailTabLeased, "tab %s is %s: no other client %s it meanwhile; nothing was sent. Work in another tab (browser_tab claim with url opens one), or wait", addr.Public(), by, what)
}
