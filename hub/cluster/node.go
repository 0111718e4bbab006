package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"tabhub/hub/broadcast"
)

// Options are what Join needs. Conn, Name, URL, Secret and Serve must be set.
type Options struct {
	Conn     *nats.Conn // the node uses it, and leaves it open
	Name     string     // of the node, unique in the cluster and the same after a restart
	URL      string     // https://host:port where other nodes reach it
	Secret   []byte     // the cluster's; it is never sent. At least 16 bytes
	Version  string     // of the program, for people
	Replicas int        // of each stream in NATS; 0 is 3
	Log      *slog.Logger

	// HasUsers reports whether NATS has users' journals. Then Join makes no new cluster, which could not
	// read them, and fails if the cluster's identity is missing. It blocks. Nil: it has none.
	HasUsers func(context.Context) (bool, error)

	// Serve is called once, when the node has made its certificate. When it returns, a server with
	// this configuration must be listening at URL: Join then asks the other nodes to reach it.
	Serve func(*tls.Config) error

	// Lost is called when the node must not serve its present users any more: another node has
	// declared the lease ended (ErrEnded), the lease has not been held for too long (ErrSuspended),
	// or another node has replaced this one (ErrReplaced, for good). When Lost returns, all users
	// must be closed, as superseded; only then the node makes its next lease, with another ID. Lost
	// must not wait for that, nor call Leave. May be nil.
	Lost func(error)

	// For tests.
	timing timing           // zero: usual
	wall   func() time.Time // nil: time.Now
}

// The errors of Options.Lost.
var (
	ErrEnded     = errors.New("the lease of this node has ended")
	ErrSuspended = errors.New("this node has not been able to renew its lease")
	ErrReplaced  = errors.New("another node has taken the name of this one")
)

// Node is this process as a member of its cluster. It is safe for concurrent use.
type Node struct {
	// Static after construction.
	opts      Options
	log       *slog.Logger
	nodes     *bucket
	cluster   *bucket
	keys      keys
	ctx       context.Context // ends with Leave
	stop      context.CancelFunc
	done      chan struct{} // closed when the node is no longer a member
	wg        sync.WaitGroup
	documents *Documents
	hints     *Hints

	certificate atomic.Pointer[tls.Certificate] // of the present lease

	lease   Lease
	kick    chan struct{} // renew at once
	again   chan struct{} // read the leases anew
	peers   peers
	changed broadcast.Signal // members, or the node's own state
	stats   stats

	keeper keeper // owned by keep

	users atomic.Pointer[func() int]

	mu      sync.Mutex
	self    Member
	entries map[string]*entry // what the bucket says, by name
	era     int               // counts how often the bucket was made again: its revisions begin anew
	seen    uint64            // the newest revision that the watch has received
	acked   acked             // the oldest of this node's renewals that the watch has not received, if any
}

// acked is a renewal that the watch must receive soon.
type acked struct {
	revision uint64
	at       time.Time
}

// Self describes this node, and counts its users; ID is cheaper.
func (n *Node) Self() Member {
	n.mu.Lock()
	m := n.self
	n.mu.Unlock()
	if m.State == Ready && !n.lease.Held() {
		m.State = Suspended
	}
	if count := n.users.Load(); count != nil {
		m.Users = (*count)()
	}
	return m
}

// ID returns the id of the node's present lease, by which a journal names its writer. It changes when
// another node has declared the lease ended and this one makes the next.
func (n *Node) ID() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.self.ID()
}

// Members returns the nodes that have a lease, this one among them, sorted by name. A node that does
// not renew its lease is Suspended.
func (n *Node) Members() []Member {
	var members []Member
	if self := n.Self(); self.State.live() {
		members = append(members, self)
	}
	n.mu.Lock()
	for name, e := range n.entries {
		if name != n.self.Name && e.State.live() {
			members = append(members, n.memberLocked(e))
		}
	}
	n.mu.Unlock()
	slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return members
}

func (n *Node) memberLocked(e *entry) Member {
	m := e.Member
	if m.State == Ready && time.Since(e.at) > n.opts.timing.hold {
		m.State = Suspended
	}
	return m
}

// Member returns the node with a lease, unless this node knows that the lease has ended.
func (n *Node) Member(id string) (Member, bool) {
	name, incarnation, err := splitID(id)
	if err != nil {
		return Member{}, false
	}
	if name == n.self.Name {
		self := n.Self()
		return self, self.State.live() && self.Incarnation == incarnation
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.entries[name]
	if e == nil || !e.State.live() || e.Incarnation != incarnation {
		return Member{}, false
	}
	return n.memberLocked(e), true
}

// Alive reports whether this node knows a lease that has not ended. It answers from memory, which is
// some milliseconds old: good for choosing a node to try. To take a user over, ask Ended.
func (n *Node) Alive(id string) bool {
	_, ok := n.Member(id)
	return ok
}

// Changed fires when a member, or this node, comes, goes or changes its state.
func (n *Node) Changed() *broadcast.Signal { return &n.changed }

// Lease returns the node's lease.
func (n *Node) Lease() *Lease { return &n.lease }

// Documents returns the documents that the nodes share.
func (n *Node) Documents() *Documents { return n.documents }

// Hints returns the directory of credentials.
func (n *Node) Hints() *Hints { return n.hints }

// SetUsers sets the function that counts the users whose hub is open here. It must not block.
func (n *Node) SetUsers(count func() int) { n.users.Store(&count) }

// Ready lets the node take users, after Join, and again after Drain.
func (n *Node) Ready() { n.say(func() { n.self.State, n.self.Leaving = Ready, false }) }

// Drain makes the node take no more users. It keeps the users that it has.
func (n *Node) Drain() { n.say(func() { n.self.State = Draining }) }

// Leaving asks other nodes to retire the sockets that this one forwards to them: their peers connect
// again through other nodes.
func (n *Node) Leaving() { n.say(func() { n.self.State, n.self.Leaving = Draining, true }) }

// say changes this node's state and publishes it.
func (n *Node) say(change func()) {
	n.mu.Lock()
	if n.self.State.live() {
		change()
	}
	n.mu.Unlock()
	n.changed.Fire()
	wake(n.kick)
}

// wake wakes the goroutine that reads from a channel with room for one.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Done is closed when the node is no longer a member: it has left, or another node has replaced it.
func (n *Node) Done() <-chan struct{} { return n.done }

// Leave ends the lease, so that other nodes can take over this one's users at once, and waits for its
// goroutines. It blocks until NATS has stored the end, or ctx ends: then others find out themselves.
func (n *Node) Leave(ctx context.Context) error {
	n.mu.Lock()
	was := n.self.State
	n.self.State = Left
	n.mu.Unlock()
	if was == Left {
		<-n.done
		n.wg.Wait()
		return nil
	}
	n.lease.leave()
	n.stop()
	n.wg.Wait()
	err := n.keeper.writeLast(ctx)
	close(n.done)
	n.changed.Fire()
	return err
}
