package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Ended reports whether a lease has ended for certain: no node acts under it, now or later. False
// means that this node knows of no end. It answers from memory if it can; if this node does not
// know the lease, it blocks until it learns of it or ctx ends.
func (n *Node) Ended(ctx context.Context, id string) (bool, error) {
	name, incarnation, err := splitID(id)
	if err != nil {
		return false, err
	}
	for asked := (time.Time{}); ; {
		changed := n.changed.Wait()
		known, sure := n.known(name)
		if known.Incarnation == incarnation && known.State.live() {
			return false, nil
		}
		var wait <-chan time.Time
		switch {
		case known.Incarnation >= incarnation: // this lease, or a later one
			if !time.Now().Before(sure) {
				return true, nil
			}
			wait = time.After(time.Until(sure))
		case time.Since(asked) >= n.opts.timing.ttl:
			if err := n.ask(ctx, name, incarnation); err != nil {
				return false, fmt.Errorf("ask for the lease of %s: %w", id, err)
			}
			asked = time.Now()
			continue
		default: // an older lease is live: until it ends, or the node writes this one
			wait = time.After(time.Until(asked.Add(n.opts.timing.ttl)))
		}
		select {
		case <-changed:
		case <-wait:
		case <-ctx.Done():
			return false, fmt.Errorf("it is not known yet whether the lease of %s has ended: %w", id, context.Cause(ctx))
		}
	}
}

// known returns the last known lease of a name, and the time from which an end of it is certain.
func (n *Node) known(name string) (m Member, sure time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if name == n.self.Name {
		return n.self, time.Time{}
	}
	if e := n.entries[name]; e != nil {
		return e.Member, e.sure
	}
	return Member{}, time.Time{}
}

// ask reads a lease that this node does not know: it is too young, it ended long ago and its record
// was deleted, or a backup of NATS without it was restored. If NATS has neither it nor a later one,
// ask declares it ended, but never overwrites a live lease.
func (n *Node) ask(ctx context.Context, name, incarnation string) error {
	for {
		era := n.bucketEra()
		m, err := n.nodes.last(ctx, name)
		if err != nil {
			return err
		}
		if r, err := decodeRecord(name, m.Data, n.keys.members); err == nil && (r.State.live() || r.Incarnation >= incarnation) {
			n.see(era, name, m.Data, m.Sequence, m.Time)
			return nil
		}
		r := record{Member: Member{Name: name, Incarnation: incarnation, State: Ended}, Absent: true}
		data := r.encode(n.keys.members)
		at, err := n.nodes.put(ctx, name, data, m.Sequence)
		if err == nil {
			n.see(era, name, data, at, time.Now())
			return nil
		}
		if !errors.Is(err, errRevision) {
			return err
		}
	}
}
