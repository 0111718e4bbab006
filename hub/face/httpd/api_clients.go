package httpd

import (
	"errors"
	"net/http"
	"time"

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
	// Expires is when the token does; zero: never. It does so with the credential of who asks,
	// if that is earlier.
	Expires time.Time `json:"expires,omitzero"`
}

// Client is what is asked for, for a user.
func (in *ClientRequest) Client(user spec.UserID) auth.Client {
	return auth.Client{Name: in.Name, Kind: in.Kind, User: user, Scope: in.Scope, Expires: in.Expires}
}

// MintedClient answers POST /api/clients.
type MintedClient struct {
	auth.Client
	Token string `json:"token"` // which the hub does not keep
}

var errNoClients = &refusal{http.StatusNotFound, "this hub knows no clients"}

func (s *Server) getClients(r *request) error {
	var all []auth.Client
	if s.o.Clients != nil {
		all = s.o.Clients.List(r.pass.identity.User)
	}
	return r.answer(nonNil(all))
}

func (s *Server) postClient(r *request) error {
	if s.o.Clients == nil {
		return errNoClients
	}
	var in ClientRequest
	if err := r.read(64<<10, &in); err != nil {
		return err
	}
	id := r.pass.identity
	if !id.Expires.IsZero() && (in.Expires.IsZero() || id.Expires.Before(in.Expires)) {
		in.Expires = id.Expires
	}
	made, token, err := s.o.Clients.Mint(in.Client(id.User))
	if bad, ok := errors.AsType[*auth.BadClientError](err); ok {
		return badRequest("%v", bad)
	}
	if err != nil {
		return err
	}
	r.recordClient(&made, "made")
	return r.answer(MintedClient{made, token})
}

// recordClient records what has become of a client's credential.
func (r *request) recordClient(c *auth.Client, what string) {
	r.tenant.Hub.Record(record.Entry{Time: time.Now(), Event: record.Client, Client: c.ID, Name: c.Name, Outcome: "ok", Reason: what})
}

// deleteClient revokes the client that the parameter client names, by its id or its name.
func (s *Server) deleteClient(r *request) error {
	if s.o.Clients == nil {
		return errNoClients
	}
	user := r.pass.identity.User
	found, err := s.o.Clients.Find(user, r.URL.Query().Get("client"))
	if err == nil {
		err = s.o.Clients.Revoke(user, found.ID)
	}
	if errors.Is(err, auth.ErrNoClient) {
		return &refusal{http.StatusNotFound, err.Error()}
	}
	if err != nil {
		return err
	}
	r.recordClient(&found, "revoked")
	return r.answer(found)
}
