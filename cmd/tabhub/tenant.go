package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tabhub/hub"
	"tabhub/hub/broadcast"
	"tabhub/hub/builtin/instance"
	"tabhub/hub/call"
	"tabhub/hub/cluster"
	"tabhub/hub/demo"
	"tabhub/hub/face/mcpserver"
	"tabhub/hub/face/mcpserver/expose"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/lists"
	"tabhub/hub/tenant"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
)

// openTenant opens all that a user has in this process. What it has opened when it fails
// it closes again.
func (p *process) openTenant(ctx context.Context, user spec.UserID) (_ *tenant.Tenant, err error) {
	c := p.config
	peers := p.tabs.NewTransport(user)
	var transport tabtransport.TabHubTransport = peers
	var store storage.DomainToolStorage = p.store
	var term *cluster.Term
	if p.node != nil {
		term = p.node.Lease().Term() // before the store claims the user's journal
		transport, store = term.Transport(peers), p.node.store
	}
	askers, err := consent.ParseAskers(c.ask)
	if err != nil {
		return nil, err
	}
	changed := new(broadcast.Signal)
	var h *hub.Hub
	opened := make(chan struct{}) // h is
	recorded, err := p.openRecord(user, changed, func(ctx context.Context) (spec.Epoch, error) {
		select {
		case <-opened:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
		if h == nil { // and what was recorded meanwhile is late
			return 0, nil
		}
		return h.Epoch(), nil
	})
	if err != nil {
		return nil, err
	}
	h, err = hub.Open(ctx, hub.Options{
		User: user, Transport: transport, Store: store, StoredFirst: p.node != nil, Log: p.log, Record: recorded, Changed: changed, Version: p.info.Version,
		Telemetry: p.telemetry,
		NameLimit: c.nameLimit, TabNames: lists.TabNames(c.tabNames), PlainNames: c.plainNames,
		Mode: policy.Mode(c.policy), Askers: askers,
		Paired:      func() bool { return p.hasBrowser(user) },
		OwnBrowser:  func(id spec.PairingID) bool { return !p.ring.IsStarted(id) },
		CallTimeout: c.callTimeout, CallTimeoutMax: c.callTimeoutMax, PersonTimeout: c.personTimeout,
		Handover: call.Handover(c.handover), Room: call.RoomKind(c.room), RoomEnd: call.RoomEnd(c.roomEnd),
		OwnPage: p.isOwnPage, LabelResults: c.labelResults, MaxCalls: c.limits.Calls,
	})
	close(opened)
	if err != nil {
		recorded.Close()
		return nil, fmt.Errorf("open the hub of %s: %w", user, err)
	}
	t := &tenant.Tenant{User: user, Hub: h, Record: recorded, Changed: changed}
	giveBack := func(context.Context) error { return nil }
	leave := func(error) {}
	if p.node != nil {
		giveBack = p.node.giveBack(t, term)
		t.Here, leave = context.WithCancelCause(context.Background())
	}
	t.GiveBack = func(ctx context.Context) error {
		p.tabs.Forget(user, peers)
		leave(tabtransport.ErrGoingAway)
		return giveBack(ctx)
	}
	defer func() {
		if err != nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
			defer cancel()
			err = errors.Join(err, t.Close(ctx))
		}
	}()
	if p.shared != nil {
		mine := &credentials{p: p, user: user}
		if err := mine.load(h); err != nil {
			return nil, fmt.Errorf("open the credentials of %s: %w", user, err)
		}
		t.Credentials = mine
	}
	t.Share, t.Instances = p.shares.New(), p.newInstances(h)
	if p.policy != nil {
		if err := p.policy.Follow(h.Done(), h.SetPolicyFile); err != nil {
			return nil, fmt.Errorf("the policy file %s: %w", c.policyFile, err)
		}
	}
	t.Builtin = p.tools.List(p.builtins(h, t.Instances), p.lists)
	t.MCP = mcpserver.New(h, mcpserver.Options{
		Options: methods.Options{
			Version: p.info.Version, Instructions: p.instructions(), Log: p.log, Telemetry: p.telemetry, Builtin: t.Builtin,
			Expose: expose.Mode(c.expose), ExposeBudget: c.exposeBudget, TaskAfter: c.taskAfter,
		},
		PublicURL: c.publicURL, BehindProxy: c.behindProxy,
	})
	if c.demo {
		if t.Demo, err = demo.Join(ctx, peers); err != nil {
			return nil, fmt.Errorf("join the demo: %w", err)
		}
	}
	return t, nil
}

// openRecord opens a user's record. changed is fired when something is recorded. epoch is that of
// the user's hub.
func (p *process) openRecord(user spec.UserID, changed *broadcast.Signal, epoch func(context.Context) (spec.Epoch, error)) (*record.Recorder, error) {
	c := p.config
	o := record.Options{User: user, Keep: time.Duration(c.logKeep), Max: int64(c.logMax), Payloads: c.logPayloads, Changed: changed, Log: p.log.With("user", user)}
	if p.node != nil {
		return p.node.openRecord(user, epoch, o)
	}
	return record.Open(record.Dir(p.dir.Records(), user), o), nil
}

// hasBrowser reports whether a user has paired a browser of their own with the hub.
func (p *process) hasBrowser(user spec.UserID) bool {
	if user == spec.LocalUser {
		user = ""
	}
	return slices.ContainsFunc(p.ring.List(user), func(of pairing.Pairing) bool { return !p.ring.IsStarted(of.ID) })
}

// newInstances returns where a user's browsers are started. A hub with accounts starts
// none: its users are elsewhere.
func (p *process) newInstances(h *hub.Hub) *instance.Instances {
	if p.config.auth == "jwt" {
		return nil
	}
	hubURL := "ws" + strings.TrimPrefix(p.local(), "http") + "/tabs"
	o := instance.Options{
		Hub: h, Ring: p.ring, Dir: p.dir.Browsers(), HubURL: hubURL, Browser: p.config.browser, Log: p.log,
	}
	if p.config.tlsCert != "" {
		o.HubKey = func() (string, error) { return keyHash(p.config.tlsCert, p.config.tlsKey) }
	}
	return instance.New(o)
}

// local is the base of the endpoints as this machine reaches them.
func (p *process) local() string {
	if p.config.tlsCert != "" {
		return "https://" + p.info.Addrs[0]
	}
	return "http://" + p.info.Addrs[0]
}

// launch starts a browser with the extension, for --launch-browser.
func (p *process) launch(ctx context.Context) {
	url := ""
	if p.config.demo {
		url = p.local() + "/demo"
	}
	t, err := p.tenants.Get(ctx, spec.LocalUser)
	var info instance.Info
	if err == nil {
		info, err = t.Instances.Start(ctx, instance.Config{URL: url, ForOwner: true})
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		p.log.Error("no browser was started", "err", err)
	default:
		p.log.Info("a browser was started", "mode", info.Mode, "pid", info.PID, "headless", info.Headless, "extension", info.Loaded)
	}
}
