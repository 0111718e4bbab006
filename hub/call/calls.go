package call

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"tabhub/hub/broadcast"
	"tabhub/hub/call/group"
	"tabhub/hub/call/ledger"
	"tabhub/hub/call/window"
	"tabhub/hub/core"
	"tabhub/hub/lists"
	"tabhub/hub/offer/item"
	"tabhub/hub/telemetry"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/flow"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/storage"
)

// Options configure Calls. OwnPage and OwnBrowser are as in Options.
type Options struct {
	Telemetry      telemetry.Observer
	CallTimeout    time.Duration
	CallTimeoutMax time.Duration
	PersonTimeout  time.Duration
	MaxCalls       int
	Askers         []consent.Asker
	Dashboard      string
	Command        func(words ...string) string
	Paired         func() bool
	OwnBrowser     func(spec.PairingID) bool
	OwnPage        func(url string) bool
	Handover       Handover
	Groups         *group.Groups
	LabelResults   bool
}

// Calls makes the calls of clients: it chooses, asks the owner, sends and judges. Its methods are
// safe for concurrent use.
type Calls struct {
	core       *core.Core
	rules      *core.Rules
	lists      *lists.Lists
	opts       Options
	gate       *gate
	ledger     *ledger.Ledger
	holds      broadcast.Signal // fired when leases change, or calls begin or end to wait for the owner, who uses the tab
	inputWaits inputWaits

	inFlight atomic.Int64
	calls    atomic.Uint64 // so far
}

// allowedSettings is what consent.Desk keeps in the store.
const allowedSettings = "allowed"

// New returns the calls of a hub that is being opened. It writes nothing to the store, which may answer
// that another hub serves the user: only Core.Restore says what is done then.
func New(c *core.Core, rules *core.Rules, ls *lists.Lists, opts Options) *Calls {
	cs := &Calls{core: c, rules: rules, lists: ls, opts: opts}
	cs.inputWaits.changed = func() {
		cs.holds.Fire()
		c.NoteChange()
	}
	var late []json.RawMessage
	for _, d := range c.Documents(consent.Kind) {
		late = append(late, d.Body)
	}
	cs.gate = &gate{
		transport: c.Options.Transport, browserOf: c.BrowserOf, telemetry: opts.Telemetry, changed: c.Options.Changed, rules: rules, flows: flow.New(), began: map[session]time.Time{},
		desk: consent.New(consent.Options{
			Askers: opts.Askers, Dashboard: opts.Dashboard, Command: opts.Command, Browser: windowOf(cs), Remember: rules.Remember, Record: c.Options.Record, Log: c.Log,
			Allowed: c.Settings(allowedSettings),
			Store: func(body json.RawMessage) {
				c.SaveSettings(storage.Settings{Name: allowedSettings, Body: body}, nil)
			},
			Late: late,
			Keep: func(id string, question json.RawMessage) {
				c.SaveDocument(storage.Document{Kind: consent.Kind, ID: id, Body: question}, nil)
			},
			Forget: func(id string, synced func(error)) { c.DeleteDocument(consent.Kind, id, synced) },
		}),
	}
	cs.ledger = ledger.Open(ledger.Options{
		Changed: c.Options.Changed,
		Keep:    c.SaveDocument,
		Forget:  func(id string) { c.DeleteDocument(ledger.Kind, id, nil) },
	})
	rules.OnChange(cs.policyChanged)
	return cs
}

// windowOf are the browsers in which the owner is asked.
func windowOf(cs *Calls) window.Window {
	return window.Window{Core: cs.core, IsPaired: cs.opts.Paired, OwnBrowser: cs.opts.OwnBrowser}
}

// Leased says that leases have changed.
func (cs *Calls) Leased() { cs.holds.Fire() }

// EndQuestions ends the questions to the owner, and those to come, with a cause.
func (cs *Calls) EndQuestions(cause error) { cs.gate.desk.Close(cause) }

// Close ends what is done for tasks, and waits for what shows questions. No call is in flight then, and
// EndQuestions was called.
func (cs *Calls) Close() {
	cs.gate.desk.Wait()
	cs.ledger.Close()
}

