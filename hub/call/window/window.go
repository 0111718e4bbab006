// Package window asks the owner of a hub in one of their browsers.
package window

import (
	"context"
	"errors"
	"time"

	"tabhub/hub/core"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// Window is consent.Browser: the owner's browsers. IsPaired and OwnBrowser are Paired and OwnBrowser of hub.Options.
type Window struct {
	Core       *core.Core
	IsPaired   func() bool
	OwnBrowser func(spec.PairingID) bool
}

// Paired implements consent.Browser.
func (w Window) Paired() bool { return w.IsPaired != nil && w.IsPaired() }

// Connected implements consent.Browser.
func (w Window) Connected() bool {
	_, ok := w.asker()
	return ok
}

// asker returns the browser to ask in.
func (w Window) asker() (peer spec.PeerID, ok bool) {
	w.Core.RLock()
	defer w.Core.RUnlock()
	return w.Core.State().Asker(w.OwnBrowser)
}

// Ask implements consent.Browser.
func (w Window) Ask(ctx context.Context, q *spec.Ask) (spec.AskResult, error) {
	for {
		changed := w.Core.Changes()
		peer, ok := w.asker()
		if !ok {
			if err := core.AwaitSignal(ctx, w.Core, changed); err != nil {
				return spec.AskResult{}, err
			}
			continue
		}
		resp, err := w.Core.SendOwn(ctx, spec.TabAddr{Peer: peer}, q, tabtransport.Wait{Timeout: askTimeout})
		switch {
		case errors.Is(err, tabtransport.ErrNotConnected), errors.Is(err, tabtransport.ErrLost):
			// It is shown again by the browser that comes back, or another.
			if err := core.AwaitSignal(ctx, w.Core, time.After(lossDelay)); err != nil {
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

// lossDelay is how long to wait for the news that a connection was lost.
const lossDelay = 5 * time.Millisecond

// askTimeout is longer than any question is open: the desk ends it.
const askTimeout = 5 * time.Minute
