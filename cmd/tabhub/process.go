package main

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
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/policyfile"
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

// process is a hub in this process: the data directory's lock, the listeners, and
// all that is behind them.
type process struct {
	hubOptions
	info admin.Info

	lock        *home.Lock
	socket      net.Listener // for bridges and commands
	lns         []net.Listener
	notes       []string      // what the user should know
	token       *auth.Token   // nil unless --auth token
	credentials auth.Verifier // nil: none are asked for
	guard       *httpd.Guard
	ring        *pairing.Ring
	clients     *auth.Clients
	shared      *shared       // nil: credentials are in files of the data directory
	oauth       *oauth.Server // nil unless --auth token
	store       *storage.Bolt // nil for a node
	node        *clusterNode  // nil: the hub is alone
	tabs        *wsserver.Server
	relay       *relay.Relay
	tools       builtin.Switches
	telemetry   *telemetry.Telemetry
	shares      *tenant.Shares // nil without accounts
	// tenants are opened by openTenant.
	tenants *tenant.Registry
	server  *httpd.Server
	ended   chan string // why the hub is to end

	policy     *policyfile.File // nil without a policy-file
	background sync.WaitGroup   // what watches the policy file, and starts the browser of --launch-browser
	stop       func()           // ends it; nil until it is begun
	refused    refused          // has a lock of its own
}

// hubOptions are what a hub is started with.
type hubOptions struct {
	app      *app
	config   *config
	dir      home.Dir
	log      *slog.Logger
	fallback bool    // a taken port is replaced by a free one
	auto     bool    // a bridge has started the process
	service  bool    // the operating system has
	origin   program // of a hub that may be replaced by a newer program
}

// startHub takes the data directory and the ports, and serves. The caller calls close.
func startHub(ctx context.Context, o hubOptions) (p *process, err error) {
	c, dir, log := o.config, o.dir, o.log
	p = &process{hubOptions: o, ended: make(chan string, 1)}
	taken := p // what is returned with an error is nil
	defer func() {
		if err != nil {
			taken.abandon()
		}
	}()
	if err := dir.Make(); err != nil {
		return nil, &usageError{err}
	}
	if err := p.takeLock(ctx); err != nil {
		return nil, err
	}
	// What a killed hub has left behind leads nobody astray from now on.
	if err := dir.RemoveHub(); err != nil {
		return nil, &usageError{err}
	}
	if p.socket, err = dir.Listen(log); err != nil {
		return nil, &usageError{err}
	}
	// What may wait for the disk does so at the same time.
	var opening sync.WaitGroup
	var storeErr, ringErr error
	if !c.cluster.on() {
		opening.Go(func() { p.store, storeErr = storage.Open(p.dir.Store(), storage.Options{}) })
		opening.Go(func() { p.ring, ringErr = p.openRing() })
	}
	err = p.listen()
	if err == nil && !c.cluster.on() {
		err = p.guardDoors()
	}
	opening.Wait()
	if storeErr != nil {
		return nil, &usageError{storeErr}
	}
	if err != nil {
		return nil, err
	}
	p.tenants = tenant.New(p.openTenant, p.log) // before a lease, which may be lost again at once
	if c.cluster.on() {
		if err := p.join(ctx); err != nil {
			return nil, err
		}
		p.ring, ringErr = p.openRing()
		if err := p.guardDoors(); err != nil {
			return nil, err
		}
	}
	if ringErr != nil {
		return nil, &usageError{ringErr}
	}
	if c.policyFile != "" {
		if p.policy, err = policyfile.Open(c.policyFile, log); err != nil {
			return nil, &usageError{err}
		}
	}
	p.assemble()
	if err := p.switches(); err != nil {
		return nil, err
	}
	if c.auth != "jwt" && p.node == nil {
		if _, err := p.tenants.Get(ctx, spec.LocalUser); err != nil {
			return nil, err
		}
	}
	// Who reads this now is kept waiting by the listeners until they are served.
	err = dir.WriteHub(home.Hub{
		PID: os.Getpid(), Addr: p.info.Addrs[0], Socket: dir.Socket(), TLS: c.tlsCert != "",
		Version: p.info.Version, Auto: o.auto, Started: p.info.Started,
		Program: o.origin.path, Built: o.origin.built, HandsOver: p.handsOver(), Node: p.node != nil,
	})
	if err != nil {
		return nil, fmt.Errorf("the data directory cannot be written (%w); pass another --data-dir", err)
	}
	go p.serve(p.socket, p.server.ServeOwner)
	for _, ln := range p.lns {
		go p.serve(ln, p.server.Serve)
	}
	if p.node != nil {
		p.node.begin(ctx)
	}
	ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	if p.policy != nil {
		p.background.Go(func() { p.policy.Watch(ctx) })
	}
	if c.launchBrowser {
		p.background.Go(func() { p.launch(ctx) })
	}
	return p, nil
}

