package hub

import (
	"fmt"
	"slices"
	"strings"

	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
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
	if !h.update(func(tx *state.Tx) { err = tx.NameBrowser(all[0].Peer, name) }) {
		return h.endedFailure(false)
	}
	h.renamed()
	return err
}

// UnnameBrowser takes a name from the browser that has it. For clients that are bound to the name
// there is no browser then. It does not wait for the store.
func (h *Hub) UnnameBrowser(name string) error {
	var err error
	if !h.update(func(tx *state.Tx) { err = tx.UnnameBrowser(name) }) {
		return h.endedFailure(false)
	}
	h.renamed()
	return err
}

// renamed ends what a name led to that may be another browser's now.
func (h *Hub) renamed() {
	for _, sub := range h.gate.denied() {
		h.unsubscribe(sub)
	}
	h.gate.changed.Fire()
}

// NamedBrowsers returns the browsers that have a name from their owner, by that name, also those
// that are away.
func (h *Hub) NamedBrowsers() []storage.Browser {
	return view(h, (*state.State).Named)
}

// BoundWords says to a client that is bound to browsers why there is so little, from "; " on; ""
// if it is not.
func (h *Hub) BoundWords(by *consent.Caller) string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.boundWordsLocked(by)
}

// boundWordsLocked says to a client that is bound to browsers why there is so little; "" if it is not.
func (h *Hub) boundWordsLocked(by *consent.Caller) string {
	of := h.by(by)
	switch {
	case of.Browsers == nil:
		return ""
	case len(of.Browsers) == 0:
		return "; the bindings of this client leave it no browser: its connection, its credential and the policy name different ones"
	}
	names := strings.Join(of.Browsers, ", ")
	if !h.state.AnyConnected(of) {
		return "; this client is bound to the browser " + names + ", which is not connected, or which nobody has named so (`tabhub browser`)"
	}
	return "; this client is bound to the browser " + names
}

// browserOf returns the name that a browser has from its owner, "" if it has none.
func (h *Hub) browserOf(peer spec.PeerID) string {
	return view(h, func(s *state.State) string { return s.BrowserOf(peer) })
}

// Reaches reports whether there is a peer for a client: whoever is bound to browsers knows of
// these alone.
func (h *Hub) Reaches(by *consent.Caller, peer spec.PeerID) bool {
	return view(h, func(s *state.State) bool { return s.SeesPeer(h.by(by), peer) })
}

// reach completes an action that leads to a peer: of a client that is bound to browsers, the rules
// have to know which.
func (h *Hub) reach(by *consent.Caller, a *policy.Action, peer spec.PeerID) {
	if a.Bound = by.Bound; h.Policy().Browsers(by.Who, by.Bound) != nil {
		a.Browser = &policy.Browser{Name: h.browserOf(peer)}
	}
}
