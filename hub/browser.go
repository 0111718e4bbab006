package hub

import (
	"fmt"
	"slices"

	"tabhub/hub/core"
	"tabhub/hub/state"
	"tabhub/hub/trust/policy"
	"tabhub/storage"
)

// NameBrowser gives a browser the name that its owner has for it: one that is connected or has
// just been, by its public id, its browserId or the name that it has. Clients that are bound to
// the name have that browser from now on. It does not wait for the store.
func (h *Hub) NameBrowser(browser, name string) error {
	if err := policy.CheckBrowser(name); err != nil {
		return err
	}
	all := slices.DeleteFunc(h.Browsers(nil), func(b state.BrowserInfo) bool {
		return b.Single || b.Label != browser && b.Peer.Short() != browser && string(b.ID) != browser && string(b.Peer) != browser
	})
	switch len(all) {
	case 0:
		return state.ErrNoBrowser
	case 1:
	default:
		return fmt.Errorf("%.64q is %d browsers; close one of them, or use the id of its profile", browser, len(all))
	}
	var err error
	if !h.Core.Update(func(tx *state.Tx) { err = tx.NameBrowser(all[0].Peer, name) }) {
		return h.Core.EndedFailure(false)
	}
	h.renamed()
	return err
}

// UnnameBrowser takes a name from the browser that has it. For clients that are bound to the name
// there is no browser then. It does not wait for the store.
func (h *Hub) UnnameBrowser(name string) error {
	var err error
	if !h.Core.Update(func(tx *state.Tx) { err = tx.UnnameBrowser(name) }) {
		return h.Core.EndedFailure(false)
	}
	h.renamed()
	return err
}

// renamed ends what a name led to that may be another browser's now.
func (h *Hub) renamed() {
	h.Lists.EndDenied()
	h.opts.Changed.Fire()
}

// NamedBrowsers returns the browsers that have a name from their owner, by that name, also those
// that are away.
func (h *Hub) NamedBrowsers() []storage.Browser {
	return core.View(h.Core, (*state.State).Named)
}
