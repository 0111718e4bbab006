package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"tabhub/hub/broadcast"
	"tabhub/hub/call/ledger"
	"tabhub/hub/offer/item"

	"tabhub/hub/offer/schema"
	"tabhub/hub/state"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"

	"tabhub/hub/telemetry"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// Hub serves one user. It owns no more than its goroutines: the transport and the
// store are its caller's. All methods are safe for concurrent use.
type Hub struct {
	// Static after Open.
	opts      Options
	log       *slog.Logger
	transport tabtransport.TabHubTransport
	store     storage.DomainToolStorage
	epoch     spec.Epoch // of store
	schemas   schema.Cache
	gate      *gate
	notices   *notifier
	ledger    *ledger.Ledger  // of the calls of clients
	ctx       context.Context // ends with the Hub; its cause says why
	stop      context.CancelCauseFunc

	lists     [numLists]listCache
	bound     boundLists
	changes   broadcast.Signal // fired after each change of state
	holds     broadcast.Signal // fired when leases change, or calls begin or end to wait for the owner's hand
	yields    yields
	updates   atomic.Uint64
	inFlight  atomic.Int64
	calls     atomic.Uint64         // since Open
	confirmed atomic.Int64          // when the store was asked last by confirmEpoch, in ns since 1970
	storeErr  atomic.Pointer[error] // of the last write
	kept      atomic.Uint64         // writes to the store that have ended
	unstored  atomic.Bool           // the last write to the store has failed
	settled   broadcast.Signal      // fired when kept changes
	running   sync.WaitGroup        // calls, and what they have begun
	tasks     sync.WaitGroup        // goroutines of background

	editing    sync.Mutex  // held while the policy is changed
	policyFile policy.File // guarded by editing

	flushMu sync.Mutex // orders writes to the store as the changes were made

	mu        sync.RWMutex // guards all below
	state     *state.State // changed by update alone
	closing   bool         // new calls and connections are refused
	stopped   bool         // state does not change any more
	unwritten []storage.Change
	wrote     uint64             // writes to the store
	synced    []func(error)      // to be called once unwritten is synced
	documents []storage.Document // of the store, until Documents hands them out
	settings  []storage.Settings // of the store and not the Hub's own, until Settings hands them out
}

// What ends a Hub.
var (
	errClosed     = errors.New("the hub is shutting down")
	errSuperseded = errors.New("another hub serves this user now")
)

// Open loads the user's state and starts to serve opts.Transport. The caller owns
// the store and closes it after the Hub.
func Open(ctx context.Context, opts Options) (*Hub, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Record == nil {
		opts.Record = record.Discard
	}
	if opts.Telemetry == nil {
		opts.Telemetry = telemetry.Nobody
	}
	opts.CallTimeout = cmp.Or(opts.CallTimeout, spec.CallTimeout)
	opts.CallTimeoutMax = cmp.Or(opts.CallTimeoutMax, spec.CallTimeoutMax)
	opts.PersonTimeout = cmp.Or(opts.PersonTimeout, spec.PersonTimeout)
	opts.MaxCalls = cmp.Or(opts.MaxCalls, spec.MaxCallsPerHub)
	opts.Handover = cmp.Or(opts.Handover, HandoverWait)
	opts.Room, opts.RoomEnd = cmp.Or(opts.Room, RoomGroup), cmp.Or(opts.RoomEnd, RoomKeep)
	h := &Hub{
		opts:      opts,
		log:       opts.Log.With("user", opts.User),
		transport: opts.Transport,
		store:     opts.Store,
		state:     state.New(naming.ToolNamer{Limit: opts.NameLimit, Plain: opts.PlainNames}),
	}
	h.ctx, h.stop = context.WithCancelCause(context.Background())
	h.notices = newNotifier(h)
	h.yields.changed = func() {
		h.holds.Fire()
		h.updates.Add(1)
		h.opts.Changed.Fire()
	}
	stored, err := opts.Store.Load(ctx, opts.User, time.Now().Add(-spec.StaleTab))
	if err != nil {
		return nil, fmt.Errorf("load user %s: %w", opts.User, err)
	}
	h.epoch, h.documents = stored.Epoch, stored.Documents
	if err := h.openPolicy(stored.Settings); err != nil {
		return nil, err
	}
	var rejected []spec.Rejection
	h.update(func(tx *state.Tx) { rejected = tx.Restore(stored, h.restoreItems) }) // nobody waits for the mutex yet
	for _, r := range rejected {
		h.log.Warn("stored item left out", "tool", r.Name, "err", r.Reason)
	}
	h.notices.start()
	h.openLedger()
	h.resumeTasks()
	opts.Transport.Handle((*handler)(h))
	return h, nil
}

