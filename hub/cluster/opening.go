package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tabhub/spec"
)

const (
	// maxOpening is how many hubs are opened at once: when one of three nodes dies, a third of all
	// users come.
	maxOpening = 64
	// After a failed opening, the next attempt waits for firstRest, then twice as long each time, up
	// to maxRest: clients ask again at once, and other users wait for their turn.
	firstRest, maxRest = 100 * time.Millisecond, 5 * time.Second
)

// opening is a user's hub that is being opened, or could not be.
type opening struct {
	done chan struct{} // closed when what follows is set
	by   *Member       // the user's owner node; nil: this node, unless there is an error
	err  error
	left bool          // the request that opened it ended; another must try
	rest time.Duration // after an error
	end  time.Time     // of the rest
}

// waits reports whether the hub is being opened, or must rest before the next attempt.
func (o *opening) waits() bool {
	select {
	case <-o.done:
		return time.Now().Before(o.end)
	default:
		return true
	}
}

// open opens the user's hub here, or returns the owner node. Of several callers for one user, the first
// opens it, and the others wait for the result.
func (u *Users) open(ctx context.Context, user spec.UserID) (*Member, error) {
	for {
		u.mu.Lock()
		o := u.openings[user]
		if o == nil || !o.waits() {
			mine := &opening{done: make(chan struct{})}
			if o != nil {
				mine.rest = o.rest
			}
			u.openings[user] = mine
			u.mu.Unlock()
			u.finish(ctx, user, mine)
			return mine.by, mine.err
		}
		u.mu.Unlock()
		select {
		case <-o.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if !o.left {
			return o.by, o.err
		}
	}
}

// finish opens the user's hub, and remembers a failure for a while.
func (u *Users) finish(ctx context.Context, user spec.UserID, o *opening) {
	o.by, o.err = u.tryOpen(ctx, user)
	u.mu.Lock()
	defer u.mu.Unlock()
	defer close(o.done)
	o.left = o.err != nil && ctx.Err() != nil
	if o.err == nil || o.left {
		delete(u.openings, user)
		return
	}
	u.stats.failed.Add(1)
	o.rest = min(max(2*o.rest, firstRest), maxRest)
	o.end = time.Now().Add(o.rest)
	time.AfterFunc(2*maxRest, func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.openings[user] == o {
			delete(u.openings, user)
		}
	})
}

// errNotOpened is what the user reads.
var errNotOpened = spec.Errorf(spec.CodeInternal, "your hub cannot be opened now, and nothing was done; the log of the hub says why")

// tryOpen opens the user's hub here, or returns the owner node.
func (u *Users) tryOpen(ctx context.Context, user spec.UserID) (*Member, error) {
	select {
	case u.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	began := time.Now()
	err := u.tenants.Open(ctx, user)
	<-u.turns
	if owned, ok := errors.AsType[*OwnedError](err); ok {
		u.note(user, owned.By.ID())
		return &owned.By, nil
	}
	if errors.Is(err, errLeaving) {
		if m := u.node.Place(user); m.ID() != u.node.ID() {
			u.note(user, m.ID())
			return &m, nil
		}
	}
	if err != nil && ctx.Err() == nil {
		if _, public := errors.AsType[*spec.Error](err); !public {
			err = fmt.Errorf("%w: %w", errNotOpened, err)
		}
	}
	if err != nil {
		return nil, err
	}
	u.note(user, u.node.ID())
	u.opened(time.Since(began))
	return nil, nil
}
