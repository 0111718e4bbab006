package cluster

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// ErrIsolated says that this node has lost touch with NATS while others have not: they take over
// what it has, and answer what it cannot.
var ErrIsolated = errors.New("this node has lost touch with its cluster")

// isolatedBy is by how much another node must have renewed its lease later than this one, for this
// one to be isolated: while NATS serves nobody, all have done so at about the same time.
const isolatedBy = 1800 * time.Millisecond

// touchLook is how often a node that cannot renew its lease asks the others whether they can.
const touchLook = 300 * time.Millisecond

// touch is whether a node without a lease is the only one: then nobody waits for it.
type touch struct {
	mu       sync.Mutex
	isolated chan struct{} // closed while it is; nil before anybody waited
	is       bool
}

// wait returns what is closed while the node is isolated.
func (t *touch) wait() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isolated == nil {
		t.isolated = make(chan struct{})
	}
	return t.isolated
}

// set notes whether the node is isolated, and reports whether that is news.
func (t *touch) set(is bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.is == is {
		return false
	}
	t.is = is
	if is {
		if t.isolated == nil {
			t.isolated = make(chan struct{})
		}
		close(t.isolated)
	} else {
		t.isolated = nil
	}
	return true
}

// awaitLease waits for the node's lease, but not while the node is isolated.
func (u *Users) awaitLease(ctx context.Context) error {
	if u.node.Lease().Held() {
		return nil
	}
	waiting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	held := make(chan error, 1)
	go func() { held <- u.node.Lease().Await(waiting) }()
	select {
	case err := <-held:
		return err
	case <-u.touch.wait():
		cancel(ErrIsolated)
		return <-held
	}
}

// Watch finds out, until ctx ends, when the node is isolated, and calls lost then: all users are to
// be closed, so that their clients and browsers go to nodes that can serve them.
func (u *Users) Watch(ctx context.Context, lost func(error)) {
	for {
		changed := u.node.Changed().Wait()
		var again <-chan time.Time
		if u.node.Lease().Held() {
			u.touch.set(false)
		} else {
			if u.isIsolated(ctx) && u.touch.set(true) {
				u.log.Warn("this node has lost touch with its cluster: its users go to other nodes")
				lost(ErrIsolated)
			}
			again = time.After(touchLook)
		}
		select {
		case <-changed:
		case <-again:
		case <-ctx.Done():
			return
		}
	}
}

// isIsolated reports whether another node renews its lease while this one cannot.
func (u *Users) isIsolated(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*touchLook)
	defer cancel()
	self := u.node.Self().ID()
	later := make(chan bool)
	asked := 0
	for _, m := range u.node.Members() {
		if m.ID() == self {
			continue
		}
		asked++
		go func() {
			status, body, err := u.ask(ctx, m.ID(), http.MethodPost, pathAge)
			if turnedAway(err) {
				later <- true
				return
			}
			own := u.node.Lease().Age()
			age, bad := strconv.ParseInt(string(body), 10, 64)
			later <- err == nil && bad == nil && status == http.StatusOK && own-time.Duration(age) >= isolatedBy
		}()
	}
	some := false
	for range asked {
		some = <-later || some
	}
	return some && !u.node.Lease().Held()
}

// turnedAway reports whether a node has refused this one's certificate: its lease has ended, and
// others know.
func turnedAway(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error"
}
