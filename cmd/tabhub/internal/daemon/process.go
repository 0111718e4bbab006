package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"

	"tabhub/cmd/tabhub/internal/bridge"
	"tabhub/cmd/tabhub/internal/build"
	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/daemon/node"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/policyfile"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/cmd/tabhub/internal/setup"
	"tabhub/cmd/tabhub/internal/telemetry"
	"tabhub/hub/builtin"
	"tabhub/hub/face/admin"
	"tabhub/hub/face/httpd"
	"tabhub/hub/pages"
	"tabhub/hub/tenant"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/auth/oauth"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/relay"
	"tabhub/tabtransport/wsserver"
)

const (
	// shutdownGrace is how long calls under way may take when the hub ends.
	shutdownGrace = 8 * time.Second
	// lockWait is how long another process may look at the lock.
	lockWait = 300 * time.Millisecond
	// checkTime is how long a new program may take to say that it knows the hub's flags.
	checkTime = 5 * time.Second
)

// Process is a hub in this process: the data directory's lock, the listeners, and
// all that is behind them.
type Process struct {
	Options
	Info admin.Info

	lock        *home.Lock
	socket      net.Listener // for bridges and commands
	lns         []net.Listener
	notes       []string      // what the user should know
	token       *auth.Token   // nil unless --auth token
	credentials auth.Verifier // nil: none are needed
	guard       *httpd.Guard
	ring        *pairing.Ring
	clients     *auth.Clients
	shared      *node.Shared  // nil: credentials are in files of the data directory
	oauth       *oauth.Server // nil unless --auth token
	store       *storage.Bolt // nil for a node
	node        *node.Node    // nil: the hub is alone
	Tabs        *wsserver.Server
	relay       *relay.Relay
	tools       builtin.Switches
	telemetry   *telemetry.Telemetry
	shares      *tenant.Shares // nil without accounts
	// tenants are opened by openTenant.
	Tenants *tenant.Registry
	server  *httpd.Server
	ended   chan string // why the hub is to end

	policy     *policyfile.File // nil without a policy-file
	background sync.WaitGroup   // what watches the policy file, and starts the browser of --launch-browser
	stop       func()           // ends it; nil until it is begun
	refused    refusals         // has a lock of its own
}

// Options are what a hub is started with.
type Options struct {
	App      *command.App
	Config   *settings.Config
	Dir      home.Dir
	Log      *slog.Logger
	fallback bool       // a taken port is replaced by a free one
	auto     bool       // a bridge has started the process
	service  bool       // the operating system has
	origin   build.File // of a hub that may be replaced by a newer program
}

// Start takes the data directory and the ports, and serves. The caller calls close.
func Start(ctx context.Context, o Options) (p *Process, err error) {
	c, dir, log := o.Config, o.Dir, o.Log
	p = &Process{Options: o, ended: make(chan string, 1)}
	taken := p // what is returned with an error is nil
	defer func() {
		if err != nil {
			taken.abandon()
		}
	}()
	if err := dir.Make(); err != nil {
		return nil, command.Usage(err)
	}
	if err := p.takeLock(ctx); err != nil {
		return nil, err
	}
	// Programs no longer follow what a killed hub has left behind.
	if err := dir.RemoveHub(); err != nil {
		return nil, command.Usage(err)
	}
	if p.socket, err = dir.Listen(log); err != nil {
		return nil, command.Usage(err)
	}
	// What may wait for the disk does so at the same time.
	var opening sync.WaitGroup
	var storeErr, ringErr error
	if !c.Cluster.On() {
		opening.Go(func() { p.store, storeErr = storage.Open(p.Dir.Store(), storage.Options{}) })
		opening.Go(func() { p.ring, ringErr = p.openRing() })
	}
	err = p.listen()
	if err == nil && !c.Cluster.On() {
		err = p.guardDoors()
	}
	opening.Wait()
	if storeErr != nil {
		return nil, command.Usage(storeErr)
	}
	if err != nil {
		return nil, err
	}
	p.Tenants = tenant.New(p.openTenant, p.Log) // before a lease, which may be lost again at once
	if c.Cluster.On() {
		p.node, err = node.Join(ctx, node.Options{
			Config: c, Dir: dir, Log: log, Version: p.Info.Version, Tenants: p.Tenants, End: p.end,
			Streams: func(user spec.UserID) int { return p.server.Streams(user) },
			// It is made before users come.
			Written: func(took time.Duration) { p.telemetry.Written(took) },
			Opened:  func(took time.Duration) { p.telemetry.Opened(took) },
		})
		if err != nil {
			return nil, err
		}
		p.shared = p.node.Shared
		p.ring, ringErr = p.openRing()
		if err := p.guardDoors(); err != nil {
			return nil, err
		}
	}
	if ringErr != nil {
		return nil, command.Usage(ringErr)
	}
	if c.PolicyFile != "" {
		if p.policy, err = policyfile.Open(c.PolicyFile, log); err != nil {
			return nil, command.Usage(err)
		}
	}
	p.assemble()
	if err := p.switches(); err != nil {
		return nil, err
	}
	if c.Auth != "jwt" && p.node == nil {
		if _, err := p.Tenants.Get(ctx, spec.LocalUser); err != nil {
			return nil, err
		}
	}
	// Programs that read this now can connect, and wait until the listeners are served.
	err = dir.WriteHub(home.Hub{
		PID: os.Getpid(), Addr: p.Info.Addrs[0], Socket: dir.Socket(), TLS: c.TlsCert != "",
		Version: p.Info.Version, Auto: o.auto, Started: p.Info.Started,
		Program: o.origin.Path, Built: o.origin.Built, HandsOver: p.handsOver(), Node: p.node != nil,
	})
	if err != nil {
		return nil, fmt.Errorf("the data directory cannot be written (%w); pass another --data-dir", err)
	}
	go p.serve(p.socket, p.server.ServeOwner)
	for _, ln := range p.lns {
		go p.serve(ln, p.server.Serve)
	}
	if p.node != nil {
		p.node.Begin(ctx, p.serve, p.server.ServeForwarded, p.server.ErrorLog())
	}
	ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	if p.policy != nil {
		p.background.Go(func() { p.policy.Watch(ctx) })
	}
	if c.LaunchBrowser {
		p.background.Go(func() { p.launch(ctx) })
	}
	return p, nil
}

