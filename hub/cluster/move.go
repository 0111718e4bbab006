package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"tabhub/spec"
)

const (
	quietWait = 30 * time.Second      // how long a move waits for the user's calls before it cuts them short
	quietLook = 20 * time.Millisecond // how often it looks for calls in flight
	maxMoves  = 16                    // how many users move at once
)

// Errors of Drain.
var (
	ErrNoNode    = errors.New("there is no other node that is ready")
	errUndrained = errors.New("the drain was taken back")
)

// quiet waits up to quietWait for a moment without calls of the user.
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

// Drain moves all users of this node to others, some at a time, and returns when none are left. The
// node takes no users from now on, until Undrain. If no other node can take them, the error is
// ErrNoNode, and this node goes on.
func (u *Users) Drain(ctx context.Context) error {
	was := u.node.Self().State
	if was != Draining && !u.others() {
		return ErrNoNode
	}
	u.node.Drain()
	err := u.drain(ctx)
	if !errors.Is(err, ErrNoNode) {
		return err
	}
	if was != Draining {
		u.Undrain() // the others drained at the same time
	}
	return ErrNoNode
}

// Undrain lets the node take users again, and ends a Drain.
func (u *Users) Undrain() {
	if u.node.Self().State == Draining {
		u.node.Ready()
	}
}

// others reports whether there is another node that takes users.
func (u *Users) others() bool {
	self := u.node.ID()
	return slices.ContainsFunc(u.node.Members(), func(m Member) bool { return m.State == Ready && m.ID() != self })
}

func (u *Users) drain(ctx context.Context) error {
	for u.node.Self().State == Draining {
		users := u.tenants.Users()
		if len(users) == 0 {
			return nil
		}
		// Hubs that are being opened may come only in the next round.
		if err := u.moveAll(ctx, users); err != nil {
			return err
		}
	}
	return errUndrained
}

// moveAll moves users to other nodes. A user with calls in flight does not delay the others.
func (u *Users) moveAll(ctx context.Context, users []spec.UserID) error {
	var wg sync.WaitGroup
	errs := make([]error, len(users))
	for i, user := range users {
		wg.Go(func() {
			if err := u.moveAway(ctx, user); err != nil {
				errs[i] = fmt.Errorf("user %q: %w", user, err)
			}
		})
	}
	wg.Wait()
	err := errors.Join(errs...)
	if err != nil && ctx.Err() != nil { // of each of them
		err = fmt.Errorf("%d users are left: %w", len(u.tenants.Users()), context.Cause(ctx))
	}
	return err
}

// moveAway waits for a moment without calls, closes the user's hub in good order, and releases the
// journal. Requests that come meanwhile wait; the next one opens the hub on another node. Calls that
// take too long are cut short, as when the process ends.
func (u *Users) moveAway(ctx context.Context, user spec.UserID) error {
	if err := u.tenants.Settle(ctx, user); err != nil || !u.tenants.Has(user) {
		return err
	}
	if u.node.Place(user).ID() == u.node.ID() {
		return ErrNoNode
	}
	if err := u.quiet(ctx, user); err != nil {
		return err
	}
	select {
	case u.moves <- struct{}{}:
		defer func() { <-u.moves }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	done := make(chan struct{})
	u.mu.Lock()
	other := u.moving[user]
	if other == nil {
		u.moving[user] = done
	}
	u.mu.Unlock()
	if other != nil {
		return nil // another drain moves this user
	}
	defer func() {
		u.mu.Lock()
		delete(u.moving, user)
		delete(u.known, user)
		u.mu.Unlock()
		close(done)
	}()
	if err := u.tenants.LetGo(ctx, user); err != nil {
		return err
	}
	u.stats.moved.Add(1)
	return nil
}
