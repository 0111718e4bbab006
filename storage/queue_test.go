package storage

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// disk is a commit function that takes its time and counts.
type disk struct {
	slow time.Duration

	mu      sync.Mutex
	fail    error
	commits int
	changes int
}

func (d *disk) commit(b *batch) error {
	time.Sleep(d.slow)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.commits++
	for _, u := range b.users {
		d.changes += len(u.changes)
	}
	return d.fail
}

// epoch is the one that user u of a test's queue has.
const epoch = 1

func newTestQueue(max int, d *disk) *queue {
	q := newQueue(max, d.commit)
	q.raise("u", epoch-1)
	return q
}

// TestBurstIsFewCommits: a thousand tabs that register at once must not mean a
// thousand waits for the disk.
func TestBurstIsFewCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{slow: 5 * time.Millisecond}
		q := newTestQueue(1<<20, d)
		var done sync.WaitGroup
		start := time.Now()
		for i := range 1000 {
			done.Add(1)
			q.write("u", epoch, []Change{Number{Domain: "d", Key: fmt.Sprint(i)}}, func(error) { done.Done() })
			time.Sleep(500 * time.Microsecond)
		}
		done.Wait()
		if took := time.Since(start); took > 520*time.Millisecond {
			t.Errorf("the last done was called after %v", took)
		}
		q.close()
		if d.changes != 1000 || d.commits > 60 {
			t.Errorf("%d changes in %d commits", d.changes, d.commits)
		}
	})
}

// TestAloneIsWrittenAtOnce: a tab that waits for its acknowledgement gets it.
func TestAloneIsWrittenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{slow: time.Millisecond}
		q := newTestQueue(1<<20, d)
		start := time.Now()
		done := make(chan error)
		q.write("u", epoch, []Change{Number{Domain: "e"}}, nil)
		q.write("u", epoch, []Change{Number{Domain: "d"}}, func(err error) { done <- err })
		<-done
		if took := time.Since(start); took != time.Millisecond {
			t.Errorf("it took %v", took)
		}
		q.close()
	})
}

// TestBacklogIsBounded: a disk that hangs must not eat the memory, and tabs that
// update again and again take the room of one update.
func TestBacklogIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{slow: time.Hour}
		q := newTestQueue(100_000, d)
		q.write("u", epoch, []Change{Number{Domain: "d"}}, func(error) {})
		synctest.Wait() // the disk hangs
		tab := func(key string) []Change {
			return []Change{Tab{Domain: "d", Key: key, Title: strings.Repeat("x", 10_000)}}
		}
		for range 1000 {
			q.write("u", epoch, tab("same"), func(err error) {
				if err != nil {
					t.Errorf("update of one tab: %v", err)
				}
			})
		}
		var mu sync.Mutex
		refused := 0
		for i := range 20 {
			q.write("u", epoch, tab(fmt.Sprint(i)), func(err error) {
				mu.Lock()
				defer mu.Unlock()
				if errors.Is(err, ErrBacklog) {
					refused++
				}
			})
		}
		synctest.Wait()
		if refused < 10 || refused > 12 {
			t.Errorf("%d of 20 were refused", refused)
		}
		q.close()
		if d.changes != 1+20-refused+1 {
			t.Errorf("%d changes were written", d.changes)
		}
	})
}

// TestFailureIsToldToWhomItConcerns: those of the failed commit, not the next ones.
func TestFailureIsToldToWhomItConcerns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		d := &disk{fail: full, slow: time.Millisecond}
		q := newTestQueue(1<<20, d)
		got := make(chan error, 3)
		q.write("u", epoch, []Change{Number{Domain: "a"}}, func(err error) { got <- err })
		if err := <-got; err != full {
			t.Errorf("first: %v", err)
		}
		d.fail = nil
		q.write("u", epoch, []Change{Number{Domain: "b"}}, func(err error) { got <- err })
		if err := <-got; err != nil {
			t.Errorf("second: %v", err)
		}
		q.close()
	})
}
