package live

import (
	"sync"
	"testing"
)

// Who listens must hear of each change after the last one that was taken in, and who has
// stopped of none.
func TestBell(t *testing.T) {
	var b Bell
	b.Ring()
	if b.Heard() {
		t.Error("heard before anybody listens")
	}
	one, stopOne := b.Listen()
	two, stopTwo := b.Listen()
	b.Ring()
	b.Ring()
	<-one
	if len(one) != 0 || len(two) != 1 {
		t.Errorf("after two rings %d and %d wait", len(one), len(two))
	}
	stopTwo()
	<-two
	b.Ring()
	if len(one) != 1 || len(two) != 0 {
		t.Errorf("%d and %d wait", len(one), len(two))
	}
	stopOne()
	stopOne()
	if b.Heard() {
		t.Error("heard after all have stopped")
	}
	var none *Bell
	none.Ring()
	if none.Heard() {
		t.Error("nil is heard")
	}
}

// No ring may be lost while others come and go.
func TestBellConcurrently(t *testing.T) {
	var b Bell
	rung, stop := b.Listen()
	defer stop()
	var others sync.WaitGroup
	for range 4 {
		others.Go(func() {
			for range 1000 {
				_, stop := b.Listen()
				b.Ring()
				stop()
			}
		})
	}
	others.Wait()
	<-rung
}

func BenchmarkRing(b *testing.B) {
	var bell Bell
	b.Run("unheard", func(b *testing.B) {
		for b.Loop() {
			bell.Ring()
		}
	})
	_, stop := bell.Listen()
	defer stop()
	b.Run("heard", func(b *testing.B) {
		for b.Loop() {
			bell.Ring()
		}
	})
}
