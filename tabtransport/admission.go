package tabtransport

import (
	"context"
	"errors"
	"time"

	"tabhub/spec"
)

// Admission is what the door of the hub knows of the peer that has opened a socket.
type Admission struct {
	User spec.UserID // "" means spec.LocalUser, where there are no accounts
	// Attested and Pairing are as in Conn.
	Attested bool
	Pairing  spec.PairingID
	// Origin replaces the request's Origin header if not "": one of the hub's own pages vouches
	// that this is the origin of the page which embeds it.
	Origin string
	// OwnPage: the socket comes from a page of this hub, such as its widget.
	OwnPage bool
	// Anonymous: no credential was needed, because of the origin.
	Anonymous bool

	Expires time.Time // the socket ends with its credential; zero: never
	// Revoked ends the socket when it is done: the credential was revoked, or, with cause
	// ErrGoingAway, the user's hub closes here. Nil: never.
	Revoked context.Context
}

// ErrGoingAway is the cause of Admission.Revoked if the credential is still valid: the peer can
// connect again.
var ErrGoingAway = errors.New("the user's hub closes here")
