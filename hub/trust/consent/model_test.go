package consent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// disk stores questions as a hub does: later, and in order. One that is killed loses what is not written.
type disk struct {
	stored map[string]json.RawMessage

	mu    sync.Mutex
	queue []func()
}

func (d *disk) later(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = append(d.queue, f)
}

// all returns how much is to be written.
func (d *disk) all() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.queue)
}

// write writes the first n of what is to be written.
func (d *disk) write(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for ; n > 0 && len(d.queue) > 0; n-- {
		f := d.queue[0]
		d.queue = d.queue[1:]
		f()
	}
}

// game plays clients, an owner, and a hub that stops and is killed, at random.
type game struct {
	t      *testing.T
	rng    *rand.Rand
	disk   *disk
	window *flaky
	shown  chan shownQuestion
	desk   *Desk
	calls  map[int]*playedCall
	last   int
	may    map[string]int // how many calls may pass of those with that key
	sent   int
	told   []string // what has happened
}

// flaky is a window of a browser that comes and goes.
type flaky struct {
	window
	gone atomic.Bool
}

func (w *flaky) Connected() bool { return !w.gone.Load() }

type playedCall struct {
	key    string
	cancel context.CancelFunc
	answer Answer
	err    error
	ended  chan struct{} // closed then
}

type shownQuestion struct {
	q      *spec.Ask
	answer chan spec.Reach
	ctx    context.Context
}

func (g *game) say(format string, args ...any) { g.told = append(g.told, fmt.Sprintf(format, args...)) }

func (g *game) open() {
	store := g.disk
	o := Options{
		Browser: g.window, Late: slices.Collect(maps.Values(store.stored)),
		Keep: func(id string, question json.RawMessage) { store.later(func() { store.stored[id] = question }) },
		Forget: func(id string, synced func(error)) {
			store.later(func() {
				delete(store.stored, id)
				if synced != nil {
					synced(nil)
				}
			})
		},
		Remember: func(policy.Rule) error { return nil },
	}
	g.desk = New(o)
}

// drop forgets the calls of a desk that has ended.
func (g *game) drop() {
	for _, c := range g.calls {
		c.cancel()
	}
	clear(g.calls)
}

func (g *game) ask() {
	by := client([]string{"a", "b"}[g.rng.IntN(2)])
	by.Session = fmt.Sprint("s", g.rng.IntN(2))
	args := fmt.Sprintf(`{"n":"%d"}`, g.rng.IntN(2))
	ctx, cancel := context.WithCancel(g.t.Context())
	c := &playedCall{key: by.Principal.Name + args[6:7], cancel: cancel, ended: make(chan struct{})}
	g.last++
	g.calls[g.last] = c
	g.say("%d: %s/%s asks", g.last, by.Session, c.key)
	desk := g.desk
	go func() {
		c.answer, c.err = desk.Ask(ctx, by, pay(by, args))
		close(c.ended)
	}()
}

// keyOfShown returns the key of a question.
func keyOfShown(q *spec.Ask) string { return q.Client.Name + q.Args[0].Value }

func (g *game) answers(key string, reach spec.Reach, answer func() <-chan error) {
	g.say("the owner says %s to %s", reach, key)
	if reach == spec.ReachOnce {
		g.may[key]++ // from now on
		answer()
		return
	}
	synctest.Wait() // an answer that was given before counts before
	ended := answer()
	synctest.Wait()
	g.disk.write(g.disk.all())
	synctest.Wait()
	g.collect()
	select {
	case err := <-ended:
		if err == nil {
			g.may[key] = 0
		}
	default:
		g.t.Errorf("no answer:\n%s", join(g.told))
	}
}

// collect sends what may pass, or gives it back.
func (g *game) collect() {
	synctest.Wait()
	for _, id := range slices.Sorted(maps.Keys(g.calls)) {
		c := g.calls[id]
		select {
		case <-c.ended:
		default:
			continue
		}
		delete(g.calls, id)
		switch {
		case c.err != nil:
			g.desk.Unsent(c.answer, c.err) // as the hub does
		case g.rng.IntN(4) == 0:
			g.say("%d: not sent", id)
			g.desk.Unsent(c.answer, context.Canceled)
			g.desk.Unsent(c.answer, context.Canceled)
		default:
			g.say("%d: sent", id)
			g.sent++
			if g.may[c.key]--; g.may[c.key] < 0 {
				g.t.Fatalf("a call passes that nobody has allowed:\n%s", join(g.told))
			}
		}
	}
}

