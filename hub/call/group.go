package call

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

// GroupKind says where the tabs go that clients open.
type GroupKind string

// The choices for GroupKind.
const (
	GroupOwn  GroupKind = "group" // a tab group of each client's own
	GroupNone GroupKind = "none"  // anywhere
)

// GroupEnd says what becomes of the tabs that a client has opened, when it has ended.
type GroupEnd string

// The choices for GroupEnd.
const (
	GroupKeep  GroupEnd = "keep"  // they stay, and what they are in says that it has ended
	GroupClose GroupEnd = "close" // they are closed, but for those that the owner has made theirs
)

// groupOf returns where a browser opens a tab for a session; nil for anywhere.
func groupOf(cs *Calls, by agents.By, browser spec.PeerID) *spec.Room {
	if cs.opts.Group == GroupNone || by.Session == (agents.SessionID{}) {
		return nil
	}
	if !keepsGroups(cs, browser) {
		return nil
	}
	return &spec.Room{ID: by.Session.Short(), Title: describe.Clean(by.Label, apps.MaxSaid)}
}

func keepsGroups(cs *Calls, browser spec.PeerID) bool {
	return core.View(cs.core, func(s *state.State) bool {
		_, capable := s.Controllable(spec.TabAddr{Peer: browser}, spec.CapRoom)
		return capable
	})
}

// EndGroup tells the browsers in which a session has opened tabs that it has ended. It does not
// block.
func (cs *Calls) EndGroup(ended agents.Ended) {
	told := map[spec.PeerID]bool{}
	for _, addr := range ended.Group {
		if told[addr.Peer] || !keepsGroups(cs, addr.Peer) {
			continue
		}
		told[addr.Peer] = true
		cs.core.Background(func() { endGroupIn(cs, addr.Peer, ended) })
	}
}

// endGroupIn is endRoom for one browser. It blocks until that has answered.
func endGroupIn(cs *Calls, browser spec.PeerID, ended agents.Ended) {
	req := &spec.EndRoom{Room: ended.Session.Short(), Close: cs.opts.GroupEnd == GroupClose}
	resp, err := cs.core.SendOwn(cs.core.Context(), spec.TabAddr{Peer: browser}, req, tabtransport.Wait{Timeout: spec.ControlTimeout})
	var result spec.EndRoomResult
	if err == nil {
		err = json.Unmarshal(resp.Result, &result)
	}
	switch {
	case errors.Is(err, tabtransport.ErrNotConnected), cs.core.Context().Err() != nil:
	case err != nil:
		cs.core.Log.Warn("a client's tabs are left as they are", "client", ended.Label, "browser", browser, "err", err)
	default:
		cs.core.Log.Info("a client's room has ended", "client", ended.Label, "browser", browser, "closed", result.Closed, "kept", result.Kept)
	}
}
