package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/storage/jetstream/streams"
)

const (
	maxSkew      = 30 * time.Second // between the clocks of a node and of NATS
	reachTimeout = 3 * time.Second  // of a connection to a node
	forgetAfter  = 24 * time.Hour   // from a node's end until its record is deleted
)

// Errors of Join, besides those of the options, of the buckets and of streams.Open.
var (
	ErrNameInUse   = errors.New("the name is in use")
	ErrClock       = errors.New("the clocks differ")
	ErrUnreachable = errors.New("the node cannot be reached") // also of askNode
)

// Join makes this process a node of its cluster. It blocks until the node has a lease and another
// node has reached it. An error says in one sentence what would not work. The node takes users
// after Ready.
func Join(ctx context.Context, o Options) (*Node, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	js, err := jetstream.New(o.Conn)
	if err != nil {
		return nil, err
	}
	if err := streams.Check(ctx, js); err != nil {
		return nil, err
	}
	n := &Node{
		opts: o, log: o.Log, lease: Lease{hold: o.timing.hold},
		kick: make(chan struct{}, 1), again: make(chan struct{}, 1), done: make(chan struct{}),
		entries: make(map[string]*entry), keeper: keeper{sent: make(map[uint64]*instant)},
	}
	n.keeper.node = n
	if n.cluster, err = openBucket(ctx, js, clusterBucket, o.Replicas, nil); err != nil {
		return nil, err
	}
	if n.keys, err = openIdentity(ctx, n.cluster, o.Secret, o.HasUsers); err != nil {
		return nil, err
	}
	n.documents = &Documents{n.cluster, n.keys.cluster, n.keys.sealer}
	hints, err := openBucket(ctx, js, hintsBucket, o.Replicas, hintStream)
	if err != nil {
		return nil, err
	}
	n.hints = newHints(hints, n.documents, n.lease.Held, o.Log)
	if n.nodes, err = openBucket(ctx, js, nodesBucket, o.Replicas, nil); err != nil {
		return nil, err
	}
	n.self = Member{Name: o.Name, URL: o.URL, Version: o.Version, State: Joining, Started: time.Now().Round(0)}
	n.ctx, n.stop = context.WithCancel(context.Background())
	asked := o.wall()
	if err := n.keeper.take(ctx); err != nil {
		n.stop()
		return nil, err
	}
	reached, err := o.Conn.Subscribe(reachSubject(o.Name), n.tryToReach)
	if err != nil {
		n.stop()
		return nil, err
	}
	context.AfterFunc(n.ctx, func() { _ = reached.Unsubscribe() })
	n.wg.Go(n.watch)
	n.wg.Go(n.keeper.keep)
	if err := n.enter(ctx, asked); err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.timing.renew)
		defer cancel()
		if err := n.Leave(ctx); err != nil {
			n.log.Warn("this node could not join and could not end its lease: the lease ends by itself", "err", err)
		}
		return nil, err
	}
	return n, nil
}

// ParseURL checks an Options.URL and returns its host and port.
func ParseURL(s string) (host string, err error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.Port() == "" || u.Path != "" && u.Path != "/" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("give https://host:port, where the other nodes reach it")
	}
	return u.Host, nil
}

