package oauth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"strings"
	"time"

	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// Request is a client's request to the owner: the query of the authorization page.
type Request struct {
	client    *Client  // nil until its document has been read
	document  *url.URL // of such a client
	redirect  string
	to        *url.URL // redirect, parsed
	state     string
	challenge string
	resource  string // "" if the client has named none
	base      string // of the hub, as the client knows it
	local     bool   // the page is shown on the hub's computer
}

// Parse checks the query of the authorization page of the hub at base; local says that the page is shown
// on the hub's computer. With an error, Parse returns the Request only if the client may learn of it;
// see Request.Refuse.
func (s *Server) Parse(base string, local bool, query url.Values) (*Request, error) {
	if err := checkOnce(query); err != nil {
		return nil, err
	}
	r := &Request{
		redirect: query.Get("redirect_uri"), state: query.Get("state"),
		challenge: query.Get("code_challenge"), resource: query.Get("resource"), base: base, local: local,
	}
	id, known := query.Get("client_id"), false
	if strings.HasPrefix(id, idPrefix) {
		r.client, known = s.registered(id)
	} else {
		r.document, known = describedBy(id)
	}
	if !known {
		return nil, errorf(invalidClient, "the hub does not know this client: have the client forget its registration and sign in again")
	}
	var err error
	if r.to, err = parseRedirect(r.redirect); err != nil {
		return nil, err
	}
	if r.client != nil && !r.client.allows(r.redirect) {
		return nil, errOtherRedirect
	}
	return r, r.check(query)
}

var errOtherRedirect = errorf(invalidRequest, "the client wants the answer at an address that it has not registered; have it forget its registration and sign in again")

// check checks the parameters of whose errors the client may learn.
func (r *Request) check(query url.Values) error {
	switch kind := query.Get("response_type"); {
	case kind != "code":
		return errorf(unsupportedType, "the response_type must be code, not %.50q", kind)
	case query.Get("code_challenge_method") != s256 || !isChallenge(r.challenge):
		return errorf(invalidRequest, "the client must send a code_challenge, with the code_challenge_method S256")
	case query.Has("response_mode") && query.Get("response_mode") != "query":
		return errorf(invalidRequest, "the response_mode must be query")
	case query.Has("resource"):
		return checkResource(r.base, r.resource)
	}
	return nil
}

// isChallenge reports whether s is a SHA-256 in base64url.
func isChallenge(s string) bool {
	b, err := base64.RawURLEncoding.DecodeString(s)
	return err == nil && len(b) == sha256.Size && len(s) == base64.RawURLEncoding.EncodedLen(len(b)) // or there are line ends
}

// checkOnce refuses a parameter that is there twice: two programs could read two things.
func checkOnce(form url.Values) error {
	for name, values := range form {
		if len(values) > 1 {
			return errorf(invalidRequest, "the parameter %.50q is there twice", name)
		}
	}
	return nil
}

// Name is what the client calls itself, "" if that is not known (yet).
func (r *Request) Name() string {
	if r.client == nil {
		return ""
	}
	return r.client.Name
}

// Host is the web server whose document describes the client, "" if the client has
// described itself.
func (r *Request) Host() string {
	if r.document == nil {
		return ""
	}
	return r.document.Host
}

// Place says for people where the browser goes with the answer.
func (r *Request) Place() string { return place(r.to, r.local) }

// Refuse returns the address that sends the client an error, "" if there is none: the address of a client
// with a document is not known before the hub has read that.
func (r *Request) Refuse(code, text string) string {
	if r.client == nil {
		return ""
	}
	return r.answer(url.Values{"error": {code}, "error_description": {describable(text)}})
}

// answer returns the address that sends the client an answer.
func (r *Request) answer(with url.Values) string {
	with.Set("iss", r.base) // RFC 9207
	if r.state != "" {
		with.Set("state", r.state)
	}
	separator := "?"
	if strings.Contains(r.redirect, "?") {
		separator = "&"
	}
	return r.redirect + separator + with.Encode()
}

