package jetstream

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/jetstream/natstest"
	"tabhub/storage/storagetest"
)

// clusters runs f with one server, with three, and with three that write to disk before they
// acknowledge.
func clusters(b *testing.B, f func(b *testing.B, c *natstest.Cluster, replicas int)) {
	for name, o := range map[string]natstest.Options{"servers=1": {}, "servers=3": {}, "servers=3/sync": {SyncAlways: true}} {
		n := int(name[len("servers=")] - '0')
		b.Run(name, func(b *testing.B) {
			f(b, natstest.StartOptions(b, n, o), n)
		})
	}
}

// percentiles reports how long each of b's operations took.
func percentiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkWrite is the time from Write to done of a hub that waits for each.
func BenchmarkWrite(b *testing.B) {
	clusters(b, func(b *testing.B, c *natstest.Cluster, replicas int) {
		st := open(b, c.Conn(b), replicas, "a/1")
		epoch := load(b, st, "ann").Epoch
		var took []time.Duration
		for i := 0; b.Loop(); i++ {
			start := time.Now()
			must(b, write(st, "ann", epoch, storagetest.Registration(i%100)...))
			took = append(took, time.Since(start))
		}
		percentiles(b, took)
	})
}

// BenchmarkWriteUsers is the time that a write of one of 100 users takes who all write at once.
func BenchmarkWriteUsers(b *testing.B) {
	clusters(b, func(b *testing.B, c *natstest.Cluster, replicas int) {
		st := open(b, c.Conn(b), replicas, "a/1")
		var wg sync.WaitGroup
		change := storage.Settings{Name: "n", Body: []byte(`{"some":"thing"}`)}
		const users = 100
		epochs := make([]spec.Epoch, users)
		for u := range users {
			epochs[u] = load(b, st, spec.UserID(fmt.Sprint("u", u))).Epoch
		}
		b.ResetTimer()
		for u := range users {
			wg.Go(func() {
				for range (b.N + users - 1) / users {
					if err := write(st, spec.UserID(fmt.Sprint("u", u)), epochs[u], change); err != nil {
						b.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}

// BenchmarkLoad is the takeover of a user with so many tabs of ten tools.
func BenchmarkLoad(b *testing.B) {
	for _, tabs := range []int{0, 10, 100, 1000} {
		b.Run(fmt.Sprint("tabs=", tabs), func(b *testing.B) {
			clusters(b, func(b *testing.B, c *natstest.Cluster, replicas int) {
				nc := c.Conn(b)
				st := open(b, nc, replicas, "a/1")
				epoch := load(b, st, "ann").Epoch
				for i := range tabs {
					must(b, write(st, "ann", epoch, storagetest.Registration(i)...))
				}
				other := open(b, nc, replicas, "b/1")
				var took []time.Duration
				for b.Loop() {
					start := time.Now()
					load(b, other, "ann")
					took = append(took, time.Since(start))
				}
				percentiles(b, took)
			})
		})
	}
}

// BenchmarkUsers is a node that takes over 5,000 users of one tab each, 32 at a time.
func BenchmarkUsers(b *testing.B) {
	clusters(b, func(b *testing.B, c *natstest.Cluster, replicas int) {
		const users = 5000
		nc := c.Conn(b)
		each := func(f func(user spec.UserID)) {
			var wg sync.WaitGroup
			turns := make(chan struct{}, 32)
			for u := range users {
				turns <- struct{}{}
				wg.Go(func() {
					f(spec.UserID(fmt.Sprint("user", u, "@example.com")))
					<-turns
				})
			}
			wg.Wait()
		}
		first := open(b, nc, replicas, "a/1")
		each(func(user spec.UserID) {
			must(b, write(first, user, load(b, first, user).Epoch, storagetest.Registration(0)...))
		})
		for b.Loop() {
			st := open(b, nc, replicas, "b/1")
			b.StopTimer()
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			sent := nc.Stats().OutMsgs
			b.StartTimer()
			each(func(user spec.UserID) { load(b, st, user) })
			b.StopTimer()
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/users, "bytes/user")
			b.ReportMetric(float64(nc.Stats().OutMsgs-sent)/users, "sent/user")
			runtime.KeepAlive(st)
			b.StartTimer()
		}
	})
}
