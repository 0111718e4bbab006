package bridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tabhub/cmd/tabhub/internal/home"
)

// takeOverEvery is how often TakeOver looks whether the hub that runs has ended.
const takeOverEvery = time.Second

// TakeOver waits until this process has the directory's HubLock. A hub that a bridge has
// started is asked to end, whatever its version; its bridges come back to the one that takes
// its place. For one that the user has started it waits. It blocks until ctx ends.
func (c *Connector) TakeOver(ctx context.Context) (*home.Lock, error) {
	for {
		lock, wait, err := c.tryTakeOver(ctx)
		if err != nil || wait == nil {
			return lock, err
		}
		if !errors.Is(wait, home.ErrNoHub) { // it is about to listen, or about to end
			c.warn("this hub waits until another one has ended", "why", wait)
		}
		if !sleep(ctx, takeOverEvery) {
			return nil, ctx.Err()
		}
	}
}

// tryTakeOver returns the lock, or why to wait for it, or why that would be in vain. It holds
// the start lock: bridges that lose their hub wait for this process's.
func (c *Connector) tryTakeOver(ctx context.Context) (lock *home.Lock, wait, err error) {
	start, err := c.Dir.Lock(ctx, home.StartLock)
	if err != nil {
		return nil, nil, err
	}
	defer start.Unlock()
	if lock, err = c.Dir.TryLock(home.HubLock); !errors.Is(err, home.ErrHeld) {
		return lock, nil, err
	}
	h, err := c.Dir.Running()
	switch {
	case err != nil:
		return nil, err, nil
	case !h.Auto:
		return nil, fmt.Errorf("process %d was started by hand", h.PID), nil
	}
	if err := c.end(ctx, h); err != nil {
		return nil, err, nil
	}
	if lock, err = c.Dir.TryLock(home.HubLock); errors.Is(err, home.ErrHeld) {
		return nil, home.ErrNoHub, nil
	}
	return lock, nil, err
}
