package tabtransport

import (
	"context"
	"errors"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// Admission is what was decided about who has opened a connection or made a request.
type Admission struct {
	User spec.UserID // "" means spec.LocalUser, where there are no accounts
	// Who shows the credential; nil if none was needed.
	Who *policy.Principal
	// Attested and Pairing are as in Conn.
	Attested bool
	Pairing  spec.PairingID
	// Origin takes the place of the request's Origin header, if not "": that of the page
	// that one of this hub's own pages vouches for.
	Origin string
	// Own: it comes from a page of this hub, such as its widget.
	Own bool
	// Anonymous: no credential was needed, because of the origin.
	Anonymous bool

	Expires time.Time // when it ends with its credential; zero: never
	// Revoked is done when the credential is taken back, which ends it, too, or when the
	// user's hub goes elsewhere: then its cause is ErrGoingAway. Nil: never.
	Revoked context.Context
}

// ErrGoingAway is the cause of Admission.Revoked if the credential is good still, at the hub
// that is the user's next.
var ErrGoingAway = errors.New("the user's hub goes elsewhere")
