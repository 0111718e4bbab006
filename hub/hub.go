package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tabhub/hub/schema"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// Hub is one user's world. All methods are safe for concurrent use.
type Hub struct {
	// Static after Open.
	opts      Options
	log       *slog.Logger
	transport tabtransport.TabHubTransport
	store     storage.DomainToolStorage
	epoch     spec.Epoch // of store
	namer     naming.ToolNamer
	schemas   schema.Cache
	notices   *notifier
	ctx       context.Context // ends with the Hub; its cause is errClosed
	stop      context.CancelCauseFunc

	flushMu sync.Mutex // orders writes to the store as the changes were made

	inFlight atomic.Int64
	calls    atomic.Uint64
	open     sync.WaitGroup // calls under way
	telling  sync.WaitGroup // goroutines of background
	storeErr atomic.Pointer[error]
	listings [numLists]atomic.Pointer[Listing]

	mu      sync.RWMutex // guards all below
	closed  bool
	seen    time.Time // when what is open was stored as seen
	peers   map[spec.PeerID]*peer
	tabs    map[spec.TabAddr]*tab
	reading map[spec.TabAddr]*reading
	domains map[spec.Domain]*domain
	order   []spec.Domain     // of domains, sorted
	shares  map[string]*share // of sites
	names   map[publicName]*binding
	browser map[spec.BrowserID]storage.Browser
	sites   map[spec.Domain]storage.Site
	subs    map[string]*subscription // by public URI
	active  *tab                     // what the user looks at; nil if no tab that is known
	seq     uint64                   // of registrations and of focus: the later the higher
	changed chan struct{}            // closed at the next change; nil if nobody waits
	gens    [numLists]uint64         // generation of each list
	pending []storage.Change         // to be written by flush
	acks    []func(error)            // to be called once pending is synced
	counts  [3]int                   // items registered, by kind
	allKept int                      // items that closed tabs left
	bytes   int                      // of what is registered and kept
	kept    map[*domain]struct{}     // whose kept items are to be saved
}

var errClosed = errors.New("the hub is shutting down")

// Open loads the user's state and starts to serve opts.Transport. The caller owns
// the store and closes it after the Hub.
func Open(ctx context.Context, opts Options) (*Hub, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.NameLimit == 0 {
		opts.NameLimit = naming.DefaultLimit
	}
	if opts.TabNames == "" {
		opts.TabNames = TabNamesAuto
	}
	if opts.CallTimeout == 0 {
		opts.CallTimeout = spec.CallTimeout
	}
	if opts.CallTimeoutMax == 0 {
		opts.CallTimeoutMax = spec.CallTimeoutMax
	}
	h := &Hub{
		opts:      opts,
		log:       opts.Log.With("user", opts.User),
		transport: opts.Transport,
		store:     opts.Store,
		namer:     naming.ToolNamer{Limit: opts.NameLimit, Plain: opts.PlainNames},
		peers:     map[spec.PeerID]*peer{},
		tabs:      map[spec.TabAddr]*tab{},
		reading:   map[spec.TabAddr]*reading{},
		domains:   map[spec.Domain]*domain{},
		shares:    map[string]*share{},
		names:     map[publicName]*binding{},
		browser:   map[spec.BrowserID]storage.Browser{},
		sites:     map[spec.Domain]storage.Site{},
		subs:      map[string]*subscription{},
		kept:      map[*domain]struct{}{},
	}
	h.ctx, h.stop = context.WithCancelCause(context.Background())
	h.notices = newNotifier(h)
	now := time.Now()
	state, err := opts.Store.Load(ctx, opts.User, now.Add(-spec.StaleTab))
	if err != nil {
		return nil, fmt.Errorf("load user %s: %w", opts.User, err)
	}
	h.epoch = state.Epoch
	h.update(func() { h.restoreLocked(state, now) })
	go h.notices.run()
	opts.Transport.Handle((*handler)(h))
	return h, nil
}

// Close refuses new calls, waits for open ones until ctx is done, ends the rest
// with NOT_CONNECTED, and stops. It does not close the store or the transport. It
// is idempotent.
func (h *Hub) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	for _, p := range h.peers {
		p.grace.stop()
	}
	h.mu.Unlock()
	done := make(chan struct{})
	go func() {
		h.open.Wait()
		close(done)
	}()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	h.stop(errClosed)
	for _, p := range h.peerIDs() {
		h.transport.Disconnect(spec.TabAddr{Peer: p}, spec.CloseGoingAway, "the hub is shutting down")
	}
	<-done
	h.telling.Wait()
	h.notices.close()
	h.update(func() { h.seenLocked(time.Now()) })
	return err
}

// seenEvery is how often, as things happen, what is open is stored as seen, so that
// after a crash it counts as nearly as old as it is.
const seenEvery = spec.StaleTab / 4

// seenLocked marks the tabs that are open and their numbers as seen now.
func (h *Hub) seenLocked(now time.Time) {
	h.seen = now
	for _, t := range h.tabs {
		if t.hidden {
			continue
		}
		h.saveTabLocked(t, now)
	}
	for _, d := range h.domains {
		for _, t := range d.tabs {
			n := d.numbers[t.key]
			n.LastSeen = now
			d.numbers[t.key] = n
			h.writeLocked(n)
		}
	}
}

func (h *Hub) peerIDs() []spec.PeerID {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return slices.Collect(maps.Keys(h.peers))
}

// update is the one way to change a Hub's state: f runs under the mutex, what it
// has left to do is done after it.
func (h *Hub) update(f func()) {
	h.mu.Lock()
	f()
	if now := time.Now(); now.Sub(h.seen) > seenEvery {
		h.seenLocked(now)
	}
	h.saveKeptLocked()
	wake := h.changed
	h.changed = nil
	write := len(h.pending) > 0 || len(h.acks) > 0
	h.mu.Unlock()
	if wake != nil {
		close(wake)
	}
	if write {
		h.flush()
	}
}

// flush hands the changes that update has collected to the store, in order.
func (h *Hub) flush() {
	h.flushMu.Lock()
	defer h.flushMu.Unlock()
	h.mu.Lock()
	changes, acks := h.pending, h.acks
	h.pending, h.acks = nil, nil
	h.mu.Unlock()
	if len(changes) == 0 && len(acks) == 0 {
		return
	}
	h.store.Write(h.opts.User, h.epoch, changes, func(err error) {
		if err != nil {
			h.log.Error("store: write failed", "err", err)
			h.storeErr.Store(&err)
		} else {
			h.storeErr.Store(nil)
		}
		for _, ack := range acks {
			ack(err)
		}
	})
}

// writeLocked queues a change to the store.
func (h *Hub) writeLocked(c storage.Change) { h.pending = append(h.pending, c) }

// waitLocked returns a channel that is closed at the next change.
func (h *Hub) waitLocked() <-chan struct{} {
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return h.changed
}

// nextLocked returns the next sequence number.
func (h *Hub) nextLocked() uint64 {
	h.seq++
	return h.seq
}
