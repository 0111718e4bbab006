package instance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tabhub/hub"
	"tabhub/hub/core"
	"tabhub/hub/state"
	"tabhub/spec"
	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/pairing"
)

// Options configure Instances. Hub, Dir, HubURL and Ring must be set.
type Options struct {
	Hub    *hub.Hub
	Dir    string        // of the profiles; absolute
	HubURL string        // where the extension connects, such as ws://127.0.0.1:3300/tabs
	Ring   *pairing.Ring // pairs their extensions with the hub

	// HubKey returns the SHA-256 of the public key that the hub shows at HubURL, in
	// base64: its certificate may be for another name. Nil for a hub without TLS.
	HubKey func() (string, error)

	Browser string        // executable; "" looks for one
	Join    time.Duration // how long a browser may take to join; 0 means 30 s
	Log     *slog.Logger  // nil discards
}

// Instances are the browsers that this hub has started. All methods are safe for
// concurrent use.
type Instances struct {
	opts Options
	log  *slog.Logger
	ctx  context.Context // ends with Close
	stop context.CancelFunc
	work sync.WaitGroup // starts under way, and instances that run

	mu      sync.Mutex
	running map[string]*running // by their profiles, whose modes share the extension's copy
}

// running is an instance, from the moment in which its profile is taken. Its fields
// are static once proc is set, which Instances.mu guards.
type running struct {
	Info
	pairing  spec.PairingID // by which the hub knows the browser
	path     string         // of the executable
	launch   launch
	forOwner bool
	// awaited says that it is expected to join by itself.
	awaited bool
	proc    *process
	gone    chan struct{} // closed when the hub, too, has forgotten it
}

// Info describes an instance.
type Info struct {
	ID        string
	Mode      Mode
	Profile   string
	Headless  bool
	PID       int
	Started   time.Time
	Downloads string // where the browser saves files
	// Loaded says that the browser was given the companion extension, or has joined
	// with it. Otherwise the user can load it by hand, once, from Extension.
	Loaded    bool
	Extension string
	// Browser is the browser as the hub knows it; nil while it has not joined, or
	// when it is away.
	Browser *state.BrowserInfo
	// DevTools is set by Start if Config asked for it: messages of the protocol, each ended
	// by a zero byte. Its caller closes it.
	DevTools io.ReadWriteCloser
}

var (
	// errClosed is why a start fails while the hub ends.
	errClosed = &core.Failure{Code: spec.FailNotConnected, Message: "the hub is shutting down"}
	errLate   = errors.New("the browser did not join in time")
)

// New returns Instances without any.
func New(o Options) *Instances {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Join == 0 {
		o.Join = 30 * time.Second
	}
	s := &Instances{opts: o, log: o.Log, running: map[string]*running{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// HubURL is where the instances connect.
func (s *Instances) HubURL() string { return s.opts.HubURL }

// Start starts a browser and blocks until it has joined the hub. One that cannot be
// given the extension is waited for only if the user has loaded it before, and runs
// on if it does not join: Info.Browser is nil then. A start that fails, or whose ctx
// ends, leaves nothing running. The error is ctx's cause or a *core.Failure.
func (s *Instances) Start(ctx context.Context, c Config) (Info, error) {
	r, err := s.plan(c)
	if err != nil {
		return Info{}, err
	}
	if err := s.reserve(r); err != nil {
		return Info{}, err
	}
	defer s.work.Done() // of the start; what runs has its own
	if err := s.launch(r); err != nil {
		s.release(r)
		return Info{}, err
	}
	s.work.Go(func() { s.watch(r) })
	if !r.awaited {
		return s.info(r), nil
	}
	err = s.join(ctx, r)
	switch {
	case err == nil, err == errLate && !r.Loaded: // the user may have removed what they loaded
		return s.info(r), nil
	case err == errLate:
		err = &core.Failure{Code: spec.FailNotConnected, Message: fmt.Sprintf("the browser was started but did not join the hub within %s, so it was closed again%s", s.opts.Join, confinement(r.path))}
	}
	r.proc.stop()
	<-r.gone
	if r.DevTools != nil {
		r.DevTools.Close()
	}
	return Info{}, err
}

// reserve takes the profile for r, and lets Close wait for the start.
func (s *Instances) reserve(r *running) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return errClosed
	}
	if other := s.running[r.Profile]; other != nil {
		return &core.Failure{Code: spec.FailToolError, Message: fmt.Sprintf("profile %q is in use by instance %s; close that, or name another profile", r.Profile, other.ID)}
	}
	s.running[r.Profile] = r
	s.work.Add(1)
	return nil
}

// release gives the profile free.
func (s *Instances) release(r *running) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, r.Profile)
}

