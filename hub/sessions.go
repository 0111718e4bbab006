package hub

import (
	"tabhub/hub/consent"
	"tabhub/hub/state"
)

// session returns the session that somebody's tabs go by. The owner's own commands and pages
// have none.
func (h *Hub) session(by *consent.Caller) state.SessionID {
	switch {
	case by.Session != "":
		return state.SessionID{Client: by.Who.ID, ID: by.Session}
	case by.Agent != "":
		return state.SessionID{Client: by.Who.ID, ID: by.Agent}
	}
	return state.SessionID{}
}

// by returns on whose behalf the state is asked, and changed.
func (h *Hub) by(by *consent.Caller) state.By { return state.By{Session: h.session(by)} }
