package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"tabhub/hub/cluster/forward"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/jetstream"
)

// Tenants are the users whose hubs are open in this process.
type Tenants interface {
	// Has reports whether a user's hub is open. It does not block.
	Has(spec.UserID) bool
	// Open opens a user's hub, if it is not; it loads the user's journal, which asks
	// Users.May. It blocks.
	Open(context.Context, spec.UserID) error
	// LetGo closes a user's hub in good order, and releases the journal. It blocks while calls are in
	// flight, until ctx ends.
	LetGo(context.Context, spec.UserID) error
	// Users returns the users whose hubs are open, being opened or being closed.
	Users() []spec.UserID
	// Settle waits while a user's hub is being opened or closed.
	Settle(context.Context, spec.UserID) error
	// Busy reports whether a call of the user is in flight.
	Busy(spec.UserID) bool
}

// Journals are those of all users (package storage/jetstream).
type Journals interface {
	// Writer returns the last writer of a user's journal. It may be out of date.
	Writer(context.Context, spec.UserID) (jetstream.Writer, error)
}

// Users finds the owner nodes of users, and opens the hubs of local users. Its methods are safe for
// concurrent use.
type Users struct {
	node     *Node
	journals Journals
	tenants  Tenants
	log      *slog.Logger

	forwarder *forward.Forwarder
	forward   func(Member, spec.UserID) http.Handler                                                    // serves a user's requests by another node
	ask       func(ctx context.Context, node, method, path string) (status int, body []byte, err error) // askNode, but in tests

	turns    chan struct{} // buffered maxOpening: has an element for each hub that is being opened
	moves    chan struct{} // buffered maxMoves: has an element for each user that is moving
	opened   func(took time.Duration)
	stats    usersStats
	trouble  atomic.Pointer[string]
	isolated atomic.Bool // this node alone has lost touch with NATS: nobody waits for its lease

	mu       sync.Mutex
	known    map[spec.UserID]string        // the ID of a user's last known owner node; a guess
	moving   map[spec.UserID]chan struct{} // closed when a user has moved
	openings map[spec.UserID]*opening
}

// maxKnown bounds the guesses. At the bound they are all dropped and read from the journals again.
const maxKnown = 1 << 17

// locateTimeout is how long a request waits for the owner node of its user.
const locateTimeout = 15 * time.Second

// UsersOptions are what a Users needs.
type UsersOptions struct {
	Node     *Node
	Journals Journals
	Tenants  Tenants
	// Opened is called after each opening of a hub here, with the time that it took. It must not block.
	// May be nil.
	Opened func(took time.Duration)
	Log    *slog.Logger // nil discards
}

// NewUsers returns the Users of a node.
func NewUsers(o UsersOptions) *Users {
	if o.Opened == nil {
		o.Opened = func(time.Duration) {}
	}
	u := &Users{
		node: o.Node, journals: o.Journals, tenants: o.Tenants,
		log:   cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		turns: make(chan struct{}, maxOpening), moves: make(chan struct{}, maxMoves), opened: o.Opened,
		known: map[spec.UserID]string{}, moving: map[spec.UserID]chan struct{}{}, openings: map[spec.UserID]*opening{},
	}
	u.forwarder = forward.New(forward.Options{Dial: u.dial, Alive: o.Node.Alive, Log: u.log})
	u.forward = func(to Member, user spec.UserID) http.Handler {
		return u.forwarder.To(to.ID(), func(ctx context.Context, node, owner string) (string, error) {
			return u.Again(ctx, user, node, owner)
		})
	}
	u.ask = u.askNode
	return u
}

// OwnedError says that another node has a user. It is a storage.ErrOwned.
type OwnedError struct {
	User spec.UserID
	By   Member
}

// Is reports whether target is storage.ErrOwned.
func (e *OwnedError) Is(target error) bool { return target == storage.ErrOwned }

func (e *OwnedError) Error() string {
	return fmt.Sprintf("user %q is served by node %s", e.User, e.By.Name)
}

// errLeaving says that this node takes no users.
var errLeaving = errors.New("this node is being drained; another takes the user")

// May returns nil if this node may take a user over from the journal's last writer: that has released
// the user, or its lease has ended. It blocks until this is known, and while this node has no lease. A
// user that this node has not released stays its own while it drains: no other node may take the user.
func (u *Users) May(ctx context.Context, user spec.UserID, from jetstream.Writer) error {
	if err := u.awaitLease(ctx); err != nil {
		return err
	}
	self := u.node.Self()
	if !from.Released && from.Node != "" {
		if from.Node == self.ID() {
			return nil
		}
		ended := false
		if _, ok := u.node.Member(from.Node); !ok {
			var err error
			if ended, err = u.node.Ended(ctx, from.Node); err != nil {
				return err
			}
		}
		if !ended {
			by, _ := u.node.Member(from.Node)
			u.note(user, by.ID())
			return &OwnedError{user, by}
		}
	}
	if self.State != Ready && self.State != Suspended { // a suspended node cannot claim the journal, but may get its lease back
		return errLeaving
	}
	return nil
}

