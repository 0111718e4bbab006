package jetstream

import (
	"fmt"
	"slices"
	"testing"
	"time"

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
