package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tabhub/hub/state"
	"tabhub/hub/trust/record"
	"tabhub/storage"
)

// Update is the one way to change a Core's state: f runs under the mutex and must not
// block; what it leaves to do is done after it. The functions in synced are called once
// all that was changed is on disk, or with an error. It reports false, having done
// nothing, if the Hub has stopped.
func (c *Core) Update(f func(tx *state.Tx), synced ...func(error)) bool {
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		return false
	}
	tx := c.state.Begin(time.Now())
	f(tx)
	work := tx.End()
	c.unwritten = append(c.unwritten, work.Writes...)
	c.synced = append(c.synced, synced...)
	write := len(c.unwritten) > 0 || len(c.synced) > 0
	c.mu.Unlock()

	c.changes.Fire()
	c.NoteChange()
	if work.Listed {
		c.hooks.Listed()
	}
	for _, t := range work.Timers {
		c.startTimer(t)
	}
	if write {
		c.flush()
	}
	for _, g := range work.Gone {
		c.Record(record.Entry{
			Time: time.Now(), Event: record.Gone, Tab: g.Addr.String(), Domain: g.Domain,
			Outcome: "ok", Reason: fmt.Sprintf("it offered %d", g.Items),
		})
	}
	if work.Leased {
		c.hooks.Leased()
	}
	for _, s := range work.Ended {
		c.hooks.Ended(s)
	}
	for _, d := range work.Disconnects {
		c.transport.Disconnect(d.Addr, d.Code, d.Reason)
	}
	return true
}

// View reads a Hub's state, under the mutex: f must not block.
func View[T any](h *Core, f func(*state.State) T) T {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return f(h.state)
}

// RLock has the state stay as it is until RUnlock, for what View is too narrow. The caller must
// not block meanwhile.
func (c *Core) RLock() { c.mu.RLock() }

// RUnlock ends what RLock began.
func (c *Core) RUnlock() { c.mu.RUnlock() }

// State returns the state, which the caller reads between RLock and RUnlock.
func (c *Core) State() *state.State { return c.state }

// Changes returns a channel that is closed after the next change of the state.
func (c *Core) Changes() <-chan struct{} { return c.changes.Wait() }

// NoteChange says that what the owner sees has changed.
func (c *Core) NoteChange() {
	c.updates.Add(1)
	c.Options.Changed.Fire()
}

// Revision counts the calls of NoteChange, and the changes of the state.
func (c *Core) Revision() uint64 { return c.updates.Load() }

// StoreError returns why the last write to the store has failed; nil: it has not.
func (c *Core) StoreError() error {
	if err := c.storeErr.Load(); err != nil {
		return *err
	}
	return nil
}

// startTimer tells the state when a timer has run out. While the Core closes no peer is
// given up, and a Hub that has stopped is held by no timer: leases last for hours.
func (c *Core) startTimer(t state.Timer) {
	ctx, end := context.WithTimeout(c.ctx, t.After)
	context.AfterFunc(ctx, func() {
		defer end()
		if c.ctx.Err() != nil {
			return
		}
		c.Update(func(tx *state.Tx) {
			if !c.closing {
				tx.TimerOver(t)
			}
		})
	})
}

// flush hands what update has collected to the store, in order.
func (c *Core) flush() {
	c.flushMu.Lock()
	defer c.flushMu.Unlock()
	c.mu.Lock()
	changes, synced := c.unwritten, c.synced
	if len(changes) == 0 && len(synced) == 0 {
		c.mu.Unlock()
		return
	}
	c.unwritten, c.synced = nil, nil
	c.wrote++
	c.mu.Unlock()
	c.store.Write(c.Options.User, c.epoch, changes, func(err error) {
		failed := err != nil && !errors.Is(err, storage.ErrStaleEpoch)
		switch was := c.unstored.Swap(failed); {
		case failed && !was:
			c.Log.Error("store: write failed", "err", err)
		case was && err == nil:
			c.Log.Info("store: writes are kept again")
		}
		c.written(err)
		for _, f := range synced {
			f(err)
		}
		c.ended.Add(1)
		c.stored.Fire()
	})
}

// Settled blocks until what a client was shown of the Hub by now is kept, where another process
// may serve the user next: a name that this one alone knows would be given to something else
// there. The error is ctx's cause, or why the Hub has ended.
func (c *Core) Settled(ctx context.Context) error {
	if !c.Options.StoredFirst {
		return nil
	}
	c.mu.RLock()
	wrote := c.wrote
	if len(c.unwritten) > 0 || len(c.synced) > 0 {
		wrote++
	}
	c.mu.RUnlock()
	for {
		changed := c.stored.Wait()
		if c.ended.Load() >= wrote {
			return nil
		}
		if err := AwaitSignal(ctx, c, changed); err != nil {
			return err
		}
	}
}

// written takes in how a write has ended.
func (c *Core) written(err error) {
	if err == nil {
		c.storeErr.Store(nil)
		return
	}
	c.storeErr.Store(&err)
	if errors.Is(err, storage.ErrStaleEpoch) {
		c.Supersede(err)
	}
}

// confirmEvery is how often the store is asked by calls whether another hub serves the user
// by now.
const confirmEvery = time.Second

// ConfirmEpoch has the store say whether another hub serves the user by now, which a hub
// whose tabs are quiet does not learn from what it writes.
func (c *Core) ConfirmEpoch() {
	now, last := time.Now().UnixNano(), c.confirmed.Load()
	if now-last < int64(confirmEvery) || !c.confirmed.CompareAndSwap(last, now) {
		return
	}
	c.store.Write(c.Options.User, c.epoch, nil, func(err error) {
		if err != nil {
			c.written(err)
		}
	})
}
