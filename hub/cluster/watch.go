package cluster

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// entry is what this node knows of a name. The record is the last with a good signature; the revision
// is that of the key's last message, even a bad one.
type entry struct {
	record
	revision uint64
	stored   time.Time // by the clock of NATS
	at       time.Time // when this node received it; the ttl of the lease counts from here
	ending   bool      // it is being declared ended
	sure     time.Time // when the end of an absent lease becomes certain
}

// take notes the newest record of a name.
func (e *entry) take(r record, ttl time.Duration) {
	e.record, e.sure = r, time.Time{}
	if r.Absent {
		e.sure = time.Now().Add(ttl)
	}
}

// watch follows the bucket until the node leaves. Its consumer may vanish with the server that runs it,
// so watch begins anew when it does not receive this node's renewals.
func (n *Node) watch() {
	for n.ctx.Err() == nil {
		if err := n.follow(); err != nil && n.ctx.Err() == nil {
			n.stats.watchRestarts.Add(1)
			n.log.Debug("the members are read anew", "err", err)
			select {
			case <-time.After(n.opts.timing.retry):
			case <-n.ctx.Done():
			}
		}
	}
}

func (n *Node) follow() error {
	era := n.bucketEra()
	inbox := n.opts.Conn.NewInbox()
	messages := make(chan *nats.Msg, 1024)
	sub, err := n.opts.Conn.ChanSubscribe(inbox, messages)
	if err != nil {
		return err
	}
	defer sub.Unsubscribe()
	ctx, cancel := context.WithTimeout(n.ctx, n.opts.timing.ttl)
	defer cancel()
	consumer, err := n.nodes.stream.CreatePushConsumer(ctx, jetstream.ConsumerConfig{
		DeliverSubject:    inbox,
		FilterSubject:     n.nodes.subject(">"),
		DeliverPolicy:     jetstream.DeliverLastPerSubjectPolicy,
		AckPolicy:         jetstream.AckNonePolicy,
		MemoryStorage:     true,
		Replicas:          1,
		InactiveThreshold: 10 * time.Second,
	})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(n.ctx), n.opts.timing.retry)
		defer cancel()
		_ = n.nodes.stream.DeleteConsumer(ctx, consumer.CachedInfo().Name) // it ends by itself, too
	}()
	began := time.Now()
	look := began // when to look at the time again; messages may only bring it forward
	timer := time.NewTimer(0)
	defer timer.Stop()
	for next := uint64(1); ; {
		select {
		case m := <-messages:
			meta, err := m.Metadata()
			if err != nil || meta.Sequence.Consumer != next {
				return errors.New("messages are missing")
			}
			next++
			n.see(era, strings.TrimPrefix(m.Subject, n.nodes.prefix), m.Data, meta.Sequence.Stream, meta.Timestamp)
		case <-timer.C:
			if n.bucketEra() != era {
				return errors.New("the bucket has been made again")
			}
			if n.stalled(began) {
				return errors.New("the node's own renewals do not come back")
			}
			n.endSilent()
			look = time.Now().Add(n.opts.timing.renew)
		case <-n.again:
			if time.Since(began) > n.opts.timing.ttl { // not more often: any peer can show an unknown certificate
				return errors.New("a node is not known")
			}
		case <-n.ctx.Done():
			return nil
		}
		if at := time.Now().Add(n.nextLook()); at.Before(look) {
			look = at
		}
		timer.Reset(time.Until(look))
	}
}

// bucketEra changes when the bucket has been made again.
func (n *Node) bucketEra() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.era
}

