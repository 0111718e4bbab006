package hub

import (
	"context"
	"slices"

	"tabhub/hub/state"
	"tabhub/spec"
)

// Await blocks until ready reports true. ready is asked at once and then after each
// change of the hub's state, from Await's goroutine and without a lock, so it may
// call the Hub's other methods. The error is ctx's cause, or a *Failure if the Hub
// has ended.
func (h *Hub) Await(ctx context.Context, ready func() bool) error {
	for {
		changed := h.changes.Wait()
		if ready() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-h.ctx.Done():
			return &Failure{spec.FailNotConnected, h.ending()}
		}
	}
}

// AwaitPeer blocks until a browser or tab is connected that match accepts. The error
// is Await's.
func (h *Hub) AwaitPeer(ctx context.Context, match func(state.BrowserInfo) bool) (state.BrowserInfo, error) {
	var found state.BrowserInfo
	err := h.Await(ctx, func() bool {
		infos := h.Browsers(nil)
		i := slices.IndexFunc(infos, func(b state.BrowserInfo) bool { return b.Connected && match(b) })
		if i >= 0 {
			found = infos[i]
		}
		return i >= 0
	})
	return found, err
}
