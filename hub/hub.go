package hub

import (
	"cmp"
	"context"

	"tabhub/hub/call"
	"tabhub/hub/call/group"
	"tabhub/hub/core"
	"tabhub/hub/lists"
	"tabhub/hub/packs"
	"tabhub/hub/telemetry"
	"tabhub/spec"
)

// Hub serves one user. It owns its goroutines; the transport and the store are its caller's.
// Its fields are set by Open and do not change. All methods, also theirs, are safe for
// concurrent use.
type Hub struct {
	Core   *core.Core   // the state, the store, the transport's handler
	Rules  *core.Rules  // the owner's policy
	Packs  *packs.Packs // that the owner has added
	Lists  *lists.Lists // what clients are listed
	Calls  *call.Calls  // what clients call
	Agents *call.Agents // what clients' sessions lease
	Owner  *call.Owner  // what the owner is asked, sees and stops
	opts   Options
}

// ClientView has all that a face for clients uses of a Hub.
type ClientView struct {
	*core.Core
	*core.Rules
	*lists.Lists
	*call.Calls
	*call.Owner
	hub *Hub
}

// ClientView returns h as faces for clients use it; nil for a nil Hub, as the list of builtin tools
// is needed before a Hub exists.
func (h *Hub) ClientView() *ClientView {
	if h == nil {
		return nil
	}
	return &ClientView{h.Core, h.Rules, h.Lists, h.Calls, h.Owner, h}
}

// Capabilities returns h.Capabilities.
func (v *ClientView) Capabilities() Capabilities { return v.hub.Capabilities() }

// Open loads the user's state and starts to serve opts.Transport. The caller owns
// the store and closes it after the Hub.
func Open(ctx context.Context, opts Options) (*Hub, error) {
	if opts.Telemetry == nil {
		opts.Telemetry = telemetry.Nobody
	}
	opts.CallTimeout = cmp.Or(opts.CallTimeout, spec.CallTimeout)
	opts.CallTimeoutMax = cmp.Or(opts.CallTimeoutMax, spec.CallTimeoutMax)
	opts.PersonTimeout = cmp.Or(opts.PersonTimeout, spec.PersonTimeout)
	opts.MaxCalls = cmp.Or(opts.MaxCalls, spec.MaxCallsPerHub)
	opts.Handover = cmp.Or(opts.Handover, call.HandoverWait)
	opts.Group, opts.GroupEnd = cmp.Or(opts.Group, group.Own), cmp.Or(opts.GroupEnd, group.Keep)
	c, err := core.Open(ctx, core.Options{
		User: opts.User, Transport: opts.Transport, Store: opts.Store, Log: opts.Log, Record: opts.Record, Changed: opts.Changed,
		Version: opts.Version, StoredFirst: opts.StoredFirst, NameLimit: opts.NameLimit, PlainNames: opts.PlainNames,
	})
	if err != nil {
		return nil, err
	}
	rules, err := core.OpenRules(c, opts.Mode)
	if err != nil {
		return nil, err
	}
	ps := packs.Open(c, rules)
	c.Options.Packs = ps
	ls := lists.New(c, rules, opts.TabNames)
	groups := &group.Groups{Core: c, Kind: opts.Group, End: opts.GroupEnd}
	cs := call.New(c, rules, ls, call.Options{
		Telemetry: opts.Telemetry, CallTimeout: opts.CallTimeout, CallTimeoutMax: opts.CallTimeoutMax, PersonTimeout: opts.PersonTimeout,
		MaxCalls: opts.MaxCalls, Askers: opts.Askers, Dashboard: opts.Dashboard, Command: opts.Command, Paired: opts.Paired, OwnBrowser: opts.OwnBrowser, OwnPage: opts.OwnPage,
		Handover: opts.Handover, Groups: groups, LabelResults: opts.LabelResults,
	})
	ps.OnChange(func() { call.PacksChanged(cs) })
	c.Restore(core.Hooks{
		Listed: ls.Changed, Leased: cs.Leased, Ended: groups.Ended,
		Registered: ls.Resubscribe, Updated: ls.ResourceUpdated,
		Superseded: cs.EndQuestions, InFlight: cs.PeersInFlight,
	})
	ps.Start()
	ls.Start()
	cs.ResumeTasks()
	c.Serve()
	return &Hub{c, rules, ps, ls, cs, call.NewAgents(cs), call.NewOwner(cs), opts}, nil
}

// Close refuses new calls, waits for open ones until ctx is done, ends the rest
// with NOT_CONNECTED, and stops. It does not close the store or the transport. It
// is idempotent.
func (h *Hub) Close(ctx context.Context) error {
	h.Core.Refuse()
	h.Calls.EndQuestions(core.ErrClosed)
	err := h.Core.Drain(ctx)
	h.Calls.Close()
	h.Lists.Close()
	h.Core.Finish()
	return err
}
