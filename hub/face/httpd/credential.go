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

// credential finds and checks the credential of a request. It returns nil if the endpoint takes its
// credential from the first message and the request has none.
func (g *Guard) credential(r *http.Request, p *pass) (*auth.Identity, error) {
	if g.verifier == nil {
		if p.from&fromExtension != 0 && !(p.local && g.isOwners(r, p)) {
			return nil, ErrOtherUser // the hub believes an extension what it says of pages
		}
		kind, principal := p.route.withoutCredential()
		return &auth.Identity{User: spec.LocalUser, Kind: kind, Principal: principal}, nil
	}
	if tokens := requestTokens(r, p.route); len(tokens) > 0 {
		if p.rightMethod && p.route.kinds&(auth.KindLogin|auth.KindWriter) != 0 && len(tokens) == 1 {
			if id := g.login(r, p, tokens[0]); id != nil {
				p.login = tokens[0]
				return id, p.route.admits(id)
			}
		}
		return g.verifyAll(p.route, nil, tokens)
	}
	if p.from == fromOwner {
		return g.owner(p.route)
	}
	if p.open = g.metrics && p.route.openable && p.local; p.open {
		return nil, nil
	}
	if p.route.need == credHandshake || g.needsNone(r, p) {
		return nil, nil
	}
	return nil, endpoint.Unauthorized("%s", g.howToSend(p.route))
}

// login returns the identity of a page of the dashboard by its login; nil if there is no such login,
// or it has begun at another host. A request that writes counts as use of the page.
func (g *Guard) login(r *http.Request, p *pass, secret string) *auth.Identity {
	s, ok := g.signIns.logins.get(secret)
	if !ok || s.host != dashboardHost(r) || s.host != "" && r.Header.Get("Sec-Fetch-Site") != "same-origin" {
		return nil
	}
	id := &s.Identity
	id.Kind, id.Principal = auth.KindLogin, policy.Owner
	reads := r.Method == http.MethodGet
	if s.host == "" || time.Since(s.used) >= writerIdle || !reads && p.from&fromSelf == 0 {
		return id
	}
	id.Kind |= auth.KindWriter
	if !reads {
		g.signIns.logins.use(secret)
		s.used = time.Now()
	}
	if idle := s.used.Add(writerIdle); p.route.kinds&auth.KindLogin == 0 && idle.Before(id.Expires) {
		id.Expires = idle
	}
	return id
}

// owner returns the identity of the hub's owner without a credential: the only user, or, on a hub with
// accounts, no user, for endpoints about the process.
func (g *Guard) owner(rt *route) (*auth.Identity, error) {
	kind, principal := rt.withoutCredential()
	switch {
	case !g.accounts:
		return &auth.Identity{User: spec.LocalUser, Kind: kind, Principal: principal}, nil
	case rt.process:
		return &auth.Identity{Kind: kind, Principal: principal}, nil
	}
	return nil, endpoint.Unauthorized("Authentication required: set TABHUB_TOKEN to the token of one of this hub's users, such as `tabhub token mint` makes")
}

// checkOwner refuses requests of others at endpoints that are for the hub's owner alone.
func (g *Guard) checkOwner(p *pass) error {
	switch only := p.route.ownerOnly; {
	case p.from == fromOwner, p.open:
	case only == ownerWithAccounts && g.accounts:
		return endpoint.Forbidden("this hub has several users, and %s is for its owner alone, on its machine", p.route.path)
	case only == ownerNoAccounts && !g.accounts && p.identity.Kind&auth.KindWriter == 0:
		return endpoint.Forbidden("%s is for the hub's owner alone, with the tabhub command on the hub's machine, such as `tabhub browser pair` or `tabhub token mint`", cmp.Or(p.route.name, p.route.path))
	}
	return nil
}

// needsNone reports whether the origin is credential enough, one of auth.KindPage. Only a browser can be
// relied on to send the true one, and only on this machine the hub can see that it is the owner's.
func (g *Guard) needsNone(r *http.Request, p *pass) bool {
	return p.route.kinds&auth.KindPage != 0 && !g.accounts && p.local && p.from&p.route.anonymous != 0 && g.isOwners(r, p)
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

// uncheckedError refuses a credential that may be good later.
type uncheckedError struct{ refused endpoint.Error }

func (e *uncheckedError) Error() string   { return e.refused.Error() }
func (e *uncheckedError) Unwrap() []error { return []error{&e.refused, auth.ErrUnchecked} }

// verifyAll checks all tokens that a peer shows, beside that of id if that is not nil: a right token
// does not make up for a wrong one. They must be of one user and one client. It returns the identity
// that ends first.
func (g *Guard) verifyAll(rt *route, id *auth.Identity, tokens []string) (*auth.Identity, error) {
	for _, token := range tokens {
		next, err := g.verify(rt, token)
		switch {
		case err != nil:
			return nil, err
		case id == nil:
			id = next
		case id.User != next.User || id.Principal.ID != next.Principal.ID:
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

// howToSend says what to do about a request without a credential.
func (g *Guard) howToSend(rt *route) string {
	from := "`tabhub token` prints it"
	switch {
	case g.accounts:
		from = "the owner of this hub makes it, such as with `tabhub token mint`"
	case rt.kinds&auth.KindClient != 0:
		from = "`tabhub token mint --name CLIENT` makes one"
	}
	if rt.query {
		return "Authentication required: send the header 'Authorization: Bearer TOKEN' or add ?token=TOKEN; " + from
	}
	return "Authentication required: send the header 'Authorization: Bearer TOKEN'; " + from
}
