package auth

import (
	"errors"
	"strings"

	"tabhub/spec"
)

// AccessPrefix begins the access tokens of clients that have signed in (package oauth).
const AccessPrefix = "tba_"

// Hub is the Verifier of a hub: it takes what Owner takes, the tokens of Clients, and those
// of clients that have signed in.
type Hub struct {
	Owner   Verifier // a *Token or, with accounts, a *JWT
	Clients *Clients
	OAuth   Verifier // an *oauth.Server; nil: clients sign in elsewhere, or not at all
	// Accounts: clients are those of users, and none is spec.LocalUser's.
	Accounts bool
}

// Verify implements Verifier.
func (h *Hub) Verify(token string) (Identity, error) {
	switch {
	case h.OAuth != nil && strings.HasPrefix(token, AccessPrefix):
		return h.OAuth.Verify(token)
	case !strings.HasPrefix(token, tokenPrefix):
		return h.Owner.Verify(token)
	}
	id, err := h.Clients.Verify(token)
	if err == nil && (id.User == spec.LocalUser) == h.Accounts {
		return Identity{}, errors.New("the client's token was made when the hub had other users than now (--auth); `tabhub token mint` makes another")
	}
	return id, err
}
