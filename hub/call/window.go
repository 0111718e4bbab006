package call

import (
	"context"
	"errors"
	"time"

	"tabhub/hub/core"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// window is consent.Browser: the owner's browsers.
type window struct{ h *Calls }

func (w window) Paired() bool { return w.h.opts.Paired != nil && w.h.opts.Paired() }

func (w window) Connected() bool {
	_, ok := w.asker()
	return ok
}

// asker returns the browser to ask in.
func (w window) asker() (peer spec.PeerID, ok bool) {
	w.h.core.RLock()
	defer w.h.core.RUnlock()
	return w.h.core.State().Asker(w.h.opts.OwnBrowser)
}

func (w window) Ask(ctx context.Context, q *spec.Ask) (spec.AskResult, error) {
	for {
		changed := w.h.core.Changes()
		peer, ok := w.asker()
		if !ok {
			if err := core.AwaitSignal(ctx, w.h.core, changed); err != nil {
				return spec.AskResult{}, err
			}
			continue
		}
		resp, err := w.h.core.SendOwn(ctx, spec.TabAddr{Peer: peer}, q, tabtransport.Wait{Timeout: askTimeout})
		switch {
		case errors.Is(err, tabtransport.ErrNotConnected), errors.Is(err, tabtransport.ErrLost):
			// It is shown again by the browser that comes back, or another.
			if err := core.AwaitSignal(ctx, w.h.core, time.After(lossDelay)); err != nil {
				return spec.AskResult{}, err
			}
			continue
		case err != nil:
			return spec.AskResult{}, err
		}
		var result spec.AskResult
		if wrong := spec.Decode(resp.Result, &result); wrong != nil {
			return spec.AskResult{}, wrong
		}
		return result, nil
	}
}

// askTimeout is longer than any question is open: the desk ends it.
const askTimeout = 5 * time.Minute