// serve has a listener served until the hub ends.
func (p *process) serve(ln net.Listener, serve func(net.Listener) error) {
	if err := serve(ln); err != nil {
		p.log.Error("listener failed", "addr", ln.Addr(), "err", err)
		p.end("failed")
	}
}

// takeLock makes this the only hub of the data directory.
func (p *process) takeLock(ctx context.Context) error {
	if p.lock = p.dir.Inherited(home.HubLock); p.lock != nil {
		return nil
	}
	if p.service {
		c := bridge.Connector{Dir: p.dir, Log: p.log}
		lock, err := c.TakeOver(ctx)
		p.lock = lock
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock, err := p.dir.Lock(ctx, home.HubLock)
	if errors.Is(err, context.DeadlineExceeded) {
		stop := p.app.tabhub("stop")
		if h, err := p.dir.ReadHub(); err == nil {
			return usagef("a hub runs already in %s: process %d on %s; clients can use it, `%s` ends it, and another one needs its own --data-dir", p.dir, h.PID, h.URL(), stop)
		}
		return usagef("another hub uses %s; `%s` ends it, or pass another --data-dir", p.dir, stop)
	}
	if err != nil {
		return &usageError{err}
	}
	p.lock = lock
	return nil
}

// handsOver reports whether this hub, asked to end for an upgrade, runs the new program in its
// place. One that a bridge has started ends, and a bridge of the new program starts the next.
func (p *process) handsOver() bool {
	return home.CanHandOver && !p.auto && p.origin.path != ""
}

// checkUpgrade returns why the program that would take this one's place does not run with its
// flags. This one then stays.
func (p *process) checkUpgrade(ctx context.Context) error {
	if !p.handsOver() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	program := p.origin.path
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
func (p *process) handOver(ctx context.Context, told <-chan os.Signal) error {
	lock := p.lock
	p.lock = nil
	defer lock.Unlock()
	if err := p.close("upgrade"); err != nil {
		p.log.Warn("not all went well at the end", "err", err)
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
	signal.Reset(stopSignals...)
	if len(told) > 0 || ctx.Err() != nil {
		return nil
	}
	return lock.HandOver(p.origin.path, os.Args)
}

// listen opens the listeners.
func (p *process) listen() error {
	lns, notes, err := openListeners(p.config, p.fallback, p.log)
	if err != nil {
		return err
	}
	p.lns, p.notes = lns, notes
	for _, note := range notes {
		p.log.Warn(note)
	}
	p.info = admin.Info{Version: version(), PID: os.Getpid(), DataDir: string(p.dir), Config: p.config.read, Socket: p.dir.Socket(), Auto: p.auto, Service: p.service, Started: time.Now()}
	if p.auto || p.service {
		p.info.LogFile = p.dir.LogFile()
	}
	for _, ln := range lns {
		p.info.Addrs = append(p.info.Addrs, reachableAddr(ln))
	}
	return nil
}

// guardDoors makes the guard before the listeners.
func (p *process) guardDoors() (err error) {
	if p.credentials, err = p.verifier(); err != nil {
		return err
	}
	o := p.config.guardOptions()
	o.Verifier = p.credentials
	if p.shared != nil {
		o.Directory = p.shared.dir
	}
	if p.guard, err = httpd.NewGuard(o); err != nil {
		return &usageError{err}
	}
	if slices.Contains(p.config.allowOrigins, "*") {
		p.log.Warn("pages of every site may offer tools to this hub: --allow-origin *")
	}
	return nil
}

// assemble makes the servers of the hub.
func (p *process) assemble() {
	p.telemetry = telemetry.New(p.info.Version)
	if p.config.auth == "jwt" {
		p.shares = tenant.NewShares(p.config.limits)
	}
	p.clients.OnRevoke(p.forgetClient)
	p.tabs = wsserver.New(wsserver.Options{Authenticate: p.admitTab, Pair: p.beginPairing, Dashboard: p.dashboard, Pause: p.pause, WatchOwner: p.watchOwner, Release: p.endLease, Instance: p.ring.Hub(), Detachable: p.node != nil, Log: p.log})
	p.relay = relay.New(relay.Options{
		Log:    p.log,
		Verify: p.admitRelay,

		Detachable: p.node != nil,
	})
	o := httpd.Options{
		Guard:   p.guard,
		Tenants: p.tenants,
		Tabs:    p.tabs.Tabs(), WebMCP: p.tabs.WebMCP(),
		Extension: p.relay.Extension(), Relay: p.relay.Legacy(), Client: p.relay.Client(),
		Pages: pages.Handler(p.guard.Address), Metrics: p.telemetry.Handler(),
		API: admin.Options{
			Info: p.inform, Stop: p.end, CheckUpgrade: p.checkUpgrade, Connect: p.connect,
			Doctor: func(ctx context.Context) []admin.Finding { return diagnose(ctx, p.app, p.config) },
			Ring:   p.ring, Clients: p.clients, RelayClients: p.relayClients, RelayExtensions: p.relay.Extensions,
		},
		OAuth: p.oauth, Issuer: p.config.issuer(),
		URL:  p.config.baseURL(p.info.Addrs[0]),
		Idle: p.config.idleExit,
		Log:  p.log,
	}
	if p.token != nil {
		o.Token, o.API.Rotate = p.token, p.rotate
	}
	if n := p.node; n != nil {
		p.telemetry.WatchNode(n.measure)
		o.Locator, o.Cluster, o.Ready = locator{n.users, p}, n.users.API(), n.users.Ready
	}
	p.server = httpd.New(o)
	p.telemetry.Watch(telemetry.Process{Hubs: p.hubs, Sockets: p.tabs.Stats, Refused: p.shares.Refused})
}

// hubs says how the hubs of all users are.
func (p *process) hubs() (all []telemetry.Hub) {
	for _, t := range p.tenants.Open() {
		all = append(all, telemetry.Hub{
			Status: t.Hub.Status(), Questions: len(t.Hub.Desk().Open()), Record: t.Record.Status(), Queued: t.Record.Queued(),
		})
	}
	return all
}

// inform says how the process is.
func (p *process) inform() admin.Info {
	info := p.info
	info.Sockets = p.tabs.Stats()
	info.Refused = p.refused.latest()
	if p.policy != nil {
		info.PolicyFile = new(admin.PolicyFile(p.policy.State()))
	}
	return info
}

// end asks the process to end.
func (p *process) end(why string) {
	select {
	case p.ended <- why:
	default:
	}
}

// wait returns why the hub is to end.
func (p *process) wait(ctx context.Context) (why string) {
	select {
	case why := <-p.ended:
		return why
	case <-ctx.Done():
		return "stop"
	}
}

// close ends the hub: calls under way are answered first, tabs and browsers are told
// to come back later, the store is written.
func (p *process) close(why string) error {
	if p.node != nil {
		p.node.drain()
	}
	ctx, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	// Whoever asks for a hub from now on waits for the lock, not for this process.
	errs := []error{p.dir.RemoveHub(), p.server.Shutdown(ctx, why)}
	if p.node != nil {
		errs = append(errs, p.node.stopServing(ctx))
	}
	p.stop()
	p.background.Wait()
	errs = append(errs, p.tenants.Close(ctx), p.tabs.Close(ctx))
	p.relay.Close()
	return errors.Join(append(errs, p.release())...)
}

// abandon gives back what startHub has taken when it fails.
func (p *process) abandon() {
	if p.tenants != nil {
		_ = p.tenants.Close(context.Background()) // nobody has used them
	}
	p.release()
}

// release gives back the listeners, the store and the lock.
func (p *process) release() error {
	closeAll(p.lns)
	var errs []error
	if p.socket != nil {
		p.socket.Close()
		errs = append(errs, p.dir.RemoveHub())
	}
	if p.store != nil {
		errs = append(errs, p.store.Close())
	}
	if p.node != nil {
		errs = append(errs, p.node.close())
	}
	if p.clients != nil {
		errs = append(errs, p.clients.Close())
	}
	if p.lock != nil {
		p.lock.Unlock()
	}
	return errors.Join(errs...)
}
