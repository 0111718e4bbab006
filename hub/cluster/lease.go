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
	renew time.Duration // between renewals, and how long one is waited for
	retry time.Duration // between attempts while NATS does not answer
	lose  time.Duration // users are closed when the lease has not been held for this long
}

var usual = timing{ttl: 4 * time.Second, hold: 3 * time.Second, renew: time.Second, retry: 100 * time.Millisecond, lose: 10 * time.Second}

// ErrLeft says that a node has left its cluster, or has been replaced, and holds no lease any more.
var ErrLeft = errors.New("this node has left the cluster")

// Lease is the right of a node to act for its users. It is safe for concurrent use.
type Lease struct {
	hold    time.Duration
	granted atomic.Pointer[instant] // when the last renewal that succeeded was sent; nil: not held
	left    atomic.Bool             // for good
	changed broadcast.Signal        // granted, or left
}

// Held reports whether the node holds its lease at this moment, from memory. If it does not,
// nothing may be sent to a tab or answered for a user: another node may be doing so.
func (l *Lease) Held() bool {
	sent := l.granted.Load()
	return sent != nil && sent.within(l.hold)
}

// Await blocks until the lease is held. It fails with ErrLeft when it never will be again, and
// with the context's cause.
func (l *Lease) Await(ctx context.Context) error {
	for {
		changed := l.changed.Wait()
		switch {
		case l.left.Load():
			return ErrLeft
		case l.Held():
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// grant holds the lease from when a renewal that has succeeded was sent.
func (l *Lease) grant(sent *instant) {
	l.granted.Store(sent)
	l.changed.Fire()
}

// end gives the lease up until it is granted again.
func (l *Lease) end() { l.granted.Store(nil) }

// leave ends the lease for good.
func (l *Lease) leave() {
	l.left.Store(true)
	l.end()
	l.changed.Fire()
}
