package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/broadcast"
	"tabhub/hub/offer/item"
	"tabhub/hub/offer/schema"
	"tabhub/hub/state"
	"tabhub/hub/trust/record"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// Options configure a Core. The zero value of each field but User, Transport and Store is a
// usable default.
type Options struct {
	User      spec.UserID
	Transport tabtransport.TabHubTransport
	Store     storage.DomainToolStorage
	Log       *slog.Logger      // nil discards
	Record    record.Log        // nil discards; closed by its owner, after the Core
	Changed   *broadcast.Signal // fired when what the owner sees has changed; nil: never
	Version   string            // told to peers at hello
	// StoredFirst has clients learn only what is stored, as another process may serve the user next.
	// See Settled.
	StoredFirst bool
	Packs       Definitions // set before Restore; nil: there are none
	NameLimit   int         // longest public name; 0 means naming.DefaultLimit
	PlainNames  bool        // see naming.ToolNamer
}

// Core is the state of one user behind its lock, between the transport and the store. Its methods
// are safe for concurrent use.
type Core struct {
	// Static after Restore.
	Options   Options
	Log       *slog.Logger
	transport tabtransport.TabHubTransport
	store     storage.DomainToolStorage
	epoch     spec.Epoch // of store
	hooks     Hooks
	ctx       context.Context // ends with the Core; its cause says why
	stop      context.CancelCauseFunc

	schemas   schema.Cache
	changes   broadcast.Signal // fired after each change of state
	updates   atomic.Uint64
	confirmed atomic.Int64          // when the store was asked last by ConfirmEpoch, in ns since 1970
	storeErr  atomic.Pointer[error] // of the last write
	ended     atomic.Uint64         // writes to the store that have ended
	unstored  atomic.Bool           // the last write to the store has failed
	stored    broadcast.Signal      // fired when ended changes
	running   sync.WaitGroup        // calls, and what they have begun
	tasks     sync.WaitGroup        // goroutines of Background

	flushMu sync.Mutex // orders writes to the store as the changes were made

	mu        sync.RWMutex // guards all below
	state     *state.State // changed by Update alone
	closing   bool         // new calls and connections are refused
	stopped   bool         // state does not change any more
	unwritten []storage.Change
	wrote     uint64             // writes to the store
	synced    []func(error)      // to be called once unwritten is synced
	loaded    *storage.State     // until Restore
	documents []storage.Document // of the store, until Documents hands them out
	settings  []storage.Settings // of the store, until Settings hands them out
}

// Hooks tell of what follows from a change of the state. They are called without a lock and must
// not block.
type Hooks struct {
	Listed     func()                              // a list may have changed
	Leased     func()                              // leases have
	Ended      func(agents.Ended)                  // a session that had opened tabs
	Registered func(spec.TabAddr)                  // a tab has registered its resources
	Updated    func(from spec.TabAddr, uri string) // a resource of a tab has changed
	Superseded func(cause error)                   // another hub serves the user now
	// InFlight returns the peers of calls, which may continue although their tabs were given up.
	InFlight func() []spec.PeerID
}

// Open loads the user's state. The caller owns the store and closes it after the Core.
func Open(ctx context.Context, opts Options) (*Core, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Record == nil {
		opts.Record = record.Discard
	}
	c := &Core{
		Options: opts, Log: opts.Log.With("user", opts.User), transport: opts.Transport, store: opts.Store,
		state: state.New(naming.ToolNamer{Limit: opts.NameLimit, Plain: opts.PlainNames}),
	}
	c.ctx, c.stop = context.WithCancelCause(context.Background())
	stored, err := opts.Store.Load(ctx, opts.User, time.Now().Add(-spec.StaleTab))
	if err != nil {
		return nil, fmt.Errorf("load user %s: %w", opts.User, err)
	}
	c.loaded, c.epoch, c.documents, c.settings = stored, stored.Epoch, stored.Documents, stored.Settings
	return c, nil
}

// Restore makes the state that was loaded the present one. From then on hooks are called.
func (c *Core) Restore(hooks Hooks) {
	c.hooks = hooks
	var rejected []spec.Rejection
	c.Update(func(tx *state.Tx) {
		rejected = tx.Restore(c.loaded, func(t storage.Tab) []*item.Item { return restoreItems(c, t) })
	}) // nothing else waits for the mutex yet
	c.loaded = nil
	for _, r := range rejected {
		c.Log.Warn("stored item left out", "tool", r.Name, "err", r.Reason)
	}
}

// Serve has the transport deliver to the Core.
func (c *Core) Serve() { c.transport.Handle(c.Handler()) }

// Handler returns the Core as its transport sees it.
func (c *Core) Handler() tabtransport.Handler { return (*handler)(c) }

// What ends a Hub.
var (
	ErrClosed     = errors.New("the hub is shutting down")
	ErrSuperseded = errors.New("another hub serves this user now")
)

// ParseStored parses an item as it was stored. One of a pack is as the pack that is active defines it.
func (c *Core) ParseStored(kind spec.Kind, raw json.RawMessage, from item.Provenance) (*item.Item, error) {
	it, err := item.Parse(kind, raw, &c.schemas, func(claimed item.Claim) (item.Provenance, error) {
		from.Pack = claimed.Pack // which was checked when it was registered
		return from, nil
	})
	if err != nil {
		return it, err
	}
	return define(c, it)
}

