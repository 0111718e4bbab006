package httpd

import (
	"errors"
	"net/http"

	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// admission is what the guard knows of a request with the credential of id, nil if it has shown
// none.
func (p *pass) admission(id *auth.Identity) tabtransport.Admission {
	a := tabtransport.Admission{Attested: p.from&fromExtension != 0, OwnPage: p.from&fromSelf != 0}
	if id != nil {
		a.User, a.Expires, a.Revoked = id.User, id.Expires, id.Revoked
	}
	return a
}

// ErrNoRequest is what Admit returns for a request that the guard has not checked.
var ErrNoRequest = errors.New("the request did not come through the guard")

// AdmitPage checks an origin that a page of this hub vouches for, as if it were the Origin of r. It is
// for the widget, which runs in a frame of the page that it speaks for.
func (g *Guard) AdmitPage(r *http.Request, origin string) error {
	p := passOf(r.Context())
	if p == nil {
		return ErrNoRequest
	}
	as := r.Clone(r.Context())
	as.Header.Set("Origin", origin)
	page := &pass{route: p.route, from: g.originOf(as)}
	if page.from&p.route.from == 0 {
		return g.refuseOrigin(as, page)
	}
	return nil
}

// Admit admits a socket whose request the guard has let through. token is the one in the
// socket's first message, "" if it has none; it must be valid, and of the same user, also if the
// request itself had one. The error is one sentence for the peer.
func (g *Guard) Admit(r *http.Request, token string) (tabtransport.Admission, error) {
	a, _, err := g.admit(r, token)
	return a, err
}

// admit also returns the principal of the credential, nil if none was needed.
func (g *Guard) admit(r *http.Request, token string) (none tabtransport.Admission, _ *policy.Principal, _ error) {
	p := passOf(r.Context())
	if p == nil {
		return none, nil, ErrNoRequest
	}
	id, anonymous := p.identity, false
	switch {
	case p.from&fromCompanion != 0:
		return none, nil, ErrUnpaired
	case g.verifier == nil:
	case token != "":
		var err error
		if id, err = g.verifyAll(p.route, p.identity, []string{token}); err != nil {
			return none, nil, err
		}
	case p.identity != nil:
	case g.needsNone(r, p):
		anonymous = true
	case !g.accounts && p.local && p.from&p.route.anonymous != 0:
		return none, nil, ErrOtherUser
	default:
		return none, nil, endpoint.Unauthorized("Authentication required: send the token in the first message, or as the header 'Authorization: Bearer TOKEN'")
	}
	a := p.admission(id)
	if anonymous {
		a.User, a.Anonymous = spec.LocalUser, true
	}
	if p.entrance != nil && a.User != p.entrance.User {
		return none, nil, errOtherUser
	}
	if id == nil {
		return a, nil, nil
	}
	return a, id.Principal, nil
}

// AdmitExtension is Admit for an extension of the relay's protocols. Such extensions always send a
// token, that of the service that they were made for, so it is ignored where the origin is credential
// enough.
func (g *Guard) AdmitExtension(r *http.Request, token string) (tabtransport.Admission, error) {
	if p := passOf(r.Context()); p != nil && g.needsNone(r, p) {
		token = ""
	}
	return g.Admit(r, token)
}

// AdmitClient is Admit for a client of the relay's protocols, and returns its principal. Such
// clients share an endpoint with the extensions that they drive: no origin is credential enough.
func (g *Guard) AdmitClient(r *http.Request, token string) (tabtransport.Admission, *policy.Principal, error) {
	a, who, err := g.admit(r, token)
	if err == nil && a.Anonymous {
		return tabtransport.Admission{}, nil, endpoint.Unauthorized("Authentication required: send a token in mcp_handshake; `tabhub token mint --name CLIENT` makes one")
	}
	return a, who, err
}
