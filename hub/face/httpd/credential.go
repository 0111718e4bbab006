package httpd

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"time"

	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// credential finds and checks what a request shows. It returns nil if the endpoint
// takes its credential from the first message and the request has none.
func (g *Guard) credential(r *http.Request, p *pass) (*auth.Identity, error) {
	if g.verifier == nil {
		if p.from&fromExtension != 0 && !(p.near && g.own(r, p)) {
			return nil, ErrOtherUser // it would be believed what it says
		}
		kind, who := p.route.nobodys()
		return &auth.Identity{User: spec.LocalUser, Kind: kind, Who: who}, nil
	}
	if tokens := requestTokens(r, p.route); len(tokens) > 0 {
		if p.rightMethod && p.route.kinds&(auth.KindSession|auth.KindWriter) != 0 && len(tokens) == 1 {
			if id := g.session(r, p, tokens[0]); id != nil {
				p.session = tokens[0]
				return id, p.route.admits(id)
			}
		}
		return g.verifyAll(p.route, nil, tokens)
	}
	if p.from == fromOwner {
		return g.owner(p.route)
	}
	if p.open = g.metrics && p.route.openable && p.near; p.open {
		return nil, nil
	}
	if p.route.need == credHandshake || g.needsNone(r, p) {
		return nil, nil
	}
	return nil, endpoint.Unauthorized("%s", g.howToSend(p.route))
}

// session is who shows the session of a page of the dashboard; nil if there is no such
// session, or it has begun at another host. What is written with it counts as use.
func (g *Guard) session(r *http.Request, p *pass, secret string) *auth.Identity {
	s, ok := g.signIns.sessions.get(secret)
	if !ok || s.host != dashboardHost(r) || s.host != "" && r.Header.Get("Sec-Fetch-Site") != "same-origin" {
		return nil
	}
	id := &s.Identity
	id.Kind, id.Who = auth.KindSession, policy.Owner
	reads := r.Method == http.MethodGet
	if s.host == "" || time.Since(s.used) >= writerIdle || !reads && p.from&fromSelf == 0 {
		return id
	}
	id.Kind |= auth.KindWriter
	if !reads {
		g.signIns.sessions.use(secret)
		s.used = time.Now()
	}
	if idle := s.used.Add(writerIdle); p.route.kinds&auth.KindSession == 0 && idle.Before(id.Expires) {
		id.Expires = idle
	}
	return id
}

// owner is who the hub's owner is without a credential: the one user, or, of a hub with
// accounts, nobody, who may ask about the process.
func (g *Guard) owner(rt *route) (*auth.Identity, error) {
	kind, who := rt.nobodys()
	switch {
	case !g.accounts:
		return &auth.Identity{User: spec.LocalUser, Kind: kind, Who: who}, nil
	case rt.process:
		return &auth.Identity{Kind: kind, Who: who}, nil
	}
	return nil, endpoint.Unauthorized("Authentication required: set TABHUB_TOKEN to the token of one of this hub's users, such as `tabhub token mint` makes")
}

// checkOwner refuses who is not the hub's owner where only that may ask.
func (g *Guard) checkOwner(p *pass) error {
	switch only := p.route.ownerOnly; {
	case p.from == fromOwner, p.open:
	case only == ownerWithAccounts && g.accounts:
		return endpoint.Forbidden("this hub has several users, and %s is for the one who runs it, on its machine", p.route.path)
	case only == ownerNoAccounts && !g.accounts && p.identity.Kind&auth.KindWriter == 0:
		return endpoint.Forbidden("%s is for the hub's owner alone, with the tabhub command on the hub's machine, such as `tabhub browser pair` or `tabhub token mint`", cmp.Or(p.route.name, p.route.path))
	}
	return nil
}

// needsNone reports whether the origin is credential enough, one of auth.KindPage. Only a browser is bound
// to send the true one, and only on this machine is it known whose program it is that
// comes without the token.
func (g *Guard) needsNone(r *http.Request, p *pass) bool {
	return p.route.kinds&auth.KindPage != 0 && !g.accounts && p.near && p.from&p.route.anonymous != 0 && g.own(r, p)
}

func (g *Guard) verify(rt *route, token string) (*auth.Identity, error) {
	id, err := g.verifier.Verify(token)
	switch {
	case errors.Is(err, auth.ErrUnchecked):
		return nil, &uncheckedError{endpoint.Error{Status: http.StatusServiceUnavailable, Text: err.Error()}}
	case err != nil:
		return nil, endpoint.Unauthorized("%v", err)
	}
	return &id, rt.admits(&id)
}

// uncheckedError refuses who may come back with the same credential.
type uncheckedError struct{ no endpoint.Error }

func (e *uncheckedError) Error() string   { return e.no.Error() }
func (e *uncheckedError) Unwrap() []error { return []error{&e.no, auth.ErrUnchecked} }

// verifyAll checks all tokens that a peer shows beside the one that id, if it is not nil,
// stands for: one that is wrong is not made good by another. They must be of one user and
// one client. It returns the identity that ends first.
func (g *Guard) verifyAll(rt *route, id *auth.Identity, tokens []string) (*auth.Identity, error) {
	for _, token := range tokens {
		next, err := g.verify(rt, token)
		switch {
		case err != nil:
			return nil, err
		case id == nil:
			id = next
		case id.User != next.User || id.Who.ID != next.Who.ID:
			return nil, endpoint.Unauthorized("the tokens that were sent are of different users or clients; send one")
		case !next.Expires.IsZero() && (id.Expires.IsZero() || next.Expires.Before(id.Expires)):
			id = next
		}
	}
	return id, nil
}

// requestTokens returns the tokens that a request carries.
func requestTokens(r *http.Request, rt *route) []string {
	var tokens []string
	for _, h := range r.Header["Authorization"] {
		scheme, token, _ := strings.Cut(h, " ")
		if strings.EqualFold(scheme, "Bearer") {
			tokens = append(tokens, strings.TrimSpace(token))
		}
	}
	if rt.query && r.URL.RawQuery != "" {
		tokens = append(tokens, r.URL.Query()["token"]...)
	}
	return tokens
}

// howToSend tells a person who came without a credential what to do.
func (g *Guard) howToSend(rt *route) string {
	from := "`tabhub token` prints it"
	switch {
	case g.accounts:
		from = "whoever runs this hub makes it, such as with `tabhub token mint`"
	case rt.kinds&auth.KindClient != 0:
		from = "`tabhub token mint --name CLIENT` makes one"
	}
	if rt.query {
		return "Authentication required: send the header 'Authorization: Bearer TOKEN' or add ?token=TOKEN; " + from
	}
	return "Authentication required: send the header 'Authorization: Bearer TOKEN'; " + from
}
