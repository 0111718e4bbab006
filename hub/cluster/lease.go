package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"tabhub/hub/broadcast"
)

// timing is how long a lease lasts. All nodes of a cluster must agree on ttl; tests use less.
type timing struct {
	ttl   time.Duration // others declare a node ended when they have seen no renewal for this long
	hold  time.Duration // the node holds its lease for this long after it sent a renewal; less than ttl
	renew time.Duration // between renewals, and the timeout of one
	retry time.Duration // between attempts while NATS does not answer
	lose  time.Duration // users are closed when the lease has not been held for this long
}

var usual = timing{ttl: 3500 * time.Millisecond, hold: 2700 * time.Millisecond, renew: 700 * time.Millisecond, retry: 100 * time.Millisecond, lose: 30 * time.Second}

// ErrLeft says that a node has no lease for good: it has left its cluster, or another has replaced it.
var ErrLeft = errors.New("this node has left the cluster")

// Lease is the right of a node to act for its users. It is safe for concurrent use.
type Lease struct {
	hold    time.Duration
	granted atomic.Pointer[instant] // when the last renewal that succeeded was sent; nil: not held
	term    atomic.Pointer[Term]    // the present one, or the last, which is over
	renewed atomic.Int64            // when the last renewal that succeeded was sent, in ns of the monotonic clock
	left    atomic.Bool             // for good
	changed broadcast.Signal        // granted, or left
}

// Age returns how long ago the last renewal that succeeded was sent.
func (l *Lease) Age() time.Duration { return quick().mono - time.Duration(l.renewed.Load()) }

// Rest returns how long the lease is held if it is not renewed; less than 0 if it is not held.
func (l *Lease) Rest() time.Duration { return l.hold - l.Age() }

// Held reports from memory whether the node holds its lease at this moment. If not, it must not send
// anything to a tab or answer for a user: another node may be doing so.
func (l *Lease) Held() bool {
	sent := l.granted.Load()
	return sent != nil && !l.left.Load() && sent.within(l.hold)
}

// Term returns the present term, or the last one if it is over and there is no next one yet.
func (l *Lease) Term() *Term { return l.term.Load() }

// Term is the time from the making of a lease until Options.Lost is called; moments in which the
// lease is not held are part of it. The code that opens a user's hub takes the term first and stays
// with it: a hub whose opening began before the lease was lost must not serve under the next lease,
// which the user's journal does not name. It is safe for concurrent use.
type Term struct {
	lease *Lease
	ctx   context.Context
	over  context.CancelCauseFunc
}

// Held reports from memory whether the lease is held and the term is not over.
func (t *Term) Held() bool {
	return t.lease.Held() && t.ctx.Err() == nil // in this order: the next term comes after the end of this one
}

// Context ends with the term, and says why.
func (t *Term) Context() context.Context { return t.ctx }

// why returns why the term is over; nil while it lasts.
func (t *Term) why() error {
	if t == nil {
		return nil
	}
	return context.Cause(t.ctx)
}

// Await blocks until the lease is held. It fails when the term is over, and with the context's
// cause.
func (t *Term) Await(ctx context.Context) error {
	for {
		changed := t.lease.changed.Wait()
		switch {
		case t.ctx.Err() != nil:
			return context.Cause(t.ctx)
		case t.lease.left.Load():
			return ErrLeft
		case t.Held():
			return nil
		}
		select {
		case <-changed:
		case <-t.ctx.Done():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// grant holds the lease, counted from the sending of a renewal that has succeeded.
func (l *Lease) grant(sent *instant) {
	if t := l.term.Load(); t == nil || t.ctx.Err() != nil {
		ctx, over := context.WithCancelCause(context.Background())
		l.term.Store(&Term{l, ctx, over})
	}
	l.granted.Store(sent)
	l.renewed.Store(int64(sent.mono))
	l.changed.Fire()
}

// end ends the term, and the lease until it is granted again.
func (l *Lease) end(why error) {
	l.granted.Store(nil)
	if t := l.term.Load(); t != nil {
		t.over(why)
	}
}

// leave ends the lease for good.
func (l *Lease) leave() {
	l.left.Store(true)
	l.end(ErrLeft)
	l.changed.Fire()
}
