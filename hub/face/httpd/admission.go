package httpd

import (
	"errors"
	"net/http"

	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/auth"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// admission is what the guard has found out about a request of id; nil: its credential is still to
// come.
func (p *pass) admission(id *auth.Identity) tabtransport.Admission {
	a := tabtransport.Admission{Attested: p.from&fromExtension != 0, Own: p.from&fromSelf != 0}
	if id != nil {
		a.User, a.Who, a.Expires, a.Revoked = id.User, id.Who, id.Expires, id.Revoked
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

// Admit returns the user and the credential of a request that the guard has checked. token is that of
// the first message of the socket, "" if it has none. It must be right, and of the same user as a token
// in the request. The error is one sentence for the peer.
func (g *Guard) Admit(r *http.Request, token string) (tabtransport.Admission, error) {
	p := passOf(r.Context())
	if p == nil {
		return tabtransport.Admission{}, ErrNoRequest
	}
	a := p.admission(p.identity)
	switch {
	case p.from&fromCompanion != 0:
		return tabtransport.Admission{}, ErrUnpaired
	case g.verifier == nil:
	case token != "":
		id, err := g.verifyAll(p.route, p.identity, []string{token})
		if err != nil {
			return tabtransport.Admission{}, err
		}
		a = p.admission(id)
	case p.identity != nil:
	case g.needsNone(r, p):
		a.User, a.Anonymous = spec.LocalUser, true
	case !g.accounts && p.local && p.from&p.route.anonymous != 0:
		return tabtransport.Admission{}, ErrOtherUser
	default:
		return tabtransport.Admission{}, endpoint.Unauthorized("Authentication required: send the token in the first message, or as the header 'Authorization: Bearer TOKEN'")
	}
	if p.entrance != nil && a.User != p.entrance.User {
		return tabtransport.Admission{}, errOtherUser
	}
	return a, nil
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

// AdmitClient is Admit for a client of the relay's protocols, which shares an endpoint with the
// extensions and drives them: no origin is credential enough for that.
func (g *Guard) AdmitClient(r *http.Request, token string) (tabtransport.Admission, error) {
	a, err := g.Admit(r, token)
	if err == nil && a.Anonymous {
		return tabtransport.Admission{}, endpoint.Unauthorized("Authentication required: send a token in mcp_handshake; `tabhub token mint --name CLIENT` makes one")
	}
	return a, err
}