// launch writes what the browser needs and starts it.
func (s *Instances) launch(r *running) error {
	failed := func(err error) error {
		return &core.Failure{Code: spec.FailToolError, Message: fmt.Sprintf("%s could not be started: %v", r.Mode, err)}
	}
	unlock(r.launch.data)
	if by := usedBy(r.launch.data); by != "" {
		return &core.Failure{Code: spec.FailToolError, Message: fmt.Sprintf("profile %q is in use by %s; close that browser, or name another profile", r.Profile, by)}
	}
	if err := makeUserData(r.launch.data, r.Downloads); err != nil {
		return failed(err)
	}
	copied, err := extension.WriteInstance(r.Extension, s.opts.Ring, s.opts.HubURL)
	if err != nil {
		return failed(err)
	}
	r.pairing = copied.Pairing
	if err := s.opts.Ring.SetStarted(r.pairing, !r.forOwner); err != nil {
		return failed(err)
	}
	if s.opts.HubKey != nil {
		if r.launch.hubKey, err = s.opts.HubKey(); err != nil {
			return failed(err)
		}
	}
	cmd := exec.Command(r.path, r.launch.flags()...)
	var pipe *devTools
	if r.launch.devTools {
		if pipe, err = openDevTools(cmd); err != nil {
			return failed(err)
		}
		r.DevTools = pipe
	}
	proc, err := startProcess(cmd)
	pipe.started(err)
	if err != nil {
		return failed(err)
	}
	s.mu.Lock()
	r.proc, r.PID, r.Started = proc, proc.cmd.Process.Pid, time.Now()
	s.mu.Unlock()
	s.log.Info("browser started", "instance", r.ID, "browser", r.path, "profile", r.Profile, "pid", r.PID, "headless", r.Headless)
	return nil
}

// watch waits until an instance has ended, by whatever cause, and forgets it. When
// all are closed it closes this one.
func (s *Instances) watch(r *running) {
	select {
	case <-r.proc.ended:
	case <-s.ctx.Done():
		r.proc.stop()
	}
	s.release(r)
	if b := s.browser(r); b != nil {
		s.opts.Hub.Core.Forget(b.Peer, spec.CloseGoingAway, "the browser has ended")
	}
	close(r.gone)
	s.log.Info("browser ended", "instance", r.ID, "pid", r.PID, "how", r.proc.how)
}

// join blocks until the browser is connected to the hub. The error is errLate, ctx's
// cause or a *core.Failure.
func (s *Instances) join(ctx context.Context, r *running) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(s.opts.Join, func() { cancel(errLate) })
	defer timer.Stop()
	defer context.AfterFunc(s.ctx, func() { cancel(errClosed) })()
	watched := make(chan struct{})
	defer func() { cancel(nil); <-watched }()
	go func() {
		defer close(watched)
		select {
		case <-r.proc.ended:
			if s.ctx.Err() != nil { // Close has ended it
				cancel(errClosed)
			}
			cancel(&core.Failure{Code: spec.FailToolError, Message: "the browser ended before it had joined the hub: " + r.proc.failure() + confinement(r.path)})
		case <-ctx.Done():
		}
	}()
	_, err := s.opts.Hub.AwaitPeer(ctx, func(b state.BrowserInfo) bool { return b.Pairing == r.pairing })
	return err
}

// Stop closes an instance and blocks until it is gone: it is asked first, and killed
// if it does not close. The error is a *core.Failure with FailNoInstance.
func (s *Instances) Stop(id string) error {
	s.mu.Lock()
	var found *running
	for _, r := range s.running {
		if r.ID == id && r.proc != nil {
			found = r
		}
	}
	s.mu.Unlock()
	if found == nil {
		return &core.Failure{Code: spec.FailNoInstance, Message: fmt.Sprintf("Instance not found: %.80q; action list shows those that run", id)}
	}
	found.proc.stop()
	<-found.gone
	return nil
}

// List returns the instances that run, the oldest first.
func (s *Instances) List() []Info {
	s.mu.Lock()
	var list []*running
	for _, r := range s.running {
		if r.proc != nil {
			list = append(list, r)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(list, func(a, b *running) int {
		return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.ID, b.ID))
	})
	infos := make([]Info, len(list))
	for i, r := range list {
		infos[i] = s.info(r)
	}
	return infos
}

// info returns what is known of r, whose proc is set.
func (s *Instances) info(r *running) Info {
	info := r.Info
	if b := s.browser(r); b != nil && b.Connected {
		info.Browser, info.Loaded = b, true
	}
	return info
}

// browser returns r as the hub knows it, nil if it does not.
func (s *Instances) browser(r *running) *state.BrowserInfo {
	for _, b := range s.opts.Hub.Browsers(nil) {
		if b.Pairing == r.pairing {
			return &b
		}
	}
	return nil
}

// Profiles lists the profiles that tabhub has made.
func (s *Instances) Profiles() ([]Profile, error) {
	all, err := profilesIn(s.opts.Dir)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	for i, p := range all {
		if r := s.running[p.Directory]; r != nil {
			all[i].InUse = "instance " + r.ID
		}
	}
	s.mu.Unlock()
	for i, p := range all {
		for _, m := range modes {
			if all[i].InUse == "" {
				all[i].InUse = usedBy(filepath.Join(s.opts.Dir, p.Directory, string(m)))
			}
		}
	}
	return all, nil
}

// Close closes all instances and refuses new ones. It blocks until none is left and
// is idempotent.
func (s *Instances) Close() {
	s.mu.Lock()
	s.stop() // under the lock, so that no start slips in behind Wait
	s.mu.Unlock()
	s.work.Wait()
}
