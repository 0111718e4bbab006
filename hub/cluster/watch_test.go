package cluster

import (
	"sync"
	"testing"
	"time"

	"tabhub/storage/jetstream/natstest"
)

// A dead node is noticed however many messages there are to read: until then its users have no node.
func TestSilenceAmongMessages(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a, b := ready(t, c.Conn(t), "a"), ready(t, c.Conn(t), "b")
	id := b.ID()
	until(t, a, "a knows b", func() bool { return a.Alive(id) })
	crash(b)

	stop := make(chan struct{})
	var writing sync.WaitGroup
	defer writing.Wait()
	defer close(stop)
	nc := c.Conn(t)
	writing.Go(func() {
		tick := time.NewTicker(short.retry / 10)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = nc.Publish(a.nodes.subject("x"), []byte("{}"))
			case <-stop:
				return
			}
		}
	})
	until(t, a, "there are messages", func() bool { return a.Stats().BadRecords > 10 })
	a.mu.Lock()
	a.entries["b"].at = time.Now().Add(-short.ttl) // a message is read first when it is time for both
	a.mu.Unlock()
	began := time.Now()
	until(t, a, "b has ended", func() bool { return !a.Alive(id) })
	if took := time.Since(began); took > short.ttl {
		t.Errorf("noticed %v too late", took)
	}
}

// If a person deletes the bucket, and a starting node makes it again, its revisions begin at 1: the
// nodes must still find each other.
func TestBucketMadeAgain(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	nc := c.Conn(t)
	a, b := ready(t, nc, "a"), ready(t, nc, "b")
	for range 1000 { // so that it takes long until there are as many again
		if err := nc.Publish(a.nodes.subject("x"), []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	both := func() bool {
		of, _ := a.Member(b.ID())
		is, _ := b.Member(a.ID())
		return of.State == Ready && is.State == Ready
	}
	seen := func(n *Node) uint64 {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.seen
	}
	until(t, a, "all is read", func() bool { return seen(a) > 1000 && seen(b) > 1000 && both() })
	before := []string{a.ID(), b.ID()}
	if err := a.nodes.js.DeleteStream(t.Context(), "KV_"+nodesBucket); err != nil {
		t.Fatal(err)
	}
	until(t, a, "the leases are over", func() bool { return !a.Lease().Held() && !b.Lease().Held() })
	if _, err := openBucket(t.Context(), a.nodes.js, nodesBucket, 1, nil); err != nil {
		t.Fatal(err)
	}
	until(t, a, "they know each other again", func() bool { return a.ID() != before[0] && b.ID() != before[1] && both() })
	id := b.ID()
	crash(b)
	until(t, a, "b has ended", func() bool { return !a.Alive(id) })
}

// A node whose consumer is gone, because its server restarted, must notice, whenever between two
// renewals it looks: until then it sees no node come or go.
func TestStalledWatch(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a := ready(t, c.Conn(t), "a", func(o *Options) { o.timing.retry = o.timing.renew / 4 })
	restarts := func() int64 { return a.Stats().WatchRestarts }
	for before := restarts(); restarts() == before; { // after a renewal, so that it looks a quarter of the way to the next one from now on
		renewed := a.Changed().Wait()
		wake(a.again)
		<-renewed
	}
	before, renewals := restarts(), a.Stats().Renewals
	until(t, a, "it goes on", func() bool { return a.Stats().Renewals > renewals+2 })
	names := a.nodes.stream.ConsumerNames(t.Context())
	for name := range names.Name() {
		if err := a.nodes.stream.DeleteConsumer(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	until(t, a, "the members are read anew", func() bool { return restarts() > before })
	if took := time.Since(began); took > 2*short.ttl {
		t.Errorf("after %v, with renewals every %v", took, short.renew)
	} else {
		t.Logf("after %v", took)
	}
}
