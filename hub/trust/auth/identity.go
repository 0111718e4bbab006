package auth

import (
	"context"
	"errors"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// Verifier checks credentials. Its errors are sentences for the owner of the credential and never
// contain it. It is safe for concurrent use.
type Verifier interface {
	Verify(token string) (Identity, error)
}

// ErrUnchecked is in the error of a Verifier that cannot check a credential now.
var ErrUnchecked = errors.New("the token cannot be checked now")

// Identity is what a credential proves, and for how long.
type Identity struct {
	User spec.UserID
	// Kind says what the credential is good for; zero: nothing.
	Kind Kind
	// Principal is the client, browser or command that the credential proves. Never nil: a Verifier sets
	// it.
	Principal *policy.Principal
	// Bound are the names of the only browsers that the principal may use; nil: all.
	Bound []string
	// Expires is when the credential, and any connection opened with it, ends. Zero: never.
	Expires time.Time
	// Revoked is done when the credential is taken back. Nil: never.
	Revoked context.Context
}

// Kind is a kind of credential, or a set of them.
type Kind uint8

const (
	// KindOwner is what the owner's own programs show: the hub's token, on a hub with
	// accounts a JWT, or that they have come by the hub's socket.
	KindOwner   Kind = 1 << iota
	KindClient       // of an MCP client: one of Clients, or none if the owner's own system has started it
	KindBrowser      // a browser's proof that it is paired
	KindPage         // of a page or an extension: the origin that it comes from
	KindLogin        // of a page of the dashboard
	KindWriter       // of one at an origin of its own, while the owner uses it
)

// ErrEnded is the cause of a context that has ended with its credential.
var ErrEnded = errors.New("the client's credential has expired or was revoked")

// Context returns a context that ends with ctx, or with the credential. The caller calls
// the function when it needs the context no more.
func (id *Identity) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	cancel := func() { end(nil) }
	if !id.Expires.IsZero() {
		ctx, cancel = context.WithDeadlineCause(ctx, id.Expires, ErrEnded)
	}
	stop := func() bool { return true }
	if id.Revoked != nil {
		stop = context.AfterFunc(id.Revoked, func() { end(ErrEnded) })
	}
	return ctx, func() { stop(); cancel(); end(nil) }
}

// Ended reports whether the credential has expired or been revoked.
func (id *Identity) Ended() bool {
	return !id.Expires.IsZero() && !time.Now().Before(id.Expires) ||
		id.Revoked != nil && id.Revoked.Err() != nil
}
