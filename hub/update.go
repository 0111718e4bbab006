package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tabhub/hub/state"
	"tabhub/hub/trust/record"
	"tabhub/storage"
)

// update is the one way to change a Hub's state: f runs under the mutex and must not
// block; what it leaves to do is done after it. The functions in synced are called once
// all that was changed is on disk, or with an error. It reports false, having done
// nothing, if the Hub has stopped.
func (h *Hub) update(f func(tx *state.Tx), synced ...func(error)) bool {
	h.mu.Lock()
	if h.stopped {
		h.mu.Unlock()
		return false
	}
	tx := h.state.Begin(time.Now())
	f(tx)
	work := tx.End()
	h.unwritten = append(h.unwritten, work.Writes...)
	h.synced = append(h.synced, synced...)
	write := len(h.unwritten) > 0 || len(h.synced) > 0
	h.mu.Unlock()

	h.changes.Fire()
	h.updates.Add(1)
	h.opts.Changed.Fire()
	if work.Listed {
		h.notices.dirty()
	}
	for _, t := range work.Timers {
		h.startTimer(t)
	}
	if write {
		h.flush()
	}
	for _, g := range work.Gone {
		h.Record(record.Entry{
			Time: time.Now(), Event: record.Gone, Tab: g.Addr.String(), Domain: g.Domain,
			Outcome: "ok", Reason: fmt.Sprintf("it offered %d", g.Items),
		})
	}
	if work.Leased {
		h.holds.Fire()
	}
	for _, s := range work.Ended {
		h.endRoom(s)
	}
	for _, d := range work.Disconnects {
		h.transport.Disconnect(d.Addr, d.Code, d.Reason)
	}
	return true
}

// view reads a Hub's state, under the mutex: f must not block.
func view[T any](h *Hub, f func(*state.State) T) T {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return f(h.state)
}

// startTimer tells the state when a timer has run out. While the Hub closes nobody is
// given up, and a Hub that has stopped is held by no timer: leases last for hours.
func (h *Hub) startTimer(t state.Timer) {
	ctx, end := context.WithTimeout(h.ctx, t.After)
	context.AfterFunc(ctx, func() {
		defer end()
		if h.ctx.Err() != nil {
			return
		}
		h.update(func(tx *state.Tx) {
			if !h.closing {
				tx.TimerOver(t)
			}
		})
	})
}

// flush hands what update has collected to the store, in order.
func (h *Hub) flush() {
	h.flushMu.Lock()
	defer h.flushMu.Unlock()
	h.mu.Lock()
	changes, synced := h.unwritten, h.synced
	if len(changes) == 0 && len(synced) == 0 {
		h.mu.Unlock()
		return
	}
	h.unwritten, h.synced = nil, nil
	h.wrote++
	h.mu.Unlock()
	h.store.Write(h.opts.User, h.epoch, changes, func(err error) {
		failed := err != nil && !errors.Is(err, storage.ErrStaleEpoch)
		switch was := h.unstored.Swap(failed); {
		case failed && !was:
			h.log.Error("store: write failed", "err", err)
		case was && err == nil:
			h.log.Info("store: writes are kept again")
		}
		h.written(err)
		for _, f := range synced {
			f(err)
		}
		h.kept.Add(1)
		h.settled.Fire()
	})
}

// Settled blocks until what a client was shown of the Hub by now is kept, where another process
// may serve the user next: a name that this one alone knows would be given to something else
// there. The error is ctx's cause, or why the Hub has ended.
func (h *Hub) Settled(ctx context.Context) error {
	if !h.opts.Shared {
		return nil
	}
	h.mu.RLock()
	wrote := h.wrote
	if len(h.unwritten) > 0 || len(h.synced) > 0 {
		wrote++
	}
	h.mu.RUnlock()
	for {
		changed := h.settled.Wait()
		if h.kept.Load() >= wrote {
			return nil
		}
		if err := await(ctx, h, changed); err != nil {
			return err
		}
	}
}

// written takes in how a write has ended.
func (h *Hub) written(err error) {
	if err == nil {
		h.storeErr.Store(nil)
		return
	}
	h.storeErr.Store(&err)
	if errors.Is(err, storage.ErrStaleEpoch) {
		h.Supersede(err)
	}
}
