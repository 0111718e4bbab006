package cluster

import (
	"testing"
	"time"

	"tabhub/storage/jetstream/natstest"
)

// All nodes must soon see each other: a request goes to the owner node of its user.
func TestMembers(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a := ready(t, c.Conn(t), "a")
	b := ready(t, c.Conn(t), "b", func(o *Options) { o.Version = "v2" })
	b.SetUsers(func() int { return 7 })

	for _, n := range []*Node{a, b} {
		until(t, n, "both are ready", func() bool {
			m := n.Members()
			return len(m) == 2 && m[0].Name == "a" && m[0].State == Ready && m[1].Name == "b" && m[1].State == Ready && m[1].Users == 7
		})
	}
	if m, ok := a.Member(b.ID()); !ok || m.Version != "v2" || m.URL != b.opts.URL || m.Fingerprint != b.Self().Fingerprint {
		t.Errorf("a sees %+v", m)
	}
	b.Drain()
	until(t, a, "b is draining", func() bool { return a.Members()[1].State == Draining })

	id := b.ID()
	if !a.Alive(id) {
		t.Error("a member that is draining is dead")
	}
	began := time.Now()
	if err := b.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, a, "b has left", func() bool { return !a.Alive(id) })
	t.Logf("a knew after %v that b had left", time.Since(began))
	if ended, err := a.Ended(t.Context(), id); !ended || err != nil || a.Alive(id) || len(a.Members()) != 1 {
		t.Errorf("after it left: ended %v, %v; members %+v", ended, err, a.Members())
	}
	if b.Lease().Held() || b.Lease().Term().Await(t.Context()) != ErrLeft || b.Self().State != Left {
		t.Error("a node that has left still has a lease")
	}

	// The name is free at once.
	again := ready(t, c.Conn(t), "b")
	if ended, _ := again.Ended(t.Context(), id); !ended {
		t.Error("the process before is alive")
	}
	if ended, _ := a.Ended(t.Context(), again.ID()); ended {
		t.Error("the new process has ended")
	}

	// A killed node writes nothing, and is dead when its lease is over.
	id = again.ID()
	until(t, a, "a knows the next b", func() bool { return a.Alive(id) })
	began = time.Now()
	crash(again)
	until(t, a, "b is dead", func() bool { return !a.Alive(id) })
	if took := time.Since(began); took < short.ttl-short.renew || took > short.ttl+time.Second {
		t.Errorf("dead after %v, with a lease of %v", took, short.ttl)
	} else {
		t.Logf("a knew after %v that b was dead, with a lease of %v", took, short.ttl)
	}
	if ended, err := a.Ended(t.Context(), id); !ended || err != nil {
		t.Error(ended, err)
	}
}

// An idle cluster costs next to nothing: per node and second one renewal, its answer, and the watch
// messages of each node's renewals.
func TestIdleMessages(t *testing.T) {
	t.Parallel()
	const nodes = 3
	const renewals = 5
	c := natstest.Shared(t)
	var all []*Node
	for i := range nodes {
		all = append(all, ready(t, c.Conn(t), string(rune('a'+i)), func(o *Options) { o.timing = usual }))
	}
	for _, n := range all {
		until(t, n, "all know of all", func() bool { return len(n.Members()) == nodes && n.Members()[nodes-1].State == Ready })
	}
	n := all[0]
	before, began, first := n.opts.Conn.Stats(), time.Now(), n.Stats().Renewals
	until(t, n, "it has renewed a few times", func() bool { return n.Stats().Renewals >= first+renewals })
	s, seconds := n.opts.Conn.Stats(), time.Since(began).Seconds()
	out, in, bytes := s.OutMsgs-before.OutMsgs, s.InMsgs-before.InMsgs, s.InBytes+s.OutBytes-before.InBytes-before.OutBytes
	t.Logf("%d nodes: each sends %.2f and gets %.2f messages a second, %.0f bytes/s", nodes, float64(out)/seconds, float64(in)/seconds, float64(bytes)/seconds)
	if out > renewals+1 || in > (renewals+2)*(1+nodes) {
		t.Errorf("%d messages sent and %d got for %d renewals", out, in, renewals)
	}
}
