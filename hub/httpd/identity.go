package httpd

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"sync"
	"time"

	"tabhub/spec"
)

// Identity is who a credential stands for.
type Identity struct {
	User    spec.UserID
	Expires time.Time // zero: never
	// Revoked is done when the credential is taken back. Nil: never.
	Revoked context.Context
	// ConnectionURL is the endpoint that the credential was made for, "" for any.
	ConnectionURL string
}

// bound returns a context that ends with ctx or with the credential.
func (id *Identity) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	var cancel context.CancelFunc
	if id.Expires.IsZero() {
		ctx, cancel = context.WithCancel(ctx)
	} else {
		ctx, cancel = context.WithDeadline(ctx, id.Expires)
	}
	if id.Revoked == nil {
		return ctx, cancel
	}
	stop := context.AfterFunc(id.Revoked, cancel)
	return ctx, func() { stop(); cancel() }
}

// Verifier checks credentials. Its errors are sentences for the person who holds
// the credential and never contain it. It is safe for concurrent use.
type Verifier interface {
	Verify(token string) (Identity, error)
}

// Token is the Verifier of a hub without accounts: one secret, which stands for
// spec.LocalUser.
type Token struct {
	mu     sync.RWMutex
	sum    [sha256.Size]byte
	valid  context.Context
	revoke context.CancelFunc
}

// NewToken returns a Token that accepts secret.
func NewToken(secret string) *Token {
	t := new(Token)
	t.Set(secret)
	return t
}

// Set replaces the secret. What was admitted with the old one is Revoked.
func (t *Token) Set(secret string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.revoke != nil {
		t.revoke()
	}
	t.valid, t.revoke = context.WithCancel(context.Background())
	t.sum = sha256.Sum256([]byte(secret))
}

var errWrongToken = errors.New("the token is not this hub's; `tabhub token` prints the one to send")

// Verify takes the same time whatever is wrong with the token.
func (t *Token) Verify(token string) (Identity, error) {
	sum := sha256.Sum256([]byte(token))
	t.mu.RLock()
	defer t.mu.RUnlock()
	if subtle.ConstantTimeCompare(sum[:], t.sum[:]) != 1 {
		return Identity{}, errWrongToken
	}
	return Identity{User: spec.LocalUser, Revoked: t.valid}, nil
}

// Identity is who holds the secret of now.
func (t *Token) Identity() Identity {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return Identity{User: spec.LocalUser, Revoked: t.valid}
}
