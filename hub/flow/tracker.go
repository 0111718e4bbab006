package flow

import (
	"cmp"
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
	maxQueued = 16 << 20 // bytes of results that are to be read now
	maxJobs   = 1024
	maxLater  = 512 << 10 // bytes of what a client's only site has returned, unread
)

// Tracker knows which values the sites of one tenant have returned to whom. Its methods can
// be called at any time, by any number of goroutines. Clients are the IDs of principals, so
// that two connections of one are the same.
type Tracker struct {
	private func(spec.Domain) bool
	seed    maphash.Seed // a page that knew it could make its values look like those of others
	readers sync.Pool    // of *reader
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
	waiting int         // jobs in the queue; as what follows guarded by Tracker.mu
	first   spec.Domain // that has returned something
	several bool        // others have, too
	// later is what is not read as long as there is but one site, whose values can go to no
	// other: the latest, so that who calls one site alone pays for nothing.
	later  []job
	unread int  // bytes in later
	lost   bool // something was in later that is there no more

	mu    sync.Mutex // guards what follows
	table table
	used  time.Time
}

// job is something to be read: what a site returned, or if from is "" what was sent. With
// do that is to be done, and nothing read.
type job struct {
	of   *client
	from spec.Domain
	data json.RawMessage
	lost bool // data is not all that was returned
	do   func()
}

// New returns a Tracker. Values of sites for which private reports true are kept when those
// of others have to go, and what of them could not be kept flows wherever something is sent.
func New(private func(spec.Domain) bool) *Tracker {
	t := &Tracker{private: private, seed: maphash.MakeSeed(), clients: map[string]*client{}}
	t.readers.New = func() any { return &reader{seed: t.seed} }
	return t
}

// Close waits for what is still to be done. Nothing is begun after it.
func (t *Tracker) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.worker.Wait()
}

// Forget forgets what a client knows, which does not come back.
func (t *Tracker) Forget(who string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.clients[who]
	if c == nil || t.closed {
		return
	}
	delete(t.clients, who)
	t.pushLocked(c, job{do: func() { // once what is queued of it has been read
		t.mu.Lock()
		defer t.mu.Unlock()
		c.mu.Lock()
		defer c.mu.Unlock()
		t.values -= len(c.table.values)
	}})
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
	t.enqueue(who, job{data: args}) // without it there are more flows, rather than fewer
}

// After has do called when all has been read that Learn and Sent were given before of a
// client; at once if there is too much.
func (t *Tracker) After(who string, do func()) {
	if _, ok := t.enqueue(who, job{do: do}); !ok {
		do()
	}
}

// KnowsOther reports whether any site but to has returned something to a client. If not,
// Find finds nothing.
func (t *Tracker) KnowsOther(who string, to spec.Domain) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.clients[who]
	return c != nil && (c.several || c.first != "" && c.first != to)
}

// enqueue has the worker do a job for a client, now or later, unless too much is to be done
// already.
func (t *Tracker) enqueue(who string, j job) (*client, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.clients[who]
	if c == nil {
		c = &client{table: table{values: map[uint64]origin{}}}
		c.table.sites[own] = &site{}
		t.clients[who] = c
	}
	if j.from != "" {
		c.several = c.several || c.first != "" && c.first != j.from
		c.first = cmp.Or(c.first, j.from)
	}
	if j.do == nil && !c.several && len(j.data) <= maxLater {
		c.defers(j)
		return c, true
	}
	full := len(j.data) > 0 && len(t.queue) > 0 && t.queued+len(j.data) > maxQueued
	if t.closed || full || len(t.queue) >= maxJobs {
		return c, false
	}
	if c.lost {
		t.pushLocked(c, job{from: c.first, lost: true})
	}
	for _, j := range c.later {
		t.pushLocked(c, j)
	}
	c.later, c.unread, c.lost = nil, 0, false
	t.pushLocked(c, j)
	return c, true
}

// defers has a job done when it is needed.
func (c *client) defers(j job) {
	c.later = append(c.later, j)
	c.unread += len(j.data)
	for c.unread > maxLater || len(c.later) > maxJobs {
		c.unread -= len(c.later[0].data)
		c.lost = c.lost || c.later[0].from != ""
		c.later[0] = job{}
		c.later = c.later[1:]
	}
}

// pushLocked adds a job to the queue, and sees to it that it is done.
func (t *Tracker) pushLocked(c *client, j job) {
	j.of = c
	c.waiting++
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
		if j.do != nil {
			j.do()
		} else {
			t.read(j)
		}
		t.mu.Lock()
		t.queued -= len(j.data)
		j.of.waiting--
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
	c.table.sites[n].unseen = c.table.sites[n].unseen || r.cut || j.lost
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

// Settled blocks until all has been read that Learn and Sent were given before of a client.
// The error is ctx's cause, or says that there is too much.
func (t *Tracker) Settled(ctx context.Context, who string) error {
	t.mu.Lock()
	c := t.clients[who]
	read := c == nil || c.waiting == 0 && len(c.later) == 0
	t.mu.Unlock()
	if read {
		return nil
	}
	reached := make(chan struct{})
	if _, ok := t.enqueue(who, job{do: func() { close(reached) }}); !ok {
		return errBusy
	}
	select {
	case <-reached:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

var errBusy = errors.New("too much is still to be read")