// see takes in a message of the bucket from an era.
func (n *Node) see(era int, name string, data []byte, revision uint64, stored time.Time) {
	r, err := decodeRecord(name, data, n.keys.members)
	n.mu.Lock()
	if era != n.era { // its revision is of the former bucket
		n.mu.Unlock()
		return
	}
	n.seen = max(n.seen, revision)
	e := n.entries[name]
	if e == nil {
		e = &entry{}
		if err == nil {
			n.entries[name] = e
		}
	}
	if e.revision != 0 && revision <= e.revision {
		n.mu.Unlock()
		return
	}
	// The message may have replaced a newer renewal that the watch has not received: the ttl begins anew.
	e.revision, e.stored, e.at, e.ending = revision, stored, time.Now(), false
	was := e.Member
	if err == nil {
		e.take(r, n.opts.timing.ttl)
	}
	n.mu.Unlock()
	if err != nil {
		n.stats.badRecords.Add(1)
		n.log.Warn("a record in "+nodesBucket+" is not of this cluster", "node", name, "err", err)
		return
	}
	if was.State != r.State || was.Leaving != r.Leaving || was.Incarnation != r.Incarnation || name == n.self.Name {
		n.changed.Fire()
	}
	if r.Leaving && !was.Leaving {
		n.peers.retire(r.ID())
	}
}

// beginEra is called when the bucket was made again or restored from a backup: its revisions begin
// anew, and the watch gets no messages any more. The watch begins anew and accepts any revision. Until
// then the known members count, and their ttl begins now.
func (n *Node) beginEra() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.era++
	n.seen, n.acked = 0, acked{}
	for _, e := range n.entries {
		e.revision, e.at = 0, time.Now()
	}
}

// stalled reports whether the watch has missed one of this node's renewals.
func (n *Node) stalled(began time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.acked.revision > n.seen && time.Since(n.acked.at) > n.opts.timing.renew/2 && time.Since(began) > n.opts.timing.renew
}

// nextLook returns how long the watch may wait for a message before it looks at the time.
func (n *Node) nextLook() time.Duration {
	wait := n.opts.timing.renew
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, e := range n.entries {
		if name != n.self.Name && e.State.live() && !e.ending {
			wait = min(wait, n.opts.timing.ttl-time.Since(e.at))
		}
	}
	if wait <= 0 { // a ttl is over, but this node cannot end that lease now
		return n.opts.timing.retry
	}
	return wait
}

// endSilent declares leases ended that were not renewed, if this node holds its own. Otherwise NATS or
// the network may be down.
func (n *Node) endSilent() {
	if !n.lease.Held() {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, e := range n.entries {
		if name == n.self.Name || !e.State.live() || e.ending || time.Since(e.at) < n.opts.timing.ttl {
			continue
		}
		e.ending = true
		r, revision := e.record, e.revision
		n.wg.Go(func() { n.declareEnded(r, revision) })
	}
}

// declareEnded writes that a lease has ended, unless there is a newer renewal. Later renewals fail.
func (n *Node) declareEnded(r record, revision uint64) {
	r.State = Ended
	ctx, cancel := context.WithTimeout(n.ctx, n.opts.timing.renew)
	defer cancel()
	era := n.bucketEra()
	at, err := n.nodes.put(ctx, r.Name, r.encode(n.keys.members), revision)
	if err == nil {
		n.stats.ended.Add(1)
		n.log.Warn("a node has not renewed its lease: it has ended", "node", r.ID())
		n.see(era, r.Name, r.encode(n.keys.members), at, time.Now())
		return
	}
	var removed bool
	if errors.Is(err, errRevision) {
		if m, err := n.nodes.last(ctx, r.Name); err == nil && m.Sequence > 0 {
			n.see(era, r.Name, m.Data, m.Sequence, m.Time) // the watch lags behind
		} else {
			removed = err == nil
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.entries[r.Name]
	if e == nil || e.revision != revision {
		return // a newer message has come
	}
	e.ending = false
	if removed { // by a person, perhaps with a renewal that the watch has not received
		e.revision, e.at = 0, time.Now()
		return
	}
	e.at = time.Now().Add(n.opts.timing.renew - n.opts.timing.ttl) // look again in a while
}
