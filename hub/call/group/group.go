// Package group keeps the tabs that sessions open in tab groups of their browsers.
package group

import (
	"encoding/json"
	"errors"

	"tabhub/describe"
	"tabhub/hub/agents"
	"tabhub/hub/call/apps"
	"tabhub/hub/core"
	"tabhub/hub/state"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// Kind says where the tabs go that clients open.
type Kind string

// The choices for Kind.
const (
	Own  Kind = "group" // a tab group of each client's own
	None Kind = "none"  // anywhere
)

// End says what becomes of the tabs that a client has opened, when it has ended.
type End string

// The choices for End.
const (
	Keep  End = "keep"  // they stay, and what they are in says that it has ended
	Close End = "close" // they are closed, but for those that the owner has made theirs
)

// Groups are those of a hub's sessions. Its methods are safe for concurrent use.
type Groups struct {
	Core *core.Core
	Kind Kind
	End  End
}

// Of returns where a browser opens a tab for a session; nil for anywhere.
func (g *Groups) Of(by agents.By, browser spec.PeerID) *spec.Room {
	if g.Kind == None || by.Session == (agents.SessionID{}) {
		return nil
	}
	if !g.keeps(browser) {
		return nil
	}
	return &spec.Room{ID: by.Session.Short(), Title: describe.Clean(by.Label, apps.MaxSaid)}
}

func (g *Groups) keeps(browser spec.PeerID) bool {
	return core.View(g.Core, func(s *state.State) bool {
		_, capable := s.Controllable(spec.TabAddr{Peer: browser}, spec.CapRoom)
		return capable
	})
}

// Ended tells the browsers in which a session has opened tabs that it has ended. It does not
// block.
func (g *Groups) Ended(ended agents.Ended) {
	told := map[spec.PeerID]bool{}
	for _, addr := range ended.Group {
		if told[addr.Peer] || !g.keeps(addr.Peer) {
			continue
		}
		told[addr.Peer] = true
		g.Core.Background(func() { g.endIn(addr.Peer, ended) })
	}
}

// endIn is Ended for one browser. It blocks until that has answered.
func (g *Groups) endIn(browser spec.PeerID, ended agents.Ended) {
	req := &spec.EndRoom{Room: ended.Session.Short(), Close: g.End == Close}
	resp, err := g.Core.SendOwn(g.Core.Context(), spec.TabAddr{Peer: browser}, req, tabtransport.Wait{Timeout: spec.ControlTimeout})
	var result spec.EndRoomResult
	if err == nil {
		err = json.Unmarshal(resp.Result, &result)
	}
	switch {
	case errors.Is(err, tabtransport.ErrNotConnected), g.Core.Context().Err() != nil:
	case err != nil:
		g.Core.Log.Warn("a client's tabs are left as they are", "client", ended.Label, "browser", browser, "err", err)
	default:
		g.Core.Log.Info("a client's room has ended", "client", ended.Label, "browser", browser, "closed", result.Closed, "kept", result.Kept)
	}
}
