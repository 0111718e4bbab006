package admin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"tabhub/hub"
	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
)

// PairingInvitation answers POST /api/pair: it introduces a browser to the hub.
type PairingInvitation struct {
	// Pairing is the id of the pairing that comes of it.
	Pairing spec.PairingID `json:"pairing"`
	// Link is for the browser that is to be paired. It is a secret.
	Link string `json:"link"`
	// Code is the code that the browser shows, too, when it asks its user.
	Code  string    `json:"code"`
	Until time.Time `json:"until"`
}

// allPairings, as the parameter id of DELETE /api/pair, stands for each of them.
const allPairings = "all"

var errNoRing = &endpoint.Error{Status: http.StatusNotFound, Text: "this hub pairs no browsers"}

func (api *API) postPairing(r *endpoint.Request) error {
	if api.o.Ring == nil {
		return errNoRing
	}
	id := r.Identity
	user := id.User
	if !api.o.Accounts {
		user = ""
	}
	i, err := api.o.Ring.Invite(user, id.Expires)
	if err != nil {
		return err
	}
	link := api.o.URL + "/pair#" + i.Text()
	return r.Answer(PairingInvitation{Pairing: i.Pairing, Link: link, Code: i.Code(), Until: i.Until})
}

// CopyRequest is the body of POST /api/extension.
type CopyRequest struct {
	Before  spec.PairingID `json:"before,omitempty"` // of the copy that this one replaces
	Address string         `json:"address"`          // at which the copy connects to the hub
}

// postExtension makes a copy of the extension one of the hub's. The answer is a pairing.Copy.
func (api *API) postExtension(r *endpoint.Request) error {
	var in CopyRequest
	if err := r.Read(4<<10, &in); err != nil {
		return err
	}
	switch {
	case api.o.Ring == nil:
		return errNoRing
	case api.o.Accounts:
		return &endpoint.Error{Status: http.StatusConflict, Text: "a copy of the extension belongs to no user, and this hub has accounts; load it from a hub of your own or from the store, and pair it with `tabhub browser pair`"}
	}
	return r.Answer(api.o.Ring.Issue(in.Before, in.Address))
}

// awaitPairing answers when a browser has accepted the invitation that the parameter id names.
func (api *API) awaitPairing(r *endpoint.Request) error {
	if api.o.Ring == nil {
		return errNoRing
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(api.ctx, cancel)() // or the hub would wait for the browser when it ends
	p, err := api.o.Ring.Await(ctx, spec.PairingID(r.URL.Query().Get("id")))
	switch {
	case errors.Is(err, pairing.ErrUnknown), err == nil && api.o.Accounts && p.User != r.Identity.User:
		return &endpoint.Error{Status: http.StatusGone, Text: "no browser has accepted the invitation in time; `tabhub browser pair` makes another"}
	case errors.Is(err, tabtransport.ErrGoingAway):
		return &endpoint.Error{Status: http.StatusServiceUnavailable, Text: "another node has your hub now, and its invitations have ended with the move; run `tabhub browser pair` again"}
	case api.ctx.Err() != nil:
		return &endpoint.Error{Status: http.StatusServiceUnavailable, Text: "the hub is shutting down, and its invitations end with it; run `tabhub browser pair` again when it is back"}
	case err != nil:
		return err
	}
	recordPairing(r, &p, "paired")
	return r.Answer(p)
}

// recordPairing records what has become of a pairing.
func recordPairing(r *endpoint.Request, p *pairing.Pairing, what string) {
	r.Tenant.Hub.Core.Record(record.Entry{Time: time.Now(), Event: record.Pairing, Outcome: what, Reason: string(p.ID) + " " + p.Browser})
}

func (api *API) getPairings(r *endpoint.Request) error {
	return r.Answer(nonNil(api.pairings(r)))
}

// pairings are those of the caller.
func (api *API) pairings(r *endpoint.Request) []pairing.Pairing {
	if api.o.Ring == nil {
		return nil
	}
	user := r.Identity.User
	if !api.o.Accounts {
		user = ""
	}
	return api.o.Ring.List(user)
}

func (api *API) deletePairing(r *endpoint.Request) error {
	if api.o.Ring == nil {
		return errNoRing
	}
	id := r.URL.Query().Get("id")
	if id == allPairings && !api.o.Accounts {
		all := api.pairings(r)
		if err := api.o.Ring.ForgetAll(); err != nil {
			return err
		}
		for i := range all {
			recordPairing(r, &all[i], "forgotten")
		}
		forgetBrowsers(r.Tenant.Hub, func(spec.PairingID) bool { return true })
		return r.Answer(struct{}{})
	}
	found := false
	for _, p := range api.pairings(r) {
		if id == allPairings || p.ID == spec.PairingID(id) {
			found = true
			if err := api.o.Ring.Forget(p.ID); err != nil && !errors.Is(err, pairing.ErrUnknown) {
				return err
			}
			recordPairing(r, &p, "forgotten")
			forgetBrowsers(r.Tenant.Hub, func(id spec.PairingID) bool { return id == p.ID })
		}
	}
	if !found {
		return &endpoint.Error{Status: http.StatusNotFound, Text: "there is no such pairing; `tabhub browser forget` shows those that there are"}
	}
	return r.Answer(struct{}{})
}

// forgetBrowsers makes the hub stop waiting for browsers whose pairing is forgotten: they will not come
// back.
func forgetBrowsers(h *hub.Hub, forgotten func(spec.PairingID) bool) {
	for _, b := range h.Browsers(nil) {
		if b.Pairing != "" && forgotten(b.Pairing) {
			h.Core.Forget(b.Peer, spec.CloseRefused, "the pairing was forgotten")
		}
	}
}
