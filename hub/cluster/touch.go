package cluster

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"syscall"
	"time"
)

// ErrIsolated says that this node has lost touch with NATS while others have not: they take over
// what it has, and answer what it cannot.
var ErrIsolated = errors.New("this node has lost touch with its cluster")

// isolatedBy is by how much another node must have renewed its lease later than this one, for this
// one to be isolated: while NATS serves nobody, all have done so at about the same time.
const isolatedBy = 1800 * time.Millisecond

// A node that cannot renew its lease asks the others whether they can, every touchLook, and waits
// for touchTimeout.
const touchLook, touchTimeout = 300 * time.Millisecond, 2 * time.Second

// awaitLease waits for the node's lease, but not while the node is isolated.
func (u *Users) awaitLease(ctx context.Context) error {
	for {
		changed := u.node.Changed().Wait()
		switch {
		case u.node.Lease().Held():
			return nil
		case u.node.lease.left.Load():
			return ErrLeft
		case u.isolated.Load():
			return ErrIsolated
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Watch finds out, until ctx ends, when the node is isolated, and calls lost then: all users are to
// be closed, so that their clients and browsers go to nodes that can serve them.
func (u *Users) Watch(ctx context.Context, lost func(error)) {
	for {
		changed := u.node.Changed().Wait()
		again := touchLook
		if u.node.Lease().Held() {
			u.isolated.Store(false)
			again = max(u.node.Lease().Rest(), time.Millisecond)
		} else if u.isIsolated(ctx) && !u.isolated.Swap(true) {
			u.node.changed.Fire()
			u.log.Warn("this node has lost touch with its cluster: its users go to other nodes")
			lost(ErrIsolated)
		}
		select {
		case <-changed:
		case <-time.After(again):
		case <-ctx.Done():
			return
		}
	}
}

// isIsolated reports whether another node renews its lease while this one cannot.
func (u *Users) isIsolated(ctx context.Context) bool {
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	later := u.askOthers(ctx, touchTimeout, func(body []byte, err error) bool {
		age, bad := strconv.ParseInt(string(body), 10, 64)
		yes := turnedAway(err) || err == nil && bad == nil && u.node.Lease().Age()-time.Duration(age) >= isolatedBy
		if yes {
			enough()
		}
		return yes
	})
	return len(later) > 0 && !u.node.Lease().Held()
}

// turnedAway reports whether a node has refused this one's certificate, as its lease has ended and
// others know. What the node says of that may be lost with the connection, which it ends. By TLS 1.3
// that comes after the handshake of this side: a connection that was not made says nothing, as what
// closed it may be anything that listens at the address.
func turnedAway(err error) bool {
	if errors.Is(err, ErrUnreachable) {
		return false
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error" || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF)
}
