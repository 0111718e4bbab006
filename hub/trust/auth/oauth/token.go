package oauth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/url"
	"strings"
	"time"

	"tabhub/hub/trust/auth"
	"tabhub/spec"
)

// refreshPrefix begins refresh tokens, which are tbr_<grant>_<family>_<secret>. Access tokens
// are <auth.AccessPrefix><grant>_<secret>.
const refreshPrefix = "tbr_"

// Tokens is the answer of the token endpoint.
type Tokens struct {
	Access    string `json:"access_token"`
	Type      string `json:"token_type"`
	ExpiresIn int    `json:"expires_in"` // seconds
	Refresh   string `json:"refresh_token"`
	Scope     string `json:"scope"`
}

// repeat is how a refresh token was answered.
type repeat struct {
	used   string // the hash of its secret
	tokens *Tokens
	until  time.Time
}

// Token answers a request of the token endpoint of the hub at base.
func (s *Server) Token(base string, form url.Values) (*Tokens, error) {
	if err := checkOnce(form); err != nil {
		return nil, err
	}
	if form.Has("resource") {
		if err := checkResource(base, form.Get("resource")); err != nil {
			return nil, err
		}
	}
	defer s.recordEntries()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch kind := form.Get("grant_type"); kind {
	case grantCode:
		return s.exchangeLocked(form)
	case grantRefresh:
		return s.refreshLocked(form)
	default:
		return nil, errorf(unsupportedGrant, "the grant_type %.50q is not one of authorization_code and refresh_token", kind)
	}
}

// exchangeLocked makes a grant of a code. Whatever is wrong with what comes with it, the
// code is used up.
func (s *Server) exchangeLocked(form url.Values) (*Tokens, error) {
	c := s.codes[sumOf(form.Get("code"))]
	if c == nil {
		return nil, errorf(invalidGrant, "the hub has given out no such code; start the sign-in again")
	}
	if c.used {
		if err := s.endLocked(c.grant, "ended: its code was used twice"); err != nil {
			return nil, err
		}
		return nil, errorf(invalidGrant, "the code was used before, so what it was good for has ended; start the sign-in again")
	}
	c.used = true
	switch {
	case time.Now().After(c.expires):
		return nil, errorf(invalidGrant, "the code is older than a minute; start the sign-in again")
	case form.Get("client_id") != c.client.ID:
		return nil, errorf(invalidGrant, "the code was given to another client_id")
	case form.Get("redirect_uri") != c.redirect:
		return nil, errorf(invalidGrant, "the redirect_uri is not the one that the code was sent to")
	case form.Has("resource") && c.resource != "" && form.Get("resource") != c.resource:
		return nil, errorf(invalidTarget, "the resource is not the one that the code was asked for")
	case !answers(form.Get("code_verifier"), c.challenge):
		return nil, errorf(invalidGrant, "the code_verifier is not the one of the code_challenge")
	}
	client, err := s.clients.Add(auth.Client{Name: c.client.name(), Kind: auth.ClientOAuth, User: spec.LocalUser, Scope: c.scope})
	if bad, ok := errors.AsType[*auth.BadClientError](err); ok {
		return nil, errorf(invalidClient, "%v", bad)
	}
	if err != nil {
		return nil, err
	}
	family := rand.Text()
	g := grant{ID: rand.Text()[:16], Client: client.ID, ClientID: sumOf(c.client.ID), Family: sumOf(family)}
	tokens := g.renew(family)
	if err := s.putLocked(g); err != nil {
		return nil, errors.Join(err, s.clients.Revoke(spec.LocalUser, client.ID))
	}
	c.grant = g.ID
	s.noteLocked(client.ID, "signed in")
	return tokens, nil
}

