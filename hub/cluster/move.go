package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"tabhub/spec"
)

// move is a user on the way from this node to another. While it lasts, requests of the user
// wait here.
type move struct {
	to   string        // the node's ID; "" for whichever takes the user
	done chan struct{} // closed at the end
}

const (
	// quietWait is how long a user who moves may have calls under way before they are cut short.
	quietWait = 30 * time.Second
	// quietLook is how often it is looked whether there are any.
	quietLook = 20 * time.Millisecond
	// moves is how many users move at once when a node is drained.
	moves = 16
)

// Errors of Move.
var (
	ErrNotHere = errors.New("the user's hub is not open on this node")
	ErrNoNode  = errors.New("there is no other node that is ready")
)

// Move gives a user to another node: it waits for a moment without calls, closes the user's hub
// in good order, gives the journal back, and has the other node open it. Requests that come
// meanwhile wait, and go there. Calls that take too long are cut short as at the end of
// a process.
func (u *Users) Move(ctx context.Context, user spec.UserID, to Member) error {
	if !u.tenants.Has(user) {
		return ErrNotHere
	}
	if err := u.quiet(ctx, user); err != nil {
		return err
	}
	m := &move{to: to.ID(), done: make(chan struct{})}
	u.mu.Lock()
	other := u.moving[user]
	if other == nil {
		u.moving[user] = m
	}
	u.mu.Unlock()
	if other != nil {
		return fmt.Errorf("user %q is moving already", user)
	}
	defer func() {
		u.mu.Lock()
		delete(u.moving, user)
		u.mu.Unlock()
		close(m.done)
	}()
	if err := u.tenants.LetGo(ctx, user); err != nil {
		return err
	}
	u.stats.moved.Add(1)
	u.note(user, to.ID())
	return u.take(ctx, to, user)
}

// quiet waits for a moment without calls of the user, but not for ever.
func (u *Users) quiet(ctx context.Context, user spec.UserID) error {
	late := time.NewTimer(quietWait)
	defer late.Stop()
	look := time.NewTicker(quietLook)
	defer look.Stop()
	for u.tenants.Busy(user) {
		select {
		case <-look.C:
		case <-late.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Next returns the node that a user is given to who is leaving this one, "" if that is left
// open: what the journal is to say when it is given back.
func (u *Users) Next(user spec.UserID) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if m := u.moving[user]; m != nil {
		return m.to
	}
	return ""
}

// Drain gives all users of this node to others, some at a time, and returns when there are none
// left. From now on the node takes none.
func (u *Users) Drain(ctx context.Context) error {
	u.node.Drain()
	for {
		users := u.tenants.Users()
		if len(users) == 0 {
			return nil
		}
		// Those that were being opened when it began come in the next round.
		if err := u.moveAll(ctx, users); err != nil {
			return err
		}
	}
}

// moveAll gives users to other nodes.
func (u *Users) moveAll(ctx context.Context, users []spec.UserID) error {
	var wg sync.WaitGroup
	errs := make([]error, len(users))
	under := make(chan struct{}, moves)
	for i, user := range users {
		to := u.node.Place(user)
		if to.ID() == u.node.Self().ID() {
			errs[i] = ErrNoNode
			break
		}
		under <- struct{}{}
		wg.Go(func() {
			defer func() { <-under }()
			if err := u.Move(ctx, user, to); err != nil && !errors.Is(err, ErrNotHere) {
				errs[i] = fmt.Errorf("user %q: %w", user, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
