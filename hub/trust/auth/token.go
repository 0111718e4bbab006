package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"sync"

	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// Token is the Verifier of a hub without accounts: one secret, which stands for
// spec.LocalUser. Its methods are safe for concurrent use and do not block.
type Token struct {
	mu     sync.RWMutex
	sum    [sha256.Size]byte
	valid  context.Context
	revoke context.CancelCauseFunc // its cause says whether the secret is void
}

// NewToken returns a Token that accepts secret.
func NewToken(secret string) *Token {
	t := new(Token)
	t.Set(secret)
	return t
}

// NoToken returns a Token that accepts nothing until Set.
func NoToken() *Token {
	t := new(Token)
	t.Unload()
	return t
}

// Set replaces the secret. What was admitted with the old one is Revoked.
func (t *Token) Set(secret string) { t.set(secret, context.Canceled) }

// Unload makes the Token accept nothing until the next Set. Connections with the old one end with
// ErrGoingAway.
func (t *Token) Unload() { t.set(rand.Text(), tabtransport.ErrGoingAway) }

func (t *Token) set(secret string, cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.revoke != nil {
		t.revoke(cause)
	}
	t.valid, t.revoke = context.WithCancelCause(context.Background())
	t.sum = sha256.Sum256([]byte(secret))
}

var errWrongToken = errors.New("the token is not this hub's; `tabhub token mint --name CLIENT` makes one for a client")

// Verify takes the same time whatever is wrong with the token.
func (t *Token) Verify(token string) (Identity, error) {
	sum := sha256.Sum256([]byte(token))
	t.mu.RLock()
	defer t.mu.RUnlock()
	if subtle.ConstantTimeCompare(sum[:], t.sum[:]) != 1 {
		return Identity{}, errWrongToken
	}
	return Identity{User: spec.LocalUser, Kind: KindOwner, Principal: policy.Token, Revoked: t.valid}, nil
}

// Identity returns the Identity of the present secret.
func (t *Token) Identity() Identity {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return Identity{User: spec.LocalUser, Kind: KindOwner, Principal: policy.Token, Revoked: t.valid}
}