// serve has a listener served until the hub ends.
func (p *Process) serve(ln net.Listener, serve func(net.Listener) error) {
	if err := serve(ln); err != nil {
		p.Log.Error("listener failed", "addr", ln.Addr(), "err", err)
		p.end("failed")
	}
}

// takeLock makes this the only hub of the data directory.
func (p *Process) takeLock(ctx context.Context) error {
	if p.lock = p.Dir.Inherited(home.HubLock); p.lock != nil {
		return nil
	}
	if p.service {
		c := bridge.Connector{Dir: p.Dir, Log: p.Log}
		lock, err := c.TakeOver(ctx)
		p.lock = lock
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock, err := p.Dir.Lock(ctx, home.HubLock)
	if errors.Is(err, context.DeadlineExceeded) {
		stop := p.App.Tabhub("stop")
		if h, err := p.Dir.ReadHub(); err == nil {
			return command.Usagef("a hub runs already in %s: process %d on %s; clients can use it, `%s` ends it, and another one needs its own --data-dir", p.Dir, h.PID, h.URL(), stop)
		}
		return command.Usagef("another hub uses %s; `%s` ends it, or pass another --data-dir", p.Dir, stop)
	}
	if err != nil {
		return command.Usage(err)
	}
	p.lock = lock
	return nil
}

// handsOver reports whether this hub, asked to end for an upgrade, runs the new program in its
// place. One that a bridge has started ends, and a bridge of the new program starts the next.
func (p *Process) handsOver() bool {
	return home.CanHandOver && !p.auto && p.origin.Path != ""
}

// checkUpgrade returns why the program that would take this one's place does not run with its
// flags. This one then stays.
func (p *Process) checkUpgrade(ctx context.Context) error {
	if !p.handsOver() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	program := p.origin.Path
	out, err := exec.CommandContext(ctx, program, append(os.Args[1:len(os.Args):len(os.Args)], "--help")...).CombinedOutput()
	if err != nil {
		line, _, _ := strings.Cut(string(out), "\n")
		return fmt.Errorf("%s does not run with the flags of this hub: %w: %.200s", program, err, line)
	}
	return nil
}

// handOver ends the hub, but for the lock, and runs the program that is now where its own was,
// unless it is told meanwhile to stop, by a signal or otherwise. It returns only if it does not
// run that.
func (p *Process) handOver(ctx context.Context, told <-chan os.Signal) error {
	lock := p.lock
	p.lock = nil
	defer lock.Unlock()
	if err := p.Close("upgrade"); err != nil {
		p.Log.Warn("not all went well at the end", "err", err)
	}
	select {
	case why := <-p.ended:
		if why == "stop" {
			return nil
		}
	default:
	}
	// A signal that has come is in told when Reset returns. One that comes later ends the process,
	// or the program that runs in it then: none gets lost between the two.
	signal.Reset(command.StopSignals...)
	if len(told) > 0 || ctx.Err() != nil {
		return nil
	}
	return lock.HandOver(p.origin.Path, os.Args)
}

// listen opens the listeners.
func (p *Process) listen() error {
	lns, notes, err := openListeners(p.Config, p.fallback, p.Log)
	if err != nil {
		return err
	}
	p.lns, p.notes = lns, notes
	for _, note := range notes {
		p.Log.Warn(note)
	}
	p.Info = admin.Info{Version: build.Version(), PID: os.Getpid(), DataDir: string(p.Dir), Config: p.Config.Read, Socket: p.Dir.Socket(), Auto: p.auto, Service: p.service, Started: time.Now()}
	if p.auto || p.service {
		p.Info.LogFile = p.Dir.LogFile()
	}
	for _, ln := range lns {
		p.Info.Addrs = append(p.Info.Addrs, reachableAddr(ln))
	}
	return nil
}

// guardDoors makes the guard before the listeners.
func (p *Process) guardDoors() (err error) {
	if p.credentials, err = p.verifier(); err != nil {
		return err
	}
	o := p.Config.GuardOptions()
	o.Verifier = p.credentials
	if p.shared != nil {
		o.Directory = p.shared.Dir
	}
	if p.guard, err = httpd.NewGuard(o); err != nil {
		return command.Usage(err)
	}
	if slices.Contains(p.Config.AllowOrigins, "*") {
		p.Log.Warn("pages of every site may offer tools to this hub: --allow-origin *")
	}
	return nil
}

// assemble makes the servers of the hub.
func (p *Process) assemble() {
	p.telemetry = telemetry.New(p.Info.Version)
	if p.Config.Auth == "jwt" {
		p.shares = tenant.NewShares(p.Config.Limits)
	}
	p.clients.OnRevoke(p.forgetClient)
	joins := admission{p}
	p.Tabs = wsserver.New(wsserver.Options{Authenticate: joins.admitTab, Pair: joins.beginPairing, Owner: joins.forOwner, Watch: joins.watch, Instance: p.ring.Hub(), Detachable: p.node != nil, Log: p.Log})
	p.relay = relay.New(relay.Options{
		Log:    p.Log,
		Verify: joins.admitRelay,

		Detachable: p.node != nil,
	})
	o := httpd.Options{
		Guard:   p.guard,
		Tenants: p.Tenants,
		Tabs:    p.Tabs.Tabs(), WebMCP: p.Tabs.WebMCP(),
		Extension: p.relay.Extension(), Relay: p.relay.Legacy(), Client: p.relay.Client(),
		Pages: pages.Handler(p.guard.Address), Metrics: p.telemetry.Handler(),
		API: admin.Options{
			Info: p.inform, Stop: p.end, CheckUpgrade: p.checkUpgrade, Connect: p.connect,
			Doctor: func(ctx context.Context) []admin.Finding { return setup.Diagnose(ctx, p.App, p.Config) },
			Ring:   p.ring, Clients: p.clients, RelayClients: p.relayClients, RelayExtensions: p.relay.Extensions,
		},
		OAuth: p.oauth, Issuer: p.Config.Issuer(),
		URL:  p.Config.BaseURL(p.Info.Addrs[0]),
		Idle: p.Config.IdleExit,
		Log:  p.Log,
	}
	if p.token != nil {
		o.Token, o.API.Rotate = p.token, p.rotate
	}
	if n := p.node; n != nil {
		p.telemetry.WatchNode(n.Measure)
		o.Locator, o.Cluster, o.Ready = n.Locator(p.credentials), n.Users.API(), n.Users.Ready
	}
	p.server = httpd.New(o)
	p.telemetry.Watch(telemetry.Process{Hubs: p.Hubs, Sockets: p.Tabs.Stats, Refused: p.shares.Refused})
}

// end asks the process to end.
func (p *Process) end(why string) {
	select {
	case p.ended <- why:
	default:
	}
}

// wait returns why the hub is to end.
func (p *Process) wait(ctx context.Context) (why string) {
	select {
	case why := <-p.ended:
		return why
	case <-ctx.Done():
		return "stop"
	}
}

// Close ends the hub: calls under way are answered first, tabs and browsers are told
// to come back later, the store is written.
func (p *Process) Close(why string) error {
	if p.node != nil {
		p.node.Drain()
	}
	ctx, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	// Programs that look for a hub from now on wait for the lock, not for this process.
	errs := []error{p.Dir.RemoveHub(), p.server.Shutdown(ctx, why)}
	if p.node != nil {
		errs = append(errs, p.node.StopServing(ctx))
	}
	p.stop()
	p.background.Wait()
	errs = append(errs, p.Tenants.Close(ctx), p.Tabs.Close(ctx))
	p.relay.Close()
	return errors.Join(append(errs, p.release())...)
}

// abandon releases what Start has taken when it fails.
func (p *Process) abandon() {
	if p.Tenants != nil {
		_ = p.Tenants.Close(context.Background()) // nobody has used them
	}
	p.release()
}

// release closes the listeners and the store, and unlocks the data directory.
func (p *Process) release() error {
	closeAll(p.lns)
	var errs []error
	if p.socket != nil {
		p.socket.Close()
		errs = append(errs, p.Dir.RemoveHub())
	}
	if p.store != nil {
		errs = append(errs, p.store.Close())
	}
	if p.node != nil {
		errs = append(errs, p.node.Close())
	}
	if p.clients != nil {
		errs = append(errs, p.clients.Close())
	}
	if p.lock != nil {
		p.lock.Unlock()
	}
	return errors.Join(errs...)
}
