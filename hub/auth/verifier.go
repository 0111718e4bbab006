package auth

import (
	"errors"
	"strings"

	"tabhub/spec"
)

// Hub is the Verifier of a hub: it takes what Owner takes, and the tokens of Clients.
type Hub struct {
	Owner   Verifier // a *Token or, with accounts, a *JWT
	Clients *Clients
	// Accounts: clients are those of users, and none is spec.LocalUser's.
	Accounts bool
}

// Verify implements Verifier.
func (h *Hub) Verify(token string) (Identity, error) {
	if !strings.HasPrefix(token, tokenPrefix) {
		return h.Owner.Verify(token)
	}
	id, err := h.Clients.Verify(token)
	if err == nil && (id.User == spec.LocalUser) == h.Accounts {
		return Identity{}, errors.New("the client's token was made when the hub had other users than now (--auth); `tabhub token mint` makes another")
	}
	return id, err
}