// check refuses unusable options, and sets the defaults.
func (o *Options) check() error {
	if !nameOfNode.MatchString(o.Name) || len(o.Name) > maxName {
		return fmt.Errorf("%q cannot be the name of a node: use letters, digits, dashes and dots, at most %d", o.Name, maxName)
	}
	host, err := ParseURL(o.URL)
	if err != nil {
		return fmt.Errorf("%q cannot be the URL of a node: %w", o.URL, err)
	}
	o.URL = "https://" + host
	if len(o.Secret) < minSecret {
		return fmt.Errorf("the cluster's secret has %d bytes: give at least %d, such as openssl rand -hex 32 makes", len(o.Secret), minSecret)
	}
	if o.Replicas == 0 {
		o.Replicas = 3
	}
	if o.timing == (timing{}) {
		o.timing = usual
	}
	if o.wall == nil {
		o.wall = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

// take waits until no node has this node's name, takes it, and returns with the lease granted.
func (k *keeper) take(ctx context.Context) error {
	n := k.node
	var seen uint64 // the revision of a lease that may have ended
	var since time.Time
	for {
		m, err := n.nodes.last(ctx, n.self.Name)
		if err != nil {
			return streams.Explain(err, n.opts.Replicas)
		}
		r, bad := decodeRecord(n.self.Name, m.Data, n.keys.members)
		live := bad == nil && r.State.live() || bad != nil && m.Sequence > 0 // a damaged record may have replaced a lease
		if live && bad == nil && r.Fingerprint == n.self.Fingerprint {
			k.revision = m.Sequence // NATS has stored an attempt without answering it
			live = false
		}
		switch {
		case live && seen == 0:
			seen, since = m.Sequence, time.Now()
		case live && seen != m.Sequence:
			return fmt.Errorf("%w: a node called %s runs at %s: give this one another name", ErrNameInUse, n.self.Name, cmp.Or(r.URL, "another address"))
		}
		if live && time.Since(since) < n.opts.timing.ttl {
			select {
			case <-time.After(n.opts.timing.retry):
				continue
			case <-ctx.Done():
				return fmt.Errorf("the last node called %s has not ended yet: %w", n.self.Name, context.Cause(ctx))
			}
		}
		if k.revision != m.Sequence || n.self.Incarnation == "" {
			if err := k.incarnate(r.Incarnation); err != nil {
				return err
			}
		}
		k.revision = m.Sequence
		err = k.attempt(ctx)
		switch {
		case err == nil && k.granted != nil:
			return nil
		case ctx.Err() != nil:
			return streams.Explain(cmp.Or(err, context.Cause(ctx)), n.opts.Replicas)
		}
		seen = 0 // another node was faster, or NATS did not answer before the lease was over
		select {
		case <-time.After(n.opts.timing.retry):
		case <-ctx.Done():
		}
	}
}

// enter checks that a node with a lease works: its clock, its view of the members, and its URL.
func (n *Node) enter(ctx context.Context, asked time.Time) error {
	if err := n.checkClock(ctx, asked); err != nil {
		return err
	}
	for { // when the watch has this node, it has all others
		changed := n.changed.Wait()
		n.mu.Lock()
		e := n.entries[n.self.Name]
		known := e != nil && e.Incarnation == n.self.Incarnation
		n.mu.Unlock()
		if known {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("NATS does not send the list of nodes: %w", context.Cause(ctx))
		}
	}
	n.forget(ctx)
	if err := n.opts.Serve(n.ServerTLS()); err != nil {
		return err
	}
	return n.checkURL(ctx)
}

// checkClock compares this machine's clock with NATS's, by a message stored since the given time.
func (n *Node) checkClock(ctx context.Context, since time.Time) error {
	m, err := n.nodes.last(ctx, n.self.Name)
	if err != nil {
		return streams.Explain(err, n.opts.Replicas)
	}
	now := n.opts.wall()
	if ahead := since.Sub(m.Time); ahead > maxSkew {
		return fmt.Errorf("%w: this machine's is %v ahead of NATS's: set both by NTP", ErrClock, ahead.Round(time.Second))
	}
	if behind := m.Time.Sub(now); behind > maxSkew {
		return fmt.Errorf("%w: this machine's is %v behind NATS's: set both by NTP", ErrClock, behind.Round(time.Second))
	}
	return nil
}

// forget deletes the records of nodes that ended long ago.
func (n *Node) forget(ctx context.Context) {
	old := make(map[string]uint64)
	n.mu.Lock()
	for name, e := range n.entries {
		if !e.State.live() && time.Since(e.stored) > forgetAfter {
			old[name] = e.revision
		}
	}
	n.mu.Unlock()
	for name, revision := range old {
		err := n.nodes.stream.Purge(ctx, jetstream.WithPurgeSubject(n.nodes.subject(name)), jetstream.WithPurgeSequence(revision+1))
		if err != nil {
			n.log.Warn("the record of an ended node cannot be deleted", "node", name, "err", err)
		}
	}
}

// checkURL asks the other nodes to connect to this one; a node without others connects to itself. One
// success is enough: the others may be in trouble themselves.
func (n *Node) checkURL(ctx context.Context) error {
	me := n.record()
	var mu sync.Mutex
	var failed error
	var alone, reached = true, false
	var wg sync.WaitGroup
	for _, m := range n.Members() {
		if m.Name == me.Name {
			continue
		}
		alone = false
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, 2*reachTimeout)
			defer cancel()
			answer, err := n.opts.Conn.RequestWithContext(ctx, reachSubject(m.Name), me.encode(n.keys.members))
			if err != nil {
				n.log.Warn("a node does not say whether it reaches this one", "node", m.Name, "err", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if len(answer.Data) == 0 {
				reached = true
			} else {
				failed = fmt.Errorf("%w: node %s has no connection to %s: %s", ErrUnreachable, m.Name, me.URL, answer.Data)
			}
		})
	}
	wg.Wait()
	if alone {
		if err := n.reach(ctx, me.Member); err != nil {
			return fmt.Errorf("%w at %s: %w", ErrUnreachable, me.URL, err)
		}
	}
	if reached {
		return nil
	}
	return failed // nil if no node has answered: that says nothing
}

func reachSubject(node string) string {
	return "tabhub.node." + hex.EncodeToString([]byte(node)) + ".reach"
}

// tryToReach answers a node that asks whether this one can connect to it: empty if so, else why not.
func (n *Node) tryToReach(m *nats.Msg) {
	peer, err := decodeRecord("", m.Data, n.keys.members)
	if err != nil {
		return // no node of this cluster sent it
	}
	var answer []byte
	if err := n.reach(n.ctx, peer.Member); err != nil {
		answer = []byte(err.Error())
	}
	_ = m.Respond(answer)
}

// reach connects to a node in the same way as a forwarded request.
func (n *Node) reach(ctx context.Context, m Member) error {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	c, err := (&tls.Dialer{Config: n.ClientTLS(m)}).DialContext(ctx, "tcp", m.Addr())
	if err != nil {
		return err
	}
	return c.Close()
}
