package hub

import (
	"context"
	"maps"
	"slices"
	"time"

	"tabhub/spec"
)

// Await blocks until ready reports true. ready is asked at once and then after each
// change of the hub's state, from Await's goroutine and without a lock, so it may
// call the Hub's other methods. The error is ctx's cause, or a *Failure if the Hub
// is closed.
func (h *Hub) Await(ctx context.Context, ready func() bool) error {
	for {
		h.mu.Lock()
		changed := h.waitLocked()
		h.mu.Unlock()
		if ready() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-h.ctx.Done():
			return &Failure{spec.FailNotConnected, errClosed.Error()}
		}
	}
}

// AwaitPeer blocks until a browser or tab is connected that match accepts. The error
// is Await's.
func (h *Hub) AwaitPeer(ctx context.Context, match func(BrowserInfo) bool) (BrowserInfo, error) {
	var found BrowserInfo
	err := h.Await(ctx, func() bool {
		infos := h.Browsers()
		i := slices.IndexFunc(infos, func(b BrowserInfo) bool { return b.Connected && match(b) })
		if i >= 0 {
			found = infos[i]
		}
		return i >= 0
	})
	return found, err
}

// Forget drops a peer that is known not to come back, such as a browser whose process
// has ended or whose pairing is forgotten: its grace is over at once, and its connection,
// if it has one, is closed with the code and the reason. A peer that is not there is none
// to forget.
func (h *Hub) Forget(id spec.PeerID, code spec.CloseCode, reason string) {
	h.update(func() {
		p := h.peers[id]
		if p == nil || h.closed {
			return
		}
		p.grace.stop()
		p.connected = false
		now := time.Now()
		for _, t := range slices.Collect(maps.Values(p.tabs)) {
			h.dropTabLocked(t, now)
		}
		delete(h.peers, id)
	})
	h.transport.Disconnect(spec.TabAddr{Peer: id}, code, reason)
}
