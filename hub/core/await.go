package core

import (
	"context"

	"tabhub/spec"
)

// Await blocks until ready reports true. ready is asked at once and then after each
// change of the hub's state, from Await's goroutine and without a lock, so it may
// call the Hub's other methods. The error is ctx's cause, or a *Failure if the Hub
// has ended.
func (c *Core) Await(ctx context.Context, ready func() bool) error {
	for {
		changed := c.Changes()
		if ready() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.ctx.Done():
			return &Failure{Code: spec.FailNotConnected, Message: ending(c)}
		}
	}
}

// AwaitSignal blocks until something can be received. It returns early, with an error, when
// the call is over or the hub has ended.
func AwaitSignal[T any](ctx context.Context, h *Core, c <-chan T) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.ctx.Done():
		return h.EndedFailure(false)
	}
}