// SubscribeResource asks for Change.Updated of a resource until stop is called. It
// blocks until the tab that has it knows; a page that cannot tell of updates is no
// error. stop does not block. The error is an *UnknownError, ctx's cause, or a *Failure.
func (cs *Calls) SubscribeResource(ctx context.Context, by *consent.Caller, uri string) (stop func(), err error) {
	it, err := cs.admitItem(ctx, by, spec.KindResource, uri)
	if err != nil {
		return nil, err
	}
	return cs.lists.Subscribe(ctx, by, uri, core.ActionFor(by, it, it.Source))
}

// Counts returns how many calls are in flight, and how many there have been.
func (cs *Calls) Counts() (inFlight int, all uint64) { return int(cs.inFlight.Load()), cs.calls.Load() }

// PeersInFlight returns the peers to which calls have gone that have no answer.
func (cs *Calls) PeersInFlight() (peers []spec.PeerID) {
	for _, c := range cs.ledger.UnderWay() {
		peers = append(peers, c.Tab.Peer)
	}
	return peers
}

// Ledger returns the calls of the Hub's clients.
func (cs *Calls) Ledger() *ledger.Ledger { return cs.ledger }

// Request is one tools/call.
type Request struct {
	Name     string          // public name
	Args     json.RawMessage // nil means {}; not modified, not kept after the call
	By       *consent.Caller // on whose behalf
	ReadOnly bool            // call nothing but tools that only read; ErrNotReadOnly otherwise
	Pin      *policy.Pin     // call nothing but a tool with that definition; nil: any
	// Sending, if not nil, is called each time before the call is sent to a page, which waits
	// for its return, and is sent nothing with an error. sent describes how the Hub of another
	// process asks the page for its answer; it does so for a task (Hub.Tasks) that has it. Such
	// a call may take Options.CallTimeoutMax also without progress, unless its site has a time
	// of its own: no connection waits for it.
	Sending func(sent func() json.RawMessage) error
}

// ErrNotReadOnly says that a tool may change something, and was to be called only if not.
var ErrNotReadOnly = errors.New("the tool does not say that it only reads")

// ReadResource reads a resource in the best tab and returns the raw MCP
// ReadResourceResult, with the public URI in place of the page's. The error is an
// *UnknownError, a *Failure, the page's own *spec.Error, or ctx's cause.
func (cs *Calls) ReadResource(ctx context.Context, by *consent.Caller, uri string) (json.RawMessage, error) {
	r := run{h: cs, kind: spec.KindResource, name: uri, by: by}
	if _, err := r.do(ctx); err != nil {
		return nil, err
	}
	return r.label(r.result), nil
}

// GetPrompt gets a prompt from the best tab and returns the raw MCP
// GetPromptResult. Errors are as for ReadResource.
func (cs *Calls) GetPrompt(ctx context.Context, by *consent.Caller, name string, args json.RawMessage) (json.RawMessage, error) {
	r := run{h: cs, kind: spec.KindPrompt, name: name, by: by, args: args}
	if _, err := r.do(ctx); err != nil {
		return nil, err
	}
	return r.label(r.result), nil
}

// Complete asks the best tab what may complete an argument of a prompt, or of a resource
// template, by its public name or URI template. argument and given (the arguments that are
// known, may be nil) are those of MCP's completion/complete. It returns a raw MCP
// CompleteResult, an empty one if no page proposes anything. The error is an
// *UnknownError or ctx's cause.
//
// A client asks at each key that is pressed. So no tab is opened, woken or waited for, the
// owner is not asked, and no record is left.
func (cs *Calls) Complete(ctx context.Context, by *consent.Caller, kind spec.Kind, name string, argument, given json.RawMessage) (json.RawMessage, error) {
	r := run{h: cs, kind: kind, name: name, by: by, complete: &spec.Complete{Argument: argument, Context: given}}
	if err := cs.core.Begin(r.look); err != nil {
		return nil, err
	}
	defer cs.core.End()
	if !r.pick() || !r.target.Present || r.target.Asleep || !r.target.Item.Completes {
		return item.CompleteResult(spec.Response{}), nil
	}
	if cs.free(by, r.target.Addr, true) != nil { // which the name names
		return item.CompleteResult(spec.Response{}), nil
	}
	r.timeout, r.moved, r.keeps = spec.ControlTimeout, false, false
	r.action = core.ActionFor(by, r.target.Item, r.ref.Page)
	cs.reach(by, &r.action, r.target.Addr.Peer)
	p, ok := cs.gate.allows(&r.action)
	if !ok {
		return item.CompleteResult(spec.Response{}), nil
	}
	resp, err := r.send(ctx, p)
	if err != nil {
		cs.core.Log.Debug("no completion", "tab", r.target.Addr, "tool", r.ref.ID.Item, "err", err)
	}
	r.traced(resp, err)
	return item.CompleteResult(resp), context.Cause(ctx)
}

