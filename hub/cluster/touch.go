package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"

	"tabhub/spec"
	"tabhub/storage/jetstream/streams"
)

// ErrIsolated says that this node has lost touch with NATS while others have not: they take its users
// over.
var ErrIsolated = errors.New("this node has lost touch with its cluster")

// A node is isolated when another one has renewed its lease isolatedBy later. While NATS is down for
// all, their last renewals were at about the same time.
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
		case errors.Is(u.node.Lease().Term().why(), ErrSuspended): // not held for too long
			return errNoStorage
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", errNoStorage, context.Cause(ctx))
		}
	}
}

// errNoStorage is what the user reads.
var errNoStorage = spec.Errorf(spec.CodeInternal, "the hub's storage does not answer now, and nothing was done; try again in a moment")

// troubleEvery is how often a node that cannot renew its lease looks for the reason.
const troubleEvery = 3 * time.Second

// Trouble returns why the node cannot renew its lease, and what to do; "" if it can.
func (u *Users) Trouble() string {
	if why := u.trouble.Load(); why != nil && !u.node.Lease().Held() {
		return *why
	}
	return ""
}

// diagnose returns why NATS does not store this node's renewals. It blocks for some seconds at most.
func (n *Node) diagnose(ctx context.Context) string {
	if !n.opts.Conn.IsConnected() {
		return "no NATS server can be reached"
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, err := n.nodes.js.AccountInfo(ctx)
	if err == nil {
		_, err = n.nodes.last(ctx, n.self.Name)
	}
	switch {
	case err == nil:
		return "NATS answers, and does not store what this node writes: its disk may be full, or the stream's limit reached; make room, then restart the NATS servers"
	case streams.IsOff(err):
		return "the NATS servers have turned JetStream off, as they do when a disk is full: make room, then restart them"
	}
	return "JetStream does not answer: it may be electing a leader, too few servers may run, or their disks may be full; a server whose disk was full must be restarted when there is room"
}

// Watch closes the connections of dead nodes and calls lost when this node becomes isolated, until ctx
// ends. lost must close all users, so that their clients and browsers go to nodes that can serve them.
func (u *Users) Watch(ctx context.Context, lost func(error)) {
	var cutting sync.WaitGroup
	defer cutting.Wait()
	cutting.Go(func() { u.cutDead(ctx) })
	var looked time.Time // when it last diagnosed
	for {
		changed := u.node.Changed().Wait()
		again := touchLook
		switch {
		case u.node.Lease().Held():
			u.isolated.Store(false)
			again = max(u.node.Lease().Rest(), time.Millisecond)
		case u.isIsolated(ctx):
			if !u.isolated.Swap(true) {
				u.node.changed.Fire()
				u.log.Warn("this node has lost touch with its cluster: its users go to other nodes")
				lost(ErrIsolated)
			}
		case time.Since(looked) >= troubleEvery:
			was, why := u.Trouble(), u.node.diagnose(ctx)
			looked = time.Now()
			if u.trouble.Store(&why); why != was && !u.node.Lease().Held() {
				u.log.Warn("this node serves nobody: " + why)
			}
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

// turnedAway reports whether a node has refused this one's certificate, because it knows that this
// node's lease has ended. Its TLS alert may get lost when it closes the connection. In TLS 1.3 the
// refusal comes after this side's handshake; a handshake that fails proves nothing, as any program may
// listen at the address.
func turnedAway(err error) bool {
	if errors.Is(err, ErrUnreachable) {
		return false
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error" || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF)
}