func join(lines []string) (all string) {
	for _, l := range lines[max(0, len(lines)-60):] {
		all += l + "\n"
	}
	return all
}

func (g *game) step() {
	switch n := g.rng.IntN(100); {
	case n < 35:
		g.ask()
	case n < 50: // some give up
		for _, id := range slices.Sorted(maps.Keys(g.calls)) {
			if c := g.calls[id]; g.rng.IntN(2) == 0 {
				g.say("%d: gives up", id)
				c.cancel()
			}
		}
	case n < 62:
		if open := g.desk.Open(); len(open) > 0 {
			q := open[g.rng.IntN(len(open))]
			reach := []spec.Reach{spec.ReachOnce, spec.ReachOnce, spec.ReachNo}[g.rng.IntN(3)]
			desk := g.desk
			g.answers(keyOfShown(&q.Ask), reach, func() <-chan error {
				ended := make(chan error, 1)
				go func() { ended <- desk.Answer(q.ID, q.Digest, spec.AskResult{Reach: reach}, ByCommand) }()
				return ended
			})
		}
	case n < 70:
		select {
		case s := <-g.shown:
			if s.ctx.Err() == nil {
				reach := []spec.Reach{spec.ReachOnce, spec.ReachOnce, spec.ReachNo}[g.rng.IntN(3)]
				g.answers(keyOfShown(s.q), reach, func() <-chan error {
					ended := make(chan error, 1)
					ended <- s.ctx.Err() // it may have been closed by another answer
					s.answer <- reach
					return ended
				})
			}
		default:
		}
	case n < 74:
		synctest.Wait()
		g.window.gone.Store(!g.window.gone.Load())
	case n < 82:
		synctest.Wait()
		g.disk.write(g.rng.IntN(4))
	case n < 86:
		g.say("a pause")
		g.collect()
		g.desk.Withdraw(func(*policy.Action) error { return errors.New("paused") })
		synctest.Wait()
		g.disk.write(g.disk.all())
		g.collect()
		clear(g.may)
	case n < 89:
		g.say("a restart")
		g.desk.Close(errors.New("a restart"))
		synctest.Wait()
		g.disk.write(g.disk.all())
		g.collect()
		g.drop()
		g.desk.Wait()
		g.open()
	case n < 92:
		g.collect()
		g.disk.write(g.rng.IntN(4))
		g.collect()
		g.say("it is killed, and %d writes are lost", g.disk.all())
		old := g.desk
		g.disk = &disk{stored: g.disk.stored}
		g.open()
		g.drop()
		old.Close(errors.New("killed"))
		old.Wait()
	default:
		d := time.Duration(g.rng.ExpFloat64() * float64(time.Minute))
		g.say("%v pass", d)
		time.Sleep(d)
	}
	if g.rng.IntN(3) > 0 { // else more happens at once
		g.collect()
	}
}

// Whatever clients, the owner and the hub do, in whatever order, and whenever the hub is killed: no more calls
// pass than the owner has allowed, and none after a no.
func TestGame(t *testing.T) {
	sent := 0
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			g := &game{t: t, rng: rand.New(rand.NewPCG(seed, 0)), disk: &disk{stored: map[string]json.RawMessage{}}, calls: map[int]*playedCall{}, may: map[string]int{}, shown: make(chan shownQuestion, 1000)}
			g.window = &flaky{window: window{answer: func(ctx context.Context, q *spec.Ask) (spec.AskResult, error) {
				s := shownQuestion{q, make(chan spec.Reach, 1), ctx}
				g.shown <- s
				select {
				case reach := <-s.answer:
					return spec.AskResult{Reach: reach}, nil
				case <-ctx.Done():
					return spec.AskResult{}, ctx.Err()
				}
			}}}
			g.say("seed %d", seed)
			g.open()
			for range 200 {
				g.step()
			}
			g.collect()
			g.desk.Close(errors.New("the end"))
			g.drop()
			g.disk.write(g.disk.all())
			g.desk.Wait()
			sent += g.sent
		})
	}
	t.Logf("%d calls passed", sent)
	if sent < 500 {
		t.Error("too few calls pass for it to say much")
	}
}
