package storage_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"tabhub/storage"
	"tabhub/storage/storagetest"
)

func BenchmarkCreate(b *testing.B) {
	dir := b.TempDir()
	for i := range b.N {
		st, err := storage.Open(filepath.Join(dir, fmt.Sprint(i)), storage.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		st.Close()
		b.StartTimer()
	}
}

// BenchmarkOpen opens the store of a user with so many tabs of ten tools.
func BenchmarkOpen(b *testing.B) {
	for _, tabs := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(tabs), func(b *testing.B) {
			dir := b.TempDir()
			st := open(b, dir)
			fill(b, st, tabs)
			st.Close()
			for b.Loop() {
				st, err := storage.Open(filepath.Join(dir, "tabhub.db"), storage.Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				st.Close()
				b.StartTimer()
			}
		})
	}
}

func BenchmarkLoad1000(b *testing.B) {
	st := open(b, b.TempDir())
	fill(b, st, 1000)
	for b.Loop() {
		if _, err := st.Load(b.Context(), user, time.Time{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBurst is 1,000 tabs that register ten tools each within half a second.
// felt/op is what Write takes of the hub's own time.
func BenchmarkBurst(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		st := open(b, b.TempDir())
		epoch := takeOver(b, st)
		var all [][]storage.Change
		for i := range 1000 {
			all = append(all, storagetest.Registration(i))
		}
		var done sync.WaitGroup
		done.Add(len(all))
		tick := time.NewTicker(500 * time.Microsecond)
		b.StartTimer()
		var felt time.Duration
		for _, changes := range all {
			start := time.Now()
			st.Write(user, epoch, changes, func(err error) {
				if err != nil {
					b.Error(err)
				}
				done.Done()
			})
			felt += time.Since(start)
			<-tick.C
		}
		done.Wait()
		b.ReportMetric(float64(felt.Microseconds())/1000, "felt-ms/op")
		tick.Stop()
		b.StopTimer()
		st.Close()
		b.StartTimer()
	}
}
