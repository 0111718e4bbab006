package httpd

import (
	"context"
	"errors"
	"net/http"
	"time"

	"tabhub/hub"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
)

// PairingInvitation answers POST /api/pair: what introduces a browser to the hub.
type PairingInvitation struct {
	// Pairing is the id of what will come of it.
	Pairing spec.PairingID `json:"pairing"`
	// Link is opened in the browser that is to be paired. It is a secret.
	Link string `json:"link"`
	// Code is what the browser shows, too, when it asks its user.
	Code  string    `json:"code"`
	Until time.Time `json:"until"`
}

// allPairings, as the parameter id of DELETE /api/pair, stands for each of them.
const allPairings = "all"

var errNoRing = &refusal{http.StatusNotFound, "this hub pairs no browsers"}

func (s *Server) postPairing(r *request) error {
	if s.o.Ring == nil {
		return errNoRing
	}
	id := r.pass.identity
	user := id.User
	if !s.guard.accounts {
		user = ""
	}
	i, err := s.o.Ring.Invite(user, id.Expires)
	if err != nil {
		return err
	}
	link := s.o.URL + "/pair#" + i.Text()
	return r.answer(PairingInvitation{Pairing: i.Pairing, Link: link, Code: i.Code(), Until: i.Until})
}

// CopyRequest is the body of POST /api/extension.
type CopyRequest struct {
	Before  spec.PairingID `json:"before,omitempty"` // of the copy that is there already
	Address string         `json:"address"`          // where the copy is to look for the hub
}

// postExtension makes a copy of the extension one of the hub's. The answer is a pairing.Copy.
func (s *Server) postExtension(r *request) error {
	var in CopyRequest
	if err := r.read(4<<10, &in); err != nil {
		return err
	}
	switch {
	case s.o.Ring == nil:
		return errNoRing
	case s.guard.accounts:
		return &refusal{http.StatusConflict, "a copy of the extension is nobody's, and this hub has accounts; load it from a hub of your own or the store, and `tabhub browser pair` pairs it"}
	}
	return r.answer(s.o.Ring.Issue(in.Before, in.Address))
}

// awaitPairing answers when the invitation that the parameter id names has been accepted.
func (s *Server) awaitPairing(r *request) error {
	if s.o.Ring == nil {
		return errNoRing
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)() // or the hub would wait for the browser when it ends
	p, err := s.o.Ring.Await(ctx, spec.PairingID(r.URL.Query().Get("id")))
	switch {
	case errors.Is(err, pairing.ErrUnknown), err == nil && !s.isCallers(r, p):
		return &refusal{http.StatusGone, "nobody has accepted the invitation in time; `tabhub browser pair` makes another"}
	case errors.Is(err, tabtransport.ErrGoingAway):
		return &refusal{http.StatusServiceUnavailable, "another node has your hub now, and its invitations have ended with the move; run `tabhub browser pair` again"}
	case s.ctx.Err() != nil:
		return &refusal{http.StatusServiceUnavailable, "the hub is shutting down, and its invitations end with it; run `tabhub browser pair` again when it is back"}
	case err != nil:
		return err
	}
	r.recordPairing(&p, "paired")
	return r.answer(p)
}

// recordPairing records what has become of a pairing.
func (r *request) recordPairing(p *pairing.Pairing, what string) {
	r.tenant.Hub.Record(record.Entry{Time: time.Now(), Event: record.Pairing, Outcome: what, Reason: string(p.ID) + " " + p.Browser})
}

func (s *Server) getPairings(r *request) error {
	return r.answer(nonNil(s.pairings(r)))
}

// pairings are those of the caller.
func (s *Server) pairings(r *request) []pairing.Pairing {
	if s.o.Ring == nil {
		return nil
	}
	user := r.pass.identity.User
	if !s.guard.accounts {
		user = ""
	}
	return s.o.Ring.List(user)
}

func (s *Server) deletePairing(r *request) error {
	if s.o.Ring == nil {
		return errNoRing
	}
	id := r.URL.Query().Get("id")
	if id == allPairings && !s.guard.accounts {
		all := s.pairings(r)
		if err := s.o.Ring.ForgetAll(); err != nil {
			return err
		}
		for i := range all {
			r.recordPairing(&all[i], "forgotten")
		}
		forgetBrowsers(r.tenant.Hub, func(spec.PairingID) bool { return true })
		return r.answer(struct{}{})
	}
	found := false
	for _, p := range s.pairings(r) {
		if id == allPairings || p.ID == spec.PairingID(id) {
			found = true
			if err := s.o.Ring.Forget(p.ID); err != nil && !errors.Is(err, pairing.ErrUnknown) {
				return err
			}
			r.recordPairing(&p, "forgotten")
			forgetBrowsers(r.tenant.Hub, func(id spec.PairingID) bool { return id == p.ID })
		}
	}
	if !found {
		return &refusal{http.StatusNotFound, "there is no such pairing; `tabhub browser forget` shows those that there are"}
	}
	return r.answer(struct{}{})
}

// forgetBrowsers has the hub not wait for browsers whose pairing is forgotten: they will
// not come back.
func forgetBrowsers(h *hub.Hub, forgotten func(spec.PairingID) bool) {
	for _, b := range h.Browsers(nil) {
		if b.Pairing != "" && forgotten(b.Pairing) {
			h.Forget(b.Peer, spec.CloseRefused, "the pairing was forgotten")
		}
	}
}

// isCallers reports whether a pairing is the caller's own. On a hub without accounts all are.
func (s *Server) isCallers(r *request, p pairing.Pairing) bool {
	return !s.guard.accounts || p.User == r.pass.identity.User
}
