package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Ended reports whether a lease has ended, for certain: nobody acts under it any more, nor ever
// will. False says that it has not, as far as is known here. It answers from memory if it can,
// and blocks if the lease has not been heard of, until the context ends.
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
		case known.Incarnation >= incarnation: // it, or one after it
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
		default: // an older lease is there that is live: this one is written, or that one ends
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

// known returns what is known of a name, and from when on it can be relied on.
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

// ask learns of a lease that has not been heard of: it is too young, or its end was long ago and
// has been forgotten, or NATS itself has forgotten it, of which a backup was restored. If there is
// nothing of it or of a later one, that it has ended is written, so that it is so, but not over a
// lease that has not ended.
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
