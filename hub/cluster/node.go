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
	Replicas int        // of what is stored in NATS; 0 is 3
	Log      *slog.Logger

	// HasUsers reports whether NATS has what users have stored. Then no new cluster is begun, which could
	// not read it: what the nodes share must be there. It blocks. Nil: it has nothing.
	HasUsers func(context.Context) (bool, error)

	// Serve is called once, when the node has made its certificate. When it returns, a server
	// must be listening where URL leads, with this configuration: others are then asked to
	// reach it.
	Serve func(*tls.Config) error

	// Lost is called when users cannot be served here any more as they were: others have
	// declared the lease ended (ErrEnded), it has not been held for long (ErrSuspended), or the
	// node has been replaced (ErrReplaced, for good). All users must be closed, as superseded,
	// when it returns. It must not wait for the lease, which is made anew only then, under the
	// next ID, nor call Leave. Nil: nobody needs to know.
	Lost func(error)

	// Of tests.
	timing timing           // zero: usual
	wall   func() time.Time // nil: time.Now
}

// Why users were lost.
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
	done      chan struct{} // closed when it is no member any more
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
	seen    uint64            // the newest revision of which the watch has told
	acked   acked             // the node's own oldest one of which it has not, or one of which it has
}

// acked is a renewal of which the watch has to tell soon.
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

// ID returns the id of the node's present lease: what a journal says of who writes it. It
// changes when a lease has been declared ended and the next one is made.
func (n *Node) ID() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.self.ID()
}

// Members returns the nodes that have a lease, this one among them, by name. Those that do not
// renew theirs are suspended.
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

// Member returns who has the lease with an id, if it has not ended as far as is known here.
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

// Alive reports whether a lease is known here that has not ended. It answers from memory, which
// is some milliseconds old, and is for deciding where to try; Ended is for taking over.
func (n *Node) Alive(id string) bool {
	_, ok := n.Member(id)
	return ok
}

// Changed wakes who waits for a member to come, go or change its state, or for this node to.
func (n *Node) Changed() *broadcast.Signal { return &n.changed }

// Lease returns the node's lease.
func (n *Node) Lease() *Lease { return &n.lease }

// Documents returns what the nodes share for good.
func (n *Node) Documents() *Documents { return n.documents }

// Hints returns the directory of credentials.
func (n *Node) Hints() *Hints { return n.hints }

// SetUsers gives the function that counts the users whose hub is open here. It must not block.
func (n *Node) SetUsers(count func() int) { n.users.Store(&count) }

// Ready lets the node take users, after Join, and again after Drain.
func (n *Node) Ready() { n.say(func() { n.self.State, n.self.Leaving = Ready, false }) }

// Drain has the node take no more users. It keeps those that it has.
func (n *Node) Drain() { n.say(func() { n.self.State = Draining }) }

// Leaving has other nodes retire the sockets that this one forwards to them: their peers are to
// come by other nodes.
func (n *Node) Leaving() { n.say(func() { n.self.State, n.self.Leaving = Draining, true }) }

// say changes what the node says of itself, and has others know.
func (n *Node) say(change func()) {
	n.mu.Lock()
	if n.self.State.live() {
		change()
	}
	n.mu.Unlock()
	n.changed.Fire()
	wake(n.kick)
}

// wake has the goroutine that reads from a channel with room for one do so, if it is not about
// to anyhow.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Done is closed when the node is no member any more: it has left, or been replaced.
func (n *Node) Done() <-chan struct{} { return n.done }

// Leave ends the lease, so that others can take over at once what the node still has, and waits
// for what it has started. It blocks until NATS knows, or the context ends: others then find
// out by themselves.
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