// Has reports whether the user's hub is open here.
func (u *Users) Has(user spec.UserID) bool { return u.tenants.Has(user) }

// Locate opens the user's hub here and returns nil, or returns the handler that forwards the user's
// requests to the owner node. It blocks while this node has no lease, the user moves, or the lease of
// a dead owner node has not ended yet.
func (u *Users) Locate(ctx context.Context, user spec.UserID) (remote http.Handler, err error) {
	m, err := u.locate(ctx, user)
	if err != nil || m == nil {
		return nil, err
	}
	return u.forward(*m, user), nil
}

// Take opens the user's hub here, if no other node has it, for a request that another node has forwarded.
// The error is storage.ErrOwned if another node has the user, or is about to.
func (u *Users) Take(ctx context.Context, user spec.UserID) error {
	by, err := u.here(ctx, user)
	switch {
	case errors.Is(err, ErrIsolated):
		return fmt.Errorf("%w: %w", storage.ErrOwned, err)
	case err == nil && by != nil:
		return &OwnedError{user, *by}
	}
	return err
}

// here opens the user's hub here, or returns the owner node.
func (u *Users) here(ctx context.Context, user spec.UserID) (by *Member, err error) {
	ctx, cancel := u.within(ctx, user)
	defer cancel()
	if err := u.await(ctx, user); err != nil || u.tenants.Has(user) {
		return nil, err
	}
	return u.open(ctx, user)
}

func (u *Users) within(ctx context.Context, user spec.UserID) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, locateTimeout, fmt.Errorf("no node has taken user %q within %s; try again", user, locateTimeout))
}

func (u *Users) locate(ctx context.Context, user spec.UserID) (*Member, error) {
	ctx, cancel := u.within(ctx, user)
	defer cancel()
	for {
		if err := u.await(ctx, user); err != nil {
			return nil, err
		}
		if u.tenants.Has(user) {
			return nil, nil
		}
		m, err := u.guess(ctx, user)
		if err != nil {
			return nil, err
		}
		if m.ID() != u.node.ID() {
			return &m, nil
		}
		by, err := u.open(ctx, user)
		if err != nil || by == nil {
			return nil, err
		}
		// Another node has opened it meanwhile; open has noted which.
	}
}

// await waits until this node has its lease and the user is not moving.
func (u *Users) await(ctx context.Context, user spec.UserID) error {
	if err := u.awaitLease(ctx); err != nil {
		return err
	}
	u.mu.Lock()
	moved := u.moving[user]
	u.mu.Unlock()
	if moved == nil {
		return nil
	}
	select {
	case <-moved:
		return u.await(ctx, user)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// guess returns the node that has the user, or should take the user, as far as this node knows.
func (u *Users) guess(ctx context.Context, user spec.UserID) (Member, error) {
	u.mu.Lock()
	id := u.known[user]
	u.mu.Unlock()
	if m, ok := u.node.Member(id); ok {
		return m, nil
	}
	w, err := u.journals.Writer(ctx, user)
	if err != nil {
		return Member{}, err
	}
	m, ok := u.node.Member(w.Node)
	if !ok || w.Released {
		m = u.node.Place(user)
	}
	u.note(user, m.ID())
	return m, nil
}

// Again returns the owner node for a request that a node has not taken. Either that node does not have
// the user, and names the owner if it knows; or it could not be reached, and Again waits until it is
// back or another node can take its users.
func (u *Users) Again(ctx context.Context, user spec.UserID, node, owner string) (next string, err error) {
	u.forget(user)
	if owner != "" && owner != node {
		u.note(user, owner)
	}
	m, err := u.locate(ctx, user)
	if err != nil {
		return "", err
	}
	if m == nil {
		return u.node.ID(), nil
	}
	if m.ID() == node && owner == "" {
		changed := u.node.Changed().Wait()
		t := time.NewTimer(retry)
		defer t.Stop()
		select {
		case <-changed:
		case <-t.C:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
	return m.ID(), nil
}

// retry is the interval of attempts to reach a node that may be dead.
const retry = 250 * time.Millisecond

// forget drops the guess for a user.
func (u *Users) forget(user spec.UserID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.known, user)
}

func (u *Users) note(user spec.UserID, node string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.known) >= maxKnown {
		clear(u.known)
	}
	u.known[user] = node
}
