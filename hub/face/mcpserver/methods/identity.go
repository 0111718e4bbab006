package methods

import (
	"context"
	"strings"

	"tabhub/hub/call/ledger"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
)

type identityKey struct{}

// Identity is whose a request is.
type Identity struct {
	Name    string // of the user, the client and the browsers that it is for; a session answers only to those that began it
	Who     *policy.Principal
	Bound   []string        // the names of the browsers that its connection is for; nil: all
	Revoked context.Context // may be nil
}

// WithIdentity returns a context for a request, or a stream, that carries the credential
// of id. What begins with it, and stored it, ends when it is revoked.
func WithIdentity(ctx context.Context, id *auth.Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, Identity{string(id.User) + "\x00" + id.Who.ID + "\x00" + strings.Join(id.Bound, ","), id.Who, id.Bound, id.Revoked})
}

// IsOf reports whether an identity.name is of the client of an ID.
func IsOf(name, client string) bool {
	_, rest, _ := strings.Cut(name, "\x00")
	return consent.IsParty(rest, client)
}

// IdentityOf returns the identity of the client that sent a request; without a credential it is
// policy.Nobody's.
func IdentityOf(ctx context.Context) Identity {
	id, ok := ctx.Value(identityKey{}).(Identity)
	if !ok {
		id.Who = policy.Nobody
	}
	return id
}

// Session names a session of the client, as far as its calls go.
func (of *Identity) Session(id string) ledger.Session {
	return ledger.Session{Client: consent.Party(of.Who, of.Bound), ID: id}
}
