package cluster

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/nats-io/nats.go"
)

// keeper renews the lease of a node. Only keep uses its fields, and Join and Leave while keep does not run.
type keeper struct {
	node     *Node  // static
	revision uint64 // the key's last revision, which the next renewal must follow
	attempts uint64
	sent     map[uint64]*instant // recent attempts that have not succeeded
	granted  *instant            // when the last renewal that succeeded was sent
	lost     bool                // users have been closed since
}

// keep renews the lease until the node leaves or is replaced.
func (k *keeper) keep() {
	n := k.node
	timer := time.NewTimer(n.opts.timing.renew)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-n.kick:
		case <-n.ctx.Done():
			return
		}
		err := k.renew(n.ctx)
		switch {
		case err == nil:
			timer.Reset(n.opts.timing.renew)
		case errors.Is(err, ErrReplaced):
			k.replaced()
			return
		default:
			n.stats.renewalsFailed.Add(1)
			n.trust()
			n.log.Debug("the lease is not renewed", "err", err)
			k.suspend(err)
			timer.Reset(n.opts.timing.retry)
		}
	}
}

// incarnate makes the incarnation and the certificate of the next lease.
func (k *keeper) incarnate(before string) error {
	n := k.node
	c, err := newCertificate(n.self.Name)
	if err != nil {
		return err
	}
	n.certificate.Store(c)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.self.Incarnation = incarnationAt(time.Now(), before)
	n.self.Fingerprint = sha256.Sum256(c.Certificate[0])
	return nil
}

// renew makes one attempt to renew the lease. If NATS refuses it, it finds out why.
func (k *keeper) renew(ctx context.Context) error {
	err := k.attempt(ctx)
	if errors.Is(err, errRevision) {
		return k.reread(ctx)
	}
	return err
}

// attempt renews the lease if no one else has written its key. The lease counts from the sending,
// not from the answer.
func (k *keeper) attempt(ctx context.Context) error {
	n := k.node
	if !n.opts.Conn.IsConnected() {
		return nats.ErrConnectionReconnecting // a renewal sent now would arrive late, if ever
	}
	maps.DeleteFunc(k.sent, func(_ uint64, sent *instant) bool { return !sent.within(n.lease.hold) })
	k.attempts++
	sent := now()
	k.sent[k.attempts] = sent
	ctx, cancel := context.WithTimeout(ctx, n.opts.timing.renew)
	defer cancel()
	n.mu.Lock()
	newest := max(n.seen, n.acked.revision)
	n.mu.Unlock()
	r := n.record()
	r.Attempt = k.attempts
	revision, err := n.nodes.put(ctx, r.Name, r.encode(n.keys.members), k.revision)
	if err != nil {
		return err
	}
	if revision <= newest { // revisions have begun again: the bucket was made anew
		n.beginEra()
	}
	k.renewed(revision, sent)
	return nil
}

func (n *Node) record() *record {
	m := n.Self()
	if m.State == Suspended {
		m.State = Ready // once NATS stores this record, the lease is held
	}
	return &record{Member: m}
}

func (k *keeper) renewed(revision uint64, sent *instant) {
	n := k.node
	k.revision = revision
	clear(k.sent)
	n.mu.Lock()
	if n.acked.revision <= n.seen { // else the watch has not sent the one before yet
		n.acked = acked{revision, time.Now()}
	}
	n.mu.Unlock()
	if !sent.within(n.lease.hold) {
		return // the answer took longer than a lease: the next renewal counts
	}
	was := n.lease.Held()
	n.stats.renewed(sent, k.granted, n.lease.hold)
	k.granted, k.lost = sent, false
	if !was {
		n.trust() // before the lease is held: its holder may end other leases
	}
	n.lease.grant(sent)
	if !was {
		n.changed.Fire()
	}
}

// trust gives all other leases a full ttl from now. This node's renewals fail, so it may not see those
// of other nodes, or they fail for the same reason.
func (n *Node) trust() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, e := range n.entries {
		e.at = time.Now()
	}
}

// reread finds out what became of the lease when another revision than expected is in its key.
func (k *keeper) reread(ctx context.Context) error {
	n := k.node
	ctx, cancel := context.WithTimeout(ctx, n.opts.timing.renew)
	defer cancel()
	m, err := n.nodes.last(ctx, n.self.Name)
	if err != nil {
		return err
	}
	r, err := decodeRecord(n.self.Name, m.Data, n.keys.members)
	switch {
	case err == nil && r.Incarnation > n.self.Incarnation && !r.Absent:
		return fmt.Errorf("%w: it runs at %s", ErrReplaced, r.URL)
	case err == nil && r.Incarnation == n.self.Incarnation && r.State.live():
		// NATS stored an earlier renewal without answering it, or this one came while it was in flight.
		k.revision = m.Sequence
		if sent, ok := k.sent[r.Attempt]; ok {
			k.renewed(m.Sequence, sent)
			return nil
		}
		return errors.New("an earlier renewal is in flight")
	}
	// Another node has declared the lease ended, or a person has deleted the key.
	k.lose(ErrEnded)
	k.revision = m.Sequence
	clear(k.sent)
	return errors.Join(ErrEnded, k.incarnate(max(n.self.Incarnation, r.Incarnation)))
}

// suspend notes that a renewal has failed. When the lease has not been held for too long, it closes the
// users.
func (k *keeper) suspend(err error) {
	n := k.node
	if n.lease.Held() {
		return
	}
	n.changed.Fire()
	if !k.lost && !k.granted.within(n.opts.timing.lose) {
		k.lose(fmt.Errorf("%w: %w", ErrSuspended, err))
	}
}

// lose ends the lease until the next renewal, and closes the users.
func (k *keeper) lose(why error) {
	n := k.node
	n.lease.end(why)
	n.changed.Fire()
	if k.lost {
		return
	}
	k.lost = true
	n.stats.lost.Add(1)
	n.log.Warn("users are closed on this node", "err", why)
	if n.opts.Lost != nil {
		n.opts.Lost(why)
	}
}

func (k *keeper) replaced() {
	n := k.node
	n.mu.Lock()
	left := n.self.State == Left
	n.self.State = Left
	n.mu.Unlock()
	if left {
		return // Leave is waiting
	}
	n.lease.leave()
	k.lose(ErrReplaced)
	n.stop()
	close(n.done)
	n.changed.Fire()
}

// writeLast writes that the node has left, after keep has ended.
func (k *keeper) writeLast(ctx context.Context) error {
	n := k.node
	for {
		r := n.record()
		r.State = Left
		_, err := n.nodes.put(ctx, r.Name, r.encode(n.keys.members), k.revision)
		if errors.Is(err, errRevision) {
			m, rerr := n.nodes.last(ctx, r.Name)
			if rerr == nil {
				found, bad := decodeRecord(r.Name, m.Data, n.keys.members)
				if bad != nil || !found.State.live() || found.Incarnation != r.Incarnation {
					return nil // another node has declared it ended
				}
				k.revision = m.Sequence
			}
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("leave the cluster: %w", err)
		case <-time.After(n.opts.timing.retry):
		}
	}
}
