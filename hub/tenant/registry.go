package tenant

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

	"tabhub/spec"
)

// ErrClosed is why Get opens no tenant while the process ends.
var ErrClosed = errors.New("the hub is shutting down")

const (
	// openTimeout is how long a tenant may take to open. A later Get begins anew.
	openTimeout = time.Minute
	// closeTimeout is how long the requests of a Hub may take that has ended by itself, or by LetGo.
	closeTimeout = 8 * time.Second
)

// Registry has the tenants of a process. All methods are safe for concurrent use.
type Registry struct {
	open    func(ctx context.Context, user spec.UserID) (*Tenant, error)
	log     *slog.Logger
	running sync.WaitGroup // the goroutines of run
	serving atomic.Int64   // tenants that are open

	mu       sync.Mutex
	draining bool
	entries  map[spec.UserID]*entry
	closing  chan struct{}   // closed by Close
	closeCtx context.Context // of Close; set before closing is closed
	errs     []error         // of tenants that Close has closed
}

// entry is a tenant from the Get that has it opened until it is closed.
type entry struct {
	opened chan struct{} // closed when tenant or err is set
	tenant *Tenant
	err    error
	leave  chan struct{} // closed by LetGo
	left   bool          // it is; guarded by Registry.mu
	closed chan struct{} // closed when tenant is, and the entry has left the Registry
}

// New returns a Registry that opens tenants with open. It is called in a goroutine of the
// Registry, once at a time for a user. What a tenant's closing fails with while others go
// on is logged.
func New(open func(ctx context.Context, user spec.UserID) (*Tenant, error), log *slog.Logger) *Registry {
	return &Registry{open: open, log: log, entries: map[spec.UserID]*entry{}, closing: make(chan struct{})}
}

// Get returns the user's tenant, and has it opened if need be. It blocks until that is
// done, or until ctx is. Then the opening continues for the next Get.
func (r *Registry) Get(ctx context.Context, user spec.UserID) (*Tenant, error) {
	if user == "" {
		return nil, errors.New("no user")
	}
	for {
		e, err := r.entry(ctx, user)
		if err != nil {
			return nil, err
		}
		if err := e.await(ctx, e.opened); err != nil {
			return nil, err
		}
		if e.err != nil {
			return nil, e.err
		}
		if !e.ends() {
			return e.tenant, nil
		}
		if err := e.await(ctx, e.closed); err != nil {
			return nil, err
		}
	}
}

// await waits for opened or closed.
func (e *entry) await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ends reports whether a tenant that is open is about to be closed.
func (e *entry) ends() bool {
	select {
	case <-e.tenant.Hub.Core.Done():
		return true
	case <-e.leave:
		return true
	default:
		return false
	}
}

// entry returns the user's entry, which it makes if there is none.
func (r *Registry) entry(ctx context.Context, user spec.UserID) (*entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[user]; e != nil {
		return e, nil
	}
	if r.draining {
		return nil, ErrClosed
	}
	e := &entry{opened: make(chan struct{}), leave: make(chan struct{}), closed: make(chan struct{})}
	r.entries[user] = e
	r.running.Go(func() { r.run(context.WithoutCancel(ctx), user, e) })
	return e, nil
}

// openTenant opens a tenant, within a time that ends with that of Close.
func (r *Registry) openTenant(ctx context.Context, user spec.UserID) (*Tenant, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, openTimeout, fmt.Errorf("it was not open within %s", openTimeout))
	defer cancel()
	opened := make(chan struct{})
	defer close(opened)
	go func() {
		select {
		case <-r.closing:
			defer context.AfterFunc(r.closeCtx, cancel)()
			<-opened
		case <-opened:
		}
	}()
	return r.open(ctx, user)
}

// run is the life of a tenant.
func (r *Registry) run(ctx context.Context, user spec.UserID, e *entry) {
	e.tenant, e.err = r.openTenant(ctx, user)
	if e.err != nil {
		r.remove(user)
		close(e.opened)
		return
	}
	r.serving.Add(1)
	defer r.serving.Add(-1)
	close(e.opened)
	defer close(e.closed)
	defer r.remove(user)
	select {
	case <-e.tenant.Hub.Core.Done():
	case <-e.leave:
	case <-r.closing:
		err := e.tenant.Close(r.closeCtx)
		r.mu.Lock()
		r.errs = append(r.errs, err)
		r.mu.Unlock()
		return
	}
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	if err := e.tenant.Close(ctx); err != nil {
		r.log.Warn("a user's hub was closed before all was answered", "user", user, "err", err)
	}
}

// Has returns a user's tenant if it is open. It does not block.
func (r *Registry) Has(user spec.UserID) (*Tenant, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[user]
	if e == nil || e.left {
		return nil, false
	}
	select {
	case <-e.opened:
		return e.tenant, e.err == nil && e.tenant.Hub.Core.Err() == nil
	default:
		return nil, false
	}
}

// LetGo has a user's tenant closed, if there is one, as if its Hub had ended by itself, and
// waits for that. If ctx ends first, the closing continues.
func (r *Registry) LetGo(ctx context.Context, user spec.UserID) error {
	r.mu.Lock()
	if e := r.entries[user]; e != nil && !e.left {
		e.left = true
		close(e.leave)
	}
	r.mu.Unlock()
	return r.Settle(ctx, user)
}

// Settle waits while a user's tenant is being opened or closed.
func (r *Registry) Settle(ctx context.Context, user spec.UserID) error {
	r.mu.Lock()
	e := r.entries[user]
	r.mu.Unlock()
	if e == nil {
		return nil
	}
	if err := e.await(ctx, e.opened); err != nil || e.err != nil || !e.ends() {
		return err
	}
	return e.await(ctx, e.closed)
}

// Users returns the users whose tenants are open, being opened or being closed.
func (r *Registry) Users() []spec.UserID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.entries))
}

// Len returns how many tenants are open. It does not block.
func (r *Registry) Len() int { return int(r.serving.Load()) }

// Open returns the tenants that are open.
func (r *Registry) Open() (open []*Tenant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		select {
		case <-e.opened:
			if e.err == nil {
				open = append(open, e.tenant)
			}
		default:
		}
	}
	return open
}

func (r *Registry) remove(user spec.UserID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.entries, user)
}

// Drain opens no more tenants. The MCP servers of open tenants answer requests in flight,
// refuse others and end their streams. Drain blocks until they have or ctx is done. Get still
// returns the tenants.
func (r *Registry) Drain(ctx context.Context) {
	r.mu.Lock()
	r.draining = true
	entries := slices.Collect(maps.Values(r.entries))
	r.mu.Unlock()
	var wg sync.WaitGroup
	for _, e := range entries {
		wg.Go(func() {
			select {
			case <-e.opened:
			case <-ctx.Done():
				return // Close has the tenant closed once it is open
			}
			if e.err == nil {
				_ = e.tenant.MCP.Close(ctx) // closing the tenant reports it
			}
		})
	}
	wg.Wait()
}

// Close closes all tenants, at once, as Tenant.Close does, and waits for that. It opens no
// more. It is idempotent.
func (r *Registry) Close(ctx context.Context) error {
	r.mu.Lock()
	r.draining = true
	if r.closeCtx == nil {
		r.closeCtx = ctx
		close(r.closing)
	}
	r.mu.Unlock()
	r.running.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.errs...)
}