// restoreItems parses the items of a stored tab. One that no longer passes the checks
// is left out.
func (h *Hub) restoreItems(r storage.Tab) []*item.Item {
	var items []*item.Item
	parse := func(kind spec.Kind, raws []json.RawMessage) {
		for _, raw := range raws {
			it, err := item.Parse(kind, raw, &h.schemas, func(string) (item.Provenance, error) {
				return item.Provenance{Domain: r.Domain, Origin: r.Origin, Verified: r.Verified}, nil
			})
			if err != nil {
				h.log.Warn("stored item left out", "domain", r.Domain, "tool", it.Source, "err", err)
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

// Close refuses new calls, waits for open ones until ctx is done, ends the rest
// with NOT_CONNECTED, and stops. It does not close the store or the transport. It
// is idempotent.
func (h *Hub) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closing = true
	h.mu.Unlock()
	h.gate.desk.Close(errClosed)
	done := make(chan struct{})
	go func() {
		h.running.Wait()
		close(done)
	}()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	h.stop(errClosed)
	h.disconnectAll()
	<-done
	h.tasks.Wait()
	h.ledger.Close()
	<-h.notices.done
	h.update(func(tx *state.Tx) { tx.SaveSeen(); tx.Agents().SaveAll() })
	h.mu.Lock()
	h.stopped = true
	h.mu.Unlock()
	return err
}

// Ledger returns the calls of the Hub's clients.
func (h *Hub) Ledger() *ledger.Ledger { return h.ledger }

// Done is closed when the Hub has been closed, or has stopped by itself; Err says why.
func (h *Hub) Done() <-chan struct{} { return h.ctx.Done() }

// Err returns nil until Done is closed, then why: an error for which
// errors.Is(err, storage.ErrStaleEpoch) if another hub has taken over the user's store.
func (h *Hub) Err() error { return context.Cause(h.ctx) }

// Epoch is that of the store under which the Hub writes.
func (h *Hub) Epoch() spec.Epoch { return h.epoch }

// IsSuperseded reports whether the Hub has stopped because another one serves the user.
func (h *Hub) IsSuperseded() bool { return errors.Is(h.Err(), errSuperseded) }

// Supersede stops a Hub at once because another one serves the user now: nothing that
// it does from here on would last. It does not block.
func (h *Hub) Supersede(cause error) {
	h.mu.Lock()
	stopped := h.stopped
	h.closing, h.stopped = true, true
	h.mu.Unlock()
	if stopped {
		return
	}
	h.log.Error("another hub serves this user now: this one stops", "err", cause)
	h.stop(fmt.Errorf("%w: %w", errSuperseded, cause))
	h.gate.desk.Close(errSuperseded)
	h.disconnectAll()
}

// disconnectAll closes all connections; their peers come back to the hub that is there
// then.
func (h *Hub) disconnectAll() {
	peers := view(h, (*state.State).Peers)
	for _, c := range h.ledger.UnderWay() {
		peers = append(peers, c.Tab.Peer) // its call may continue although the tab was given up
	}
	for _, p := range peers {
		h.transport.Disconnect(spec.TabAddr{Peer: p}, spec.CloseGoingAway, h.ending())
	}
}

// ending says why the Hub ends, for people and models.
func (h *Hub) ending() string {
	if errors.Is(h.Err(), errSuperseded) {
		return errSuperseded.Error()
	}
	return errClosed.Error()
}

// endedFailure is the failure of a call that the end of the Hub has cut short.
func (h *Hub) endedFailure(sent bool) *Failure {
	switch superseded := errors.Is(h.Err(), errSuperseded); {
	case sent && superseded:
		return &Failure{spec.FailNotConnected, "another hub has taken over this user while the call was under way; it may have taken effect"}
	case sent:
		return &Failure{spec.FailNotConnected, "the hub was shut down while the call was under way; it may have taken effect"}
	}
	return &Failure{spec.FailNotConnected, h.ending() + "; the call was not sent"}
}