// Call runs a tool in the best tab and blocks until it has a raw MCP
// CallToolResult. Failures of the hub are results, too, with isError set. The
// error is an *UnknownError, ErrNotReadOnly, or ctx's cause when ctx ended first; the
// tab was told then. A call that may have reached a page is never sent again, unless
// the tool says that it may be (spec/PROTOCOL.md, "Execution").
func (cs *Calls) Call(ctx context.Context, c Request) (json.RawMessage, error) {
	if len(c.Args) == 0 || string(c.Args) == "null" {
		c.Args = json.RawMessage("{}")
	}
	r := run{h: cs, kind: spec.KindTool, name: c.Name, by: c.By, args: c.Args, readOnly: c.ReadOnly, pin: c.Pin, sending: c.Sending}
	r.progress = r.progressed
	resp, err := r.do(ctx)
	return r.toolResult(resp, err)
}

// Label says in a result of a page where it is from; see item.Label.
func (cs *Calls) Label(result json.RawMessage, from *item.Source) json.RawMessage {
	marker := ""
	if cs.opts.LabelResults {
		marker = rand.Text()
	}
	return item.Label(result, from, marker)
}

// enter begins something that a client asks for, before it is decided about: what the owner stops from
// then on ends. It is the client's request in the ledger or, of one that is shown as something else, a
// part of that. The caller calls Leave at its end.
func (cs *Calls) enter(ctx context.Context, by *consent.Caller, about ledger.Subject) (context.Context, *ledger.Call) {
	cs.subject(by, &about)
	c := by.Request
	if c == nil || !c.Enter(about) {
		var stop context.CancelCauseFunc
		ctx, stop = context.WithCancelCause(ctx)
		switch {
		case c == nil:
			c = cs.ledger.Alone()
		case !c.IsFresh():
			c, about.Part = c.Part(), true
		}
		c.EnterWith(about, stop)
	}
	if by.Begun != nil && !about.Part {
		by.Begun(c.ID())
	}
	return ctx, c
}

// subject completes what a call is about by the client that makes it.
func (cs *Calls) subject(by *consent.Caller, about *ledger.Subject) {
	about.Principal, about.Session, about.Said, about.Via = by.Principal, by.Session, by.Said, by.Via
	if !about.Own {
		cs.gate.apps.Called(by)
	}
}

// policyChanged ends what the rules stop.
func (cs *Calls) policyChanged(set *policy.Set) {
	now := time.Now()
	// Before what is in flight is stopped: a call that waits for its owner would give its question up.
	cs.gate.desk.Withdraw(func(a *policy.Action) error {
		switch d := set.Decide(a, now); {
		case d.Paused:
			return errPaused
		case d.Effect == policy.Deny:
			return core.Refusal(d, a)
		}
		return nil
	})
	cs.stopPaused()
	cs.gate.apps.Changed.Fire()
	cs.gate.changed.Fire()
}

// Desk has the questions to the owner.
func (o *Owner) Desk() *consent.Desk { return o.calls.gate.desk }

// admitItem decides about the item that a public name or URI stands for, and asks the owner
// if need be. The error is an *UnknownError or one of Admit.
func (cs *Calls) admitItem(ctx context.Context, by *consent.Caller, kind spec.Kind, name string) (*item.Item, error) {
	r := run{h: cs, kind: kind, name: name, by: by}
	cs.inFlight.Add(1)
	defer cs.inFlight.Add(-1)
	for {
		cs.core.RLock()
		err := r.lookUpLocked()
		var it *item.Item
		if err == nil {
			if it = cs.core.State().Known(&r.ref, cs.rules.By(by)); it == nil {
				err = cs.lists.UnknownLocked(by, kind, name)
			}
		}
		cs.core.RUnlock()
		if err != nil {
			return nil, err
		}
		if _, again, err := r.admit(ctx, it, time.Time{}); err != nil || !again {
			return it, err
		}
	}
}