// describable keeps of a text what an error_description may hold (RFC 6749, 4.1.2.1).
func describable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '"':
			return '\''
		case r < ' ' || r > '~' || r == '\\':
			return ' '
		}
		return r
	}, text)
}

// Access is what a client is to be able to do. The zero value is all that the policy
// allows.
type Access struct {
	ReadOnly bool
	Sites    []string // and no other; none means all
}

// scope is a as the client's credential has it.
func (a Access) scope() *policy.Scope {
	if !a.ReadOnly && len(a.Sites) == 0 {
		return nil
	}
	scope := &policy.Scope{Sites: a.Sites}
	if a.ReadOnly {
		scope.Classes = []policy.Class{policy.Read}
	}
	return scope
}

// words says what a is in a sentence.
func (a Access) words() string {
	where := ""
	if len(a.Sites) > 0 {
		where = ", on " + strings.Join(a.Sites, ", ") + " and no other site"
	}
	if a.ReadOnly {
		return "It will be able to read" + where + ", and to change nothing."
	}
	return "It will be able to do what your policy allows" + where + "."
}

// code is an authorization code that the hub has given out.
type code struct {
	client    *Client
	redirect  string
	challenge string
	resource  string
	scope     *policy.Scope
	expires   time.Time
	used      bool
	grant     string // what it was exchanged for
}

// Authorize asks the owner to let the client of r sign in, and blocks until there is an answer or ctx
// ends: then it withdraws the question. from is the source of the click on the page. show shows the code
// on the page, which the owner has to repeat. Authorize returns the address at which the browser goes
// on, also after a no; the error is for the page.
func (s *Server) Authorize(ctx context.Context, from Source, r *Request, a Access, show func(code string)) (string, error) {
	scope := a.scope()
	if err := scope.Check(); err != nil {
		return "", errorf(invalidRequest, "%v", err)
	}
	end, err := s.sources.ask(from)
	if err != nil {
		return "", err
	}
	answered := true // until a question was not
	defer func() { end(answered) }()
	if r.client == nil {
		client, err := s.describe(ctx, r)
		if err != nil {
			return "", err
		}
		if !client.allows(r.redirect) {
			return "", errOtherRedirect
		}
		r.client = client
	}
	number, err := rand.Int(rand.Reader, big.NewInt(10_000))
	if err != nil {
		return "", err
	}
	shown := fmt.Sprintf("%04d", number)
	show(shown)
	answer, err := s.approve(ctx, consent.SignIn{
		Client: spec.AskClient{Name: cmp.Or(r.client.Host, "an unknown program"), Said: r.client.Name, Return: r.Place()},
		Why:    []string{r.known(), a.words()},
		Code:   shown,
	})
	answered = answer.Reach != ""
	_, denied := errors.AsType[*consent.Denied](err)
	switch {
	case denied && answer.Reach == "":
		return r.Refuse(accessDenied, "the owner of the hub has not answered; sign in again"), nil
	case denied:
		return r.Refuse(accessDenied, "the owner of the hub has said no"), nil
	case err != nil:
		return "", err
	}
	return r.answer(url.Values{"code": {s.newCode(r, scope)}}), nil
}

// known says how the hub knows the client.
func (r *Request) known() string {
	if r.client.Host == "" {
		return "The program has chosen its name itself; no one has checked it."
	}
	return fmt.Sprintf("%s says that this is its program; the program itself has not proved it.", r.client.Host)
}

// newCode makes a code for what r asks for.
func (s *Server) newCode(r *Request, scope *policy.Scope) string {
	text := rand.Text()
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for sum, c := range s.codes {
		if now.After(c.expires.Add(codeKept)) {
			delete(s.codes, sum)
		}
	}
	s.codes[sumOf(text)] = &code{
		client: r.client, redirect: r.redirect, challenge: r.challenge,
		resource: r.resource, scope: scope, expires: now.Add(codeLife),
	}
	return text
}

// name is what the owner calls the client at first.
func (c *Client) name() string { return cmp.Or(c.Name, c.Host, "MCP client") }
