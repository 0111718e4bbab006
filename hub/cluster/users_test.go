package cluster

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/storage/jetstream"
	"tabhub/storage/jetstream/natstest"
)

// A user who comes back between NATS's return and the node's first renewal must not read that the
// node is draining: a moment later nothing is wrong.
func TestMayAwaitsTheLease(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	proxy := natstest.NewProxy(t, c.URL(0))
	a := places{}.add(t, c.ConnTo(t, proxy.URL()), "a")
	proxy.Break()
	until(t, a.node, "it is suspended", func() bool { return a.node.Self().State == Suspended })
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.May(gone, "ann", jetstream.Writer{}); !errors.Is(err, context.Canceled) {
		t.Errorf("without a lease: %v", err)
	}
	proxy.Mend()
	if err := a.May(t.Context(), "ann", jetstream.Writer{}); err != nil {
		t.Errorf("with a lease again: %v", err)
	}
	a.node.Drain()
	if err := a.May(t.Context(), "ann", jetstream.Writer{}); !errors.Is(err, errLeaving) {
		t.Errorf("while it drains: %v", err)
	}
}

// Forwarding a request must not count this node's users, of whom there may be many.
func TestLocateCountsNoUsers(t *testing.T) {
	t.Parallel()
	here, there := Member{Name: "a", Incarnation: incarnationAt(time.Now(), ""), State: Ready}, Member{Name: "b", Incarnation: incarnationAt(time.Now(), ""), State: Ready}
	n := &Node{self: here, lease: Lease{hold: time.Hour}, entries: map[string]*entry{"b": {record: record{Member: there}}}}
	n.lease.grant(now())
	n.SetUsers(func() int { t.Error("the users are counted"); return 0 })
	u := NewUsers(UsersOptions{Node: n, Tenants: &hubs{}})
	u.forward = func(to Member, _ spec.UserID) http.Handler { return remoteAt(to.Name) }
	u.note("ann", there.ID())
	if at, err := u.Locate(t.Context(), "ann"); at != remoteAt("b") || err != nil {
		t.Error(at, err)
	}
}
