package delivery

import (
	"context"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	lookTimeout = time.Second // for a node to say what it knows
	soon        = time.Second // until what nobody waits for is asked
	maxAsked    = 500         // responses in one request
)

// Asker asks a node for the fates of responses that it passes on, nil for those of which it keeps
// nothing. It blocks.
type Asker func(ctx context.Context, node string, ids []uint64) ([]*Fate, error)

// Nodes are the other nodes by which clients get answers of this one. Its methods are safe for
// concurrent use.
type Nodes struct {
	ask Asker

	mu   sync.Mutex
	due  map[string][]*Conn // by node
	open map[place]*Conn    // that may have answers of which nobody knows
}

// place is where a response is passed on.
type place struct {
	node string
	id   uint64
}

// NewNodes returns the nodes that ask reaches.
func NewNodes(ask Asker) *Nodes {
	return &Nodes{ask: ask, due: map[string][]*Conn{}, open: map[place]*Conn{}}
}

// far is of a Conn whose connection another node has. Conn.mu guards what changes.
type far struct {
	nodes *Nodes
	place
	now  seen // what the node has said last
	over bool // the response has ended
	left bool // the node has given it up before
}

// Conn returns what is known of a response that a node passes on, in bytes of its body. Over must
// follow.
func (n *Nodes) Conn(node string, id uint64) *Conn {
	at := place{node, id}
	c := &Conn{far: &far{nodes: n, place: at}}
	c.peek = func() seen { return c.far.now }
	n.mu.Lock()
	n.open[at] = c
	n.mu.Unlock()
	return c
}

// Read says that clients have read responses that a node has passed on.
func (n *Nodes) Read(node string, ids []uint64) {
	for _, id := range ids {
		n.mu.Lock()
		c := n.open[place{node, id}]
		n.mu.Unlock()
		if c != nil {
			c.learn(nil)
		}
	}
}

// Leaves finds out what a node knows, as it is about to end. It blocks for a second at most.
func (n *Nodes) Leaves(node string) {
	var conns []*Conn
	n.mu.Lock()
	for at, c := range n.open {
		if at.node == node {
			conns = append(conns, c)
		}
	}
	n.mu.Unlock()
	n.lookAt(map[string][]*Conn{node: conns}, (*Conn).giveUp)
}

// WithFar returns a context that FromContext finds c in.
func WithFar(ctx context.Context, c *Conn) context.Context { return context.WithValue(ctx, key{}, c) }

// Counts returns w as a response whose body c is to know of.
func (c *Conn) Counts(w http.ResponseWriter) http.ResponseWriter { return &counted{w, c} }

type counted struct {
	http.ResponseWriter
	conn *Conn
}

// Unwrap is for http.ResponseController.
func (w *counted) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write implements http.ResponseWriter.
func (w *counted) Write(b []byte) (int, error) {
	w.conn.sent.Add(uint64(len(b)))
	n, err := w.ResponseWriter.Write(b)
	w.conn.sent.Add(-uint64(len(b) - n))
	return n, err
}

// IsFar reports whether another node has the connection: what is known here is what it has said to
// Look. It is false for a nil Conn.
func (c *Conn) IsFar() bool { return c != nil && c.far != nil }

// Over says that the response has ended. left: the node has given it up, as its client is gone.
func (c *Conn) Over(left bool) {
	c.mu.Lock()
	c.far.over, c.far.left = true, left
	c.mu.Unlock()
	if c.rests() || !left {
		return // what becomes of it is asked for when somebody wants to know, and in the end
	}
	c.far.nodes.soon(c)
}

// rests reports whether there is no answer of which nobody knows. If none comes any more, it is
// forgotten.
func (c *Conn) rests() bool {
	c.mu.Lock()
	rests := len(c.known) == 0
	over := rests && c.far.over
	if over && c.late != nil {
		c.late.Stop()
	}
	c.mu.Unlock()
	if over {
		n := c.far.nodes
		n.mu.Lock()
		if n.open[c.far.place] == c { // else the request was sent again
			delete(n.open, c.far.place)
		}
		n.mu.Unlock()
	}
	return rests
}

// Look finds out what the nodes know that have the connections. It blocks for a second at most. Of a
// node that cannot be asked the clients are taken for gone: they cannot read by it either.
func Look(conns []*Conn) {
	byNode := map[string][]*Conn{}
	var nodes *Nodes // all are of one hub
	for _, c := range conns {
		nodes = c.far.nodes
		byNode[c.far.node] = append(byNode[c.far.node], c)
	}
	nodes.lookAt(byNode, (*Conn).doubt)
}

// soon asks for the fate of a response together with those of others.
func (n *Nodes) soon(c *Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.due) == 0 {
		time.AfterFunc(soon, n.lookAtDue)
	}
	n.due[c.far.node] = append(n.due[c.far.node], c)
}

func (n *Nodes) lookAtDue() {
	n.mu.Lock()
	due := n.due
	n.due = map[string][]*Conn{}
	n.mu.Unlock()
	n.lookAt(due, (*Conn).giveUp)
	for _, conns := range due {
		for _, c := range conns {
			c.mu.Lock()
			left := c.far.left
			c.mu.Unlock()
			if left {
				c.end(false)
			} else {
				c.settleOld()
			}
		}
	}
}

// lookAt asks each node. unreached is called with what a node cannot be asked for.
func (n *Nodes) lookAt(byNode map[string][]*Conn, unreached func(*Conn)) {
	ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
	defer cancel()
	var asking sync.WaitGroup
	for node, all := range byNode {
		asking.Go(func() {
			for conns := range slices.Chunk(all, maxAsked) {
				ids := make([]uint64, len(conns))
				for i, c := range conns {
					ids[i] = c.far.id
				}
				fates, err := n.ask(ctx, node, ids)
				for i, c := range conns {
					switch {
					case err != nil:
						unreached(c)
					case i < len(fates):
						c.learn(fates[i])
					default: // an older program
						c.learn(nil)
					}
				}
			}
		})
	}
	asking.Wait()
}

// doubt takes the client for gone, as its node cannot be asked: for ever if nothing more is written.
func (c *Conn) doubt() {
	c.mu.Lock()
	over := c.far.over
	if !over {
		c.far.now = seen{ended: true, counts: true} // until the node is asked again
	}
	c.mu.Unlock()
	if over {
		c.learn(&Fate{Left: true, Reset: true})
	}
}

// giveUp is for a node that cannot be asked when nobody waits for that. What was written long before is
// delivered. The rest is not if the node has left it, too: it has died.
func (c *Conn) giveUp() {
	c.mu.Lock()
	left := c.far.left
	c.mu.Unlock()
	if left {
		c.learn(&Fate{Left: true, Reset: true, Taken: math.MaxUint64})
	} else {
		c.learn(nil)
	}
}

// learn takes in what a node says of a response, nil if it keeps nothing of it.
func (c *Conn) learn(f *Fate) {
	if f == nil {
		c.settle(func(*written) (told, lost bool) { return true, false })
		return
	}
	c.mu.Lock()
	c.far.now = seen{ended: f.Left || f.Reset, reset: f.Reset, counts: true, acked: f.Taken}
	c.look()
	c.mu.Unlock()
	if f.Left || f.Reset {
		c.end(f.Reset)
	}
}
