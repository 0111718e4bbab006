package hub

import (
	"context"
	"errors"
	"sync"

	"tabhub/spec"
)

// Users hands out the Hub of each user. What belongs to one user cannot be reached
// through another's Hub: they share nothing but the process. All methods are safe
// for concurrent use.
type Users struct {
	openHub func(ctx context.Context, user spec.UserID) (*Hub, error)

	mu     sync.Mutex
	closed bool
	hubs   map[spec.UserID]*userHub
}

// userHub is a Hub that is open or being opened.
type userHub struct {
	ready chan struct{} // closed when hub or err is set
	hub   *Hub
	err   error
}

// NewUsers returns Users that open each Hub with open when it is first asked for.
func NewUsers(open func(ctx context.Context, user spec.UserID) (*Hub, error)) *Users {
	return &Users{openHub: open, hubs: map[spec.UserID]*userHub{}}
}

// Get returns the user's Hub, opening it if need be. It blocks while another Get
// opens it. A Hub that could not be opened is tried again by the next Get.
func (u *Users) Get(ctx context.Context, user spec.UserID) (*Hub, error) {
	if user == "" {
		return nil, errors.New("no user")
	}
	u.mu.Lock()
	if u.closed {
		u.mu.Unlock()
		return nil, errClosed
	}
	e := u.hubs[user]
	opener := e == nil
	if opener {
		e = &userHub{ready: make(chan struct{})}
		u.hubs[user] = e
	}
	u.mu.Unlock()
	if opener {
		e.hub, e.err = u.openHub(context.WithoutCancel(ctx), user)
		if e.err != nil {
			u.mu.Lock()
			delete(u.hubs, user)
			u.mu.Unlock()
		}
		close(e.ready)
	}
	select {
	case <-e.ready:
		return e.hub, e.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close closes all Hubs, at once, as Hub.Close does. Get fails from then on.
func (u *Users) Close(ctx context.Context) error {
	u.mu.Lock()
	u.closed = true
	hubs := u.hubs
	u.hubs = map[spec.UserID]*userHub{}
	u.mu.Unlock()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for _, e := range hubs {
		wg.Go(func() {
			<-e.ready
			if e.err != nil {
				return
			}
			if err := e.hub.Close(ctx); err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