// refreshLocked replaces the tokens of a grant. If a replaced refresh token is used again, two programs
// have it, and one has stolen it: then the grant ends.
func (s *Server) refreshLocked(form url.Values) (*Tokens, error) {
	id, rest, _ := strings.Cut(strings.TrimPrefix(form.Get("refresh_token"), refreshPrefix), "_")
	family, secret, _ := strings.Cut(rest, "_")
	found := s.state.Load().find(id)
	if found == nil || !equal(sumOf(family), found.Family) || !equal(sumOf(form.Get("client_id")), found.ClientID) {
		return nil, errorf(invalidGrant, "the refresh token is not good (any more) for this client; sign in again")
	}
	if last := s.repeats[id]; equal(sumOf(secret), last.used) && time.Now().Before(last.until) {
		return last.tokens, nil
	}
	if !equal(sumOf(secret), found.Refresh) {
		s.log.Warn("a refresh token was used twice, so its client is signed out", "client", found.Client)
		if err := s.endLocked(id, "ended: a refresh token was used twice"); err != nil {
			return nil, err
		}
		return nil, errorf(invalidGrant, "the refresh token was used before, so what it was good for has ended; sign in again")
	}
	if _, ok := s.clients.Identity(found.Client); !ok || time.Since(found.Used) > idleLife {
		return nil, errorf(invalidGrant, "the client's sign-in has ended; sign in again")
	}
	g := *found
	tokens := g.renew(family)
	if err := s.putLocked(g); err != nil {
		return nil, err
	}
	s.forgetRepeatsLocked()
	s.repeats[id] = repeat{used: found.Refresh, tokens: tokens, until: time.Now().Add(repeatLife)}
	return tokens, nil
}

func (s *Server) forgetRepeatsLocked() {
	for id, r := range s.repeats {
		if time.Now().After(r.until) {
			delete(s.repeats, id)
		}
	}
}

// renew gives the grant new tokens. The access token of before stays good: a call that was
// prepared with it may be on its way.
func (g *grant) renew(family string) *Tokens {
	now, secret, accessSecret := time.Now(), rand.Text(), rand.Text()
	g.Used, g.Refresh = now, sumOf(secret)
	next := access{Sum: sumOf(accessSecret), Expires: now.Add(accessLife)}
	if n := len(g.Access); n > 0 {
		g.Access = []access{g.Access[n-1], next}
	} else {
		g.Access = []access{next}
	}
	return &Tokens{
		Access: auth.AccessPrefix + g.ID + "_" + accessSecret, Type: "Bearer", ExpiresIn: int(accessLife.Seconds()),
		Refresh: refreshPrefix + g.ID + "_" + family + "_" + secret, Scope: scope,
	}
}

var (
	errUnknownAccess = errors.New("the hub does not know this access token: the client's sign-in has ended, or is with another hub; have the client sign in again")
	errExpiredAccess = errors.New("the access token has expired; the client gets another for its refresh token")
)

// Verify returns the identity of an access token. Requests that have begun with it do not end when it
// expires, but with the client: a new token must not cut a call short.
func (s *Server) Verify(token string) (auth.Identity, error) {
	id, secret, _ := strings.Cut(strings.TrimPrefix(token, auth.AccessPrefix), "_")
	g := s.state.Load().find(id)
	if g == nil {
		return auth.Identity{}, errUnknownAccess
	}
	for _, a := range g.Access {
		if !equal(sumOf(secret), a.Sum) {
			continue
		}
		if !time.Now().Before(a.Expires) {
			return auth.Identity{}, errExpiredAccess
		}
		if who, ok := s.clients.Identity(g.Client); ok {
			return who, nil
		}
		return auth.Identity{}, errUnknownAccess
	}
	return auth.Identity{}, errExpiredAccess
}

// Revoke ends the grant of an access or refresh token (RFC 7009). A token that is not good
// is revoked already.
func (s *Server) Revoke(form url.Values) error {
	if err := checkOnce(form); err != nil {
		return err
	}
	token := form.Get("token")
	defer s.recordEntries()
	s.mu.Lock()
	defer s.mu.Unlock()
	if rest, ok := strings.CutPrefix(token, refreshPrefix); ok {
		id, rest, _ := strings.Cut(rest, "_")
		family, _, _ := strings.Cut(rest, "_")
		if g := s.state.Load().find(id); g != nil && equal(sumOf(family), g.Family) {
			return s.endLocked(id, "ended by the client")
		}
		return nil
	}
	if _, err := s.Verify(token); err != nil {
		return nil
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(token, auth.AccessPrefix), "_")
	return s.endLocked(id, "ended by the client")
}

// answers reports whether a verifier is that of an S256 challenge (RFC 7636).
func answers(verifier, challenge string) bool {
	return len(verifier) >= 43 && len(verifier) <= 128 && equal(sumOf(verifier), challenge)
}

// sumOf is the SHA-256 of a secret, in base64url.
func sumOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return encode(sum[:])
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
