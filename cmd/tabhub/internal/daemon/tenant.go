package daemon

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"tabhub/cmd/tabhub/internal/build"
	"tabhub/hub"
	"tabhub/hub/broadcast"
	"tabhub/hub/builtin/instance"
	"tabhub/hub/call"
	"tabhub/hub/call/group"
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
func (p *Process) openTenant(ctx context.Context, user spec.UserID) (_ *tenant.Tenant, err error) {
	c := p.Config
	peers := p.Tabs.NewTransport(user)
	var transport tabtransport.TabHubTransport = peers
	var store storage.DomainToolStorage = p.store
	var term *cluster.Term
	if p.node != nil {
		term = p.node.Lease().Term() // before the store claims the user's journal
		transport, store = term.Transport(peers), p.node.Store
	}
	askers, err := consent.ParseAskers(c.Ask)
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
		return h.Core.Epoch(), nil
	})
	if err != nil {
		return nil, err
	}
	h, err = hub.Open(ctx, hub.Options{
		User: user, Transport: transport, Store: store, StoredFirst: p.node != nil, Log: p.Log, Record: recorded, Changed: changed, Version: p.Info.Version,
		Telemetry: p.telemetry,
		NameLimit: c.NameLimit, TabNames: lists.TabNames(c.TabNames), PlainNames: c.PlainNames,
		Mode: policy.Mode(c.Policy), Askers: askers, Dashboard: c.BaseURL(p.Info.Addrs[0]), Command: p.ownersCommand(),
		Paired:      func() bool { return p.hasBrowser(user) },
		OwnBrowser:  func(id spec.PairingID) bool { return !p.ring.IsStarted(id) },
		CallTimeout: c.CallTimeout, CallTimeoutMax: c.CallTimeoutMax, PersonTimeout: c.PersonTimeout,
		Handover: call.Handover(c.Handover), Group: group.Kind(c.Room), GroupEnd: group.End(c.GroupEnd),
		OwnPage: admission{p}.isOwnPage, LabelResults: c.LabelResults, MaxCalls: c.Limits.Calls,
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
		giveBack = p.node.GiveBack(t, term)
		t.Here, leave = context.WithCancelCause(context.Background())
	}
	t.GiveBack = func(ctx context.Context) error {
		p.Tabs.Forget(user, peers)
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
		if err := mine.Load(h); err != nil {
			return nil, fmt.Errorf("open the credentials of %s: %w", user, err)
		}
		t.Credentials = mine
	}
	t.Share, t.Instances = p.shares.New(), p.newInstances(h)
	if p.policy != nil {
		if err := p.policy.Follow(h.Core.Done(), h.Rules.SetPolicyFile); err != nil {
			return nil, fmt.Errorf("the policy file %s: %w", c.PolicyFile, err)
		}
	}
	t.Builtin = p.tools.List(p.builtins(h, t.Instances), p.lists)
	t.MCP = mcpserver.New(h.ClientView(), mcpserver.Options{
		Options: methods.Options{
			Version: p.Info.Version, Instructions: p.instructions(), Log: p.Log, Telemetry: p.telemetry, Builtin: t.Builtin,
			Expose: expose.Mode(c.Expose), ExposeBudget: c.ExposeBudget, TaskAfter: c.TaskAfter,
		},
		PublicURL: c.PublicURL, BehindProxy: c.BehindProxy,
	})
	if c.Demo {
		if t.Demo, err = demo.Join(ctx, peers); err != nil {
			return nil, fmt.Errorf("join the demo: %w", err)
		}
	}
	return t, nil
}

// openRecord opens a user's record. changed is fired when something is recorded. epoch is that of
// the user's hub.
func (p *Process) openRecord(user spec.UserID, changed *broadcast.Signal, epoch func(context.Context) (spec.Epoch, error)) (*record.Recorder, error) {
	c := p.Config
	o := record.Options{User: user, Keep: time.Duration(c.LogKeep), Max: int64(c.LogMax), Payloads: c.LogPayloads, Arguments: time.Duration(c.LogArguments), Changed: changed, Log: p.Log.With("user", user)}
	if p.node != nil {
		return p.node.OpenRecord(user, epoch, o)
	}
	return record.Open(record.Dir(p.Dir.Records(), user), o), nil
}

// hasBrowser reports whether a user has paired a browser of their own with the hub.
func (p *Process) hasBrowser(user spec.UserID) bool {
	if user == spec.LocalUser {
		user = ""
	}
	return slices.ContainsFunc(p.ring.List(user), func(of pairing.Pairing) bool { return !p.ring.IsStarted(of.ID) })
}

// newInstances returns where a user's browsers are started. A hub with accounts starts
// none: its users are elsewhere.
func (p *Process) newInstances(h *hub.Hub) *instance.Instances {
	if p.Config.Auth == "jwt" {
		return nil
	}
	hubURL := "ws" + strings.TrimPrefix(p.Local(), "http") + "/tabs"
	o := instance.Options{
		Hub: h, Ring: p.ring, Dir: p.Dir.Browsers(), HubURL: hubURL, Browser: p.Config.Browser, Log: p.Log,
	}
	if p.Config.TlsCert != "" {
		o.HubKey = func() (string, error) { return keyHash(p.Config.TlsCert, p.Config.TlsKey) }
	}
	return instance.New(o)
}

// Local is the base of the endpoints as this machine reaches them.
func (p *Process) Local() string {
	if p.Config.TlsCert != "" {
		return "https://" + p.Info.Addrs[0]
	}
	return "http://" + p.Info.Addrs[0]
}

// launch starts a browser with the extension, for --launch-browser.
func (p *Process) launch(ctx context.Context) {
	url := ""
	if p.Config.Demo {
		url = p.Local() + "/demo"
	}
	t, err := p.Tenants.Get(ctx, spec.LocalUser)
	var info instance.Info
	if err == nil {
		info, err = t.Instances.Start(ctx, instance.Config{URL: url, ForOwner: true})
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		p.Log.Error("no browser was started", "err", err)
	default:
		p.Log.Info("a browser was started", "mode", info.Mode, "pid", info.PID, "headless", info.Headless, "extension", info.Loaded)
	}
}

// ownersCommand returns how the owner of a hub runs tabhub's commands. Users with accounts have no such
// program, and who has an extension of an MCP client has it under no name.
func (p *Process) ownersCommand() func(words ...string) string {
	if p.Config.Auth == "jwt" {
		return func(...string) string { return "" }
	}
	program := "tabhub"
	if _, err := exec.LookPath(program); err != nil {
		if path, lasting := build.Executable(); lasting {
			program = path
		}
	}
	return func(words ...string) string { return p.App.Line(program, words...) }
}
