package admin

import (
	"errors"
	"net/http"
	"time"

	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// ClientRequest is the body of POST /api/clients.
type ClientRequest struct {
	Name  string          `json:"name" validate:"required"`
	Kind  auth.ClientKind `json:"kind" validate:"oneof=entry token"`
	Scope *policy.Scope   `json:"scope,omitempty"`
	// Expires is when the token expires; zero: never. It expires with the credential of the caller, if
	// that is earlier.
	Expires time.Time `json:"expires,omitzero"`
}

// Client is the client that the request asks for, for a user.
func (in *ClientRequest) Client(user spec.UserID) auth.Client {
	return auth.Client{Name: in.Name, Kind: in.Kind, User: user, Scope: in.Scope, Expires: in.Expires}
}

// MintedClient answers POST /api/clients.
type MintedClient struct {
	auth.Client
	Token string `json:"token"` // the hub does not keep it
}

var errNoClients = &endpoint.Error{Status: http.StatusNotFound, Text: "this hub gives clients no credentials"}

func (api *API) getClients(r *endpoint.Request) error {
	var all []auth.Client
	if api.o.Clients != nil {
		all = api.o.Clients.List(r.Identity.User)
	}
	return r.Answer(nonNil(all))
}

func (api *API) postClient(r *endpoint.Request) error {
	if api.o.Clients == nil {
		return errNoClients
	}
	var in ClientRequest
	if err := r.Read(64<<10, &in); err != nil {
		return err
	}
	id := r.Identity
	if !id.Expires.IsZero() && (in.Expires.IsZero() || id.Expires.Before(in.Expires)) {
		in.Expires = id.Expires
	}
	made, token, err := api.o.Clients.Mint(in.Client(id.User))
	if bad, ok := errors.AsType[*auth.BadClientError](err); ok {
		return endpoint.BadRequest("%v", bad)
	}
	if err != nil {
		return err
	}
	recordClient(r, &made, "made")
	return r.Answer(MintedClient{made, token})
}

// recordClient records what has become of a client's credential.
func recordClient(r *endpoint.Request, c *auth.Client, what string) {
	r.Tenant.Hub.Core.Record(record.Entry{Time: time.Now(), Event: record.Client, Client: c.ID, Name: c.Name, Outcome: "ok", Reason: what})
}

// deleteClient revokes the client that the parameter client names, by its id or its name.
func (api *API) deleteClient(r *endpoint.Request) error {
	if api.o.Clients == nil {
		return errNoClients
	}
	user := r.Identity.User
	found, err := api.o.Clients.Find(user, r.URL.Query().Get("client"))
	if err == nil {
		err = api.o.Clients.Revoke(user, found.ID)
	}
	if errors.Is(err, auth.ErrNoClient) {
		return &endpoint.Error{Status: http.StatusNotFound, Text: err.Error()}
	}
	if err != nil {
		return err
	}
	recordClient(r, &found, "revoked")
	return r.Answer(found)
}
