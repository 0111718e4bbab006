package flow

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
)

// mailText is ordinary text of n bytes, with values in it.
func mailText(n int) string {
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the order was sent on Monday and will arrive at your house before noon please have a look at what is written below about returns")
	var b strings.Builder
	for b.Len() < n {
		switch random.IntN(20) {
		case 0:
			fmt.Fprintf(&b, "%08d ", random.IntN(1e8))
		case 1:
			b.WriteString("Jane Miller ")
		default:
			b.WriteString(words[random.IntN(len(words))] + " ")
		}
	}
	return b.String()[:n]
}

func object(text string) json.RawMessage {
	v, _ := json.Marshal(map[string]string{"text": text})
	return v
}

func BenchmarkFind(b *testing.B) {
	tr := newTracker(b)
	for i := range 8 {
		tr.Learn("agent", "mail.example", object(mailText(8<<10+i)))
	}
	if err := tr.Settled(b.Context(), "agent"); err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{200, 4 << 10, 64 << 10} {
		args := object(mailText(size + 100_000)[100_000:])
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tr.Find(nil, "agent", "shop.example", args)
			}
		})
		b.Run(fmt.Sprint(size, "/only one site"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tr.Find(nil, "agent", "mail.example", args)
			}
		})
	}
}

func BenchmarkLearn(b *testing.B) {
	for _, size := range []int{200, 4 << 10, 64 << 10} {
		result := object(mailText(size))
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			tr := newTracker(b)
			b.ReportAllocs()
			for b.Loop() {
				tr.Learn("agent", "mail.example", result)
				if err := tr.Settled(b.Context(), "agent"); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprint(size, "/on the path"), func(b *testing.B) {
			tr := newTracker(b)
			b.ReportAllocs()
			for b.Loop() {
				tr.Learn("agent", "mail.example", result)
			}
		})
	}
}

// What is kept is bounded by a number of values; this is what one takes.
func BenchmarkMemory(b *testing.B) {
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		c := table{values: map[uint64]origin{}}
		c.sites[own] = &site{}
		for i := range 8 {
			n := c.returned(spec.Domain(fmt.Sprint(i)), false, time.Now())
			for range quota {
				c.learn(n, []value{{hash: rand.Uint64()}})
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(len(c.values)), "B/value")
		runtime.KeepAlive(&c)
	}
}