// restoreItems parses the items of a stored tab. One that no longer passes the checks
// is left out.
func restoreItems(c *Core, r storage.Tab) []*item.Item {
	browser, cached := r.CacheOf()
	if !cached {
		browser = r.Browser
	}
	var items []*item.Item
	parse := func(kind spec.Kind, raws []json.RawMessage) {
		for _, raw := range raws {
			it, err := c.ParseStored(kind, raw, item.Provenance{Domain: r.Domain, Origin: r.Origin, Verified: r.Verified})
			if err == nil && it.Pack.Name != "" && browser == "" {
				err = errNoBrowser
			}
			if err != nil {
				c.Log.Warn("stored item left out", "domain", r.Domain, "tool", it.Source, "err", err)
				continue
			}
			items = append(items, it)
		}
	}
	parse(spec.KindTool, r.Tools)
	parse(spec.KindResource, r.Resources)
	parse(spec.KindPrompt, r.Prompts)
	return items
}

// Refuse has new calls and connections refused.
func (c *Core) Refuse() {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
}

// Drain waits for what is in flight until ctx is done, whose error it returns, and ends the rest.
func (c *Core) Drain(ctx context.Context) (err error) {
	done := make(chan struct{})
	go func() {
		c.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.stop(ErrClosed)
	c.disconnectAll()
	<-done
	c.tasks.Wait()
	return err
}

// Finish stores what was left for later; the state does not change any more.
func (c *Core) Finish() {
	c.Update(func(tx *state.Tx) { tx.SaveSeen(); tx.Agents().SaveAll() })
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
}

// Done is closed when the Hub has been closed, or has stopped by itself; Err says why.
func (c *Core) Done() <-chan struct{} { return c.ctx.Done() }

// Err returns nil until Done is closed, then why: an error for which
// errors.Is(err, storage.ErrStaleEpoch) if another hub has taken over the user's store.
func (c *Core) Err() error { return context.Cause(c.ctx) }

// Epoch is that of the store under which the Hub writes.
func (c *Core) Epoch() spec.Epoch { return c.epoch }

// IsSuperseded reports whether the Hub has stopped because another one serves the user.
func (c *Core) IsSuperseded() bool { return errors.Is(c.Err(), ErrSuperseded) }

// Supersede stops a Hub at once because another one serves the user now: nothing that
// it does from here on would last. It does not block.
func (c *Core) Supersede(cause error) {
	c.mu.Lock()
	stopped := c.stopped
	c.closing, c.stopped = true, true
	c.mu.Unlock()
	if stopped {
		return
	}
	c.Log.Error("another hub serves this user now: this one stops", "err", cause)
	c.stop(fmt.Errorf("%w: %w", ErrSuperseded, cause))
	c.hooks.Superseded(ErrSuperseded)
	c.disconnectAll()
}

// disconnectAll closes all connections; their peers come back to the hub that is there
// then.
func (c *Core) disconnectAll() {
	for _, p := range append(View(c, (*state.State).Peers), c.hooks.InFlight()...) {
		c.transport.Disconnect(spec.TabAddr{Peer: p}, spec.CloseGoingAway, ending(c))
	}
}

// Context ends with the Core; its cause says why.
func (c *Core) Context() context.Context { return c.ctx }

// Begin begins a call if look, which runs under the lock shared and must not block, returns nil.
// The end of the Core waits for the call's End. The error is look's, or a *Failure if the Core
// takes no calls any more.
func (c *Core) Begin(look func() error) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closing {
		return &Failure{Code: spec.FailNotConnected, Message: ending(c) + "; try again in a moment"}
	}
	if err := look(); err != nil {
		return err
	}
	c.running.Add(1)
	return nil
}

// End ends what Begin began.
func (c *Core) End() { c.running.Done() }

// Go runs f while a call runs, so that the end of the Core waits for f, too.
func (c *Core) Go(f func()) { c.running.Go(f) }

// ending says why the Hub ends, for people and models.
func ending(c *Core) string {
	if errors.Is(c.Err(), ErrSuperseded) {
		return ErrSuperseded.Error()
	}
	return ErrClosed.Error()
}

// EndedFailure is the failure of a call that the end of the Hub has cut short.
func (c *Core) EndedFailure(sent bool) *Failure {
	switch superseded := errors.Is(c.Err(), ErrSuperseded); {
	case sent && superseded:
		return &Failure{Code: spec.FailNotConnected, Message: "another hub has taken over this user while the call was under way; it may have taken effect"}
	case sent:
		return &Failure{Code: spec.FailNotConnected, Message: "the hub was shut down while the call was under way; it may have taken effect"}
	}
	return &Failure{Code: spec.FailNotConnected, Message: ending(c) + "; the call was not sent"}
}

// Failure is a failure of the hub, not of the page's tool.
type Failure struct {
	Code    spec.FailureCode
	Message string
}

// Fail returns a Failure.
func Fail(code spec.FailureCode, format string, args ...any) *Failure {
	return &Failure{code, fmt.Sprintf(format, args...)}
}

func (f *Failure) Error() string { return string(f.Code) + ": " + f.Message }

// Result returns the failure as an MCP CallToolResult with isError set, whose text
// is {"error":{"code","message"}}.
func (f *Failure) Result() json.RawMessage {
	return item.FailureResult(f.Code, f.Message)
}

// DialogWords says to a client that may know of a tab what dialog blocks it.
func DialogWords(addr spec.TabAddr, d *spec.Dialog) string {
	if d.Type == spec.DialogUnknown {
		return fmt.Sprintf("the page in tab %s does not answer: a dialog may be open in it, which the person in front of the browser must answer first, or a script is busy", addr.Public())
	}
	return fmt.Sprintf("the page in tab %s has a dialog open (%s, with the page's words %q), which the person in front of the browser must answer first", addr.Public(), d.Type, d.Message)
}
