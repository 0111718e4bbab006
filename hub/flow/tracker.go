package flow

import (
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"

	"tabhub/spec"
)

const (
	maxAll    = 640_000  // values of all clients: 32 MB
	maxQueued = 16 << 20 // bytes of results that are still to be read
	maxJobs   = 1024
)

// Tracker knows which values the sites of one tenant have returned to whom. Its methods can
// be called at any time, by any number of goroutines. Clients are the IDs of principals, so
// that two connections of one are the same.
type Tracker struct {
	private func(spec.Domain) bool
	seed    maphash.Seed // a page that knew it could make its values look like those of others
	readers sync.Pool    // of *reader
	done    chan struct{}
	worker  sync.WaitGroup

	mu      sync.Mutex // guards what follows, and is never held while something is read
	clients map[string]*client
	queue   []job
	queued  int // bytes
	values  int // of all clients
	working bool
	closed  bool
}

// client is what is known of one client.
type client struct {
	waiting int // jobs; guarded by Tracker.mu

	mu    sync.Mutex // guards what follows
	table table
	used  time.Time
}

// job is something to be read: what a site returned, or if from is "" what was sent.
type job struct {
	of      *client
	from    spec.Domain
	data    json.RawMessage
	reached chan struct{} // closed then; of a job that reads nothing
}

// New returns a Tracker. Values of sites for which private reports true are kept when those
// of others have to go, and what of them could not be kept flows wherever something is sent.
func New(private func(spec.Domain) bool) *Tracker {
	t := &Tracker{private: private, seed: maphash.MakeSeed(), clients: map[string]*client{}, done: make(chan struct{})}
	t.readers.New = func() any { return &reader{seed: t.seed} }
	return t
}

// Close ends the Tracker, and waits for what it does.
func (t *Tracker) Close() {
	t.mu.Lock()
	if !t.closed {
		t.closed, t.queue = true, nil
		close(t.done)
	}
	t.mu.Unlock()
	t.worker.Wait()
}

// Learn takes what a site returned to a client: any JSON, valid and not to be changed. It is
// read later. Learn is to be called before the client has it, so that Settled knows of it.
// Without a site it does nothing.
func (t *Tracker) Learn(who string, from spec.Domain, result json.RawMessage) {
	if from == "" {
		return
	}
	c, ok := t.enqueue(who, job{from: from, data: result})
	if !ok {
		private := t.private(from)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.table.sites[c.table.returned(from, private, time.Now())].unseen = true
	}
}

// Sent takes arguments that a client has sent: what no site has returned to it before is its
// own. It is to be called after Find.
func (t *Tracker) Sent(who string, args json.RawMessage) {
	t.enqueue(who, job{data: args}) // without it more flows, which is not the worse
}

// enqueue has the worker do a job for a client, unless too much is to be done already.
func (t *Tracker) enqueue(who string, j job) (*client, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.clients[who]
	if c == nil {
		c = &client{table: table{values: map[uint64]origin{}}}
		c.table.sites[own] = &site{}
		t.clients[who] = c
	}
	if t.closed || len(t.queue) >= maxJobs || len(t.queue) > 0 && t.queued+len(j.data) > maxQueued {
		return c, false
	}
	j.of = c
	c.waiting++
	t.pushLocked(j)
	return c, true
}

// pushLocked adds a job to the queue, and sees to it that it is done.
func (t *Tracker) pushLocked(j job) {
	t.queue = append(t.queue, j)
	t.queued += len(j.data)
	if !t.working {
		t.working = true
		t.worker.Go(t.work)
	}
}

// work does the jobs there are.
func (t *Tracker) work() {
	t.mu.Lock()
	for len(t.queue) > 0 {
		j := t.queue[0]
		t.queue[0] = job{}
		t.queue = t.queue[1:]
		t.mu.Unlock()
		if j.reached != nil {
			close(j.reached)
		} else {
			t.read(j)
		}
		t.mu.Lock()
		t.queued -= len(j.data)
		if j.of != nil {
			j.of.waiting--
		}
	}
	t.working = false
	t.mu.Unlock()
}

// read does a job.
func (t *Tracker) read(j job) {
	r := t.readers.Get().(*reader)
	defer t.readers.Put(r)
	returned := j.from != ""
	r.read(j.data, !returned)
	private := returned && t.private(j.from)

	now := time.Now()
	c := j.of
	c.mu.Lock()
	had := len(c.table.values)
	c.table.forgetOld(now.Add(-lifetime), true)
	n := uint8(own)
	if returned {
		n = c.table.returned(j.from, private, now)
		c.used = now
	}
	c.table.learn(n, r.values)
	c.table.sites[n].unseen = c.table.sites[n].unseen || r.cut
	grown := len(c.table.values) - had
	c.mu.Unlock()

	t.mu.Lock()
	defer t.mu.Unlock()
	if t.values += grown; t.values > maxAll {
		t.makeRoomLocked(c)
	}
}

// makeRoomLocked forgets what clients know that have not been used for the longest time, but
// for private sites.
func (t *Tracker) makeRoomLocked(but *client) {
	others := slices.Collect(maps.Values(t.clients))
	used := make(map[*client]time.Time, len(others))
	for _, c := range others {
		c.mu.Lock()
		used[c] = c.used
		c.mu.Unlock()
	}
	slices.SortFunc(others, func(a, b *client) int { return used[a].Compare(used[b]) })
	for _, c := range others {
		if c == but {
			continue
		}
		c.mu.Lock()
		had := len(c.table.values)
		c.table.forgetOld(time.Now(), false)
		t.values += len(c.table.values) - had
		c.mu.Unlock()
		if t.values <= maxAll {
			return
		}
	}
}

// Settled blocks until all that Learn and Sent were given before of a client has been read.
// The error is ctx's cause, or that the Tracker was closed.
func (t *Tracker) Settled(ctx context.Context, who string) error {
	t.mu.Lock()
	c := t.clients[who]
	if c == nil || c.waiting == 0 {
		t.mu.Unlock()
		return nil
	}
	reached := make(chan struct{})
	t.pushLocked(job{reached: reached})
	t.mu.Unlock()
	select {
	case <-reached:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.done:
		return errors.New("the hub is ending")
	}
}
