package oauth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"tabhub/describe"
)

const (
	maxName         = 64   // bytes of a client's name
	maxRedirects    = 8    // of a client that registers itself
	maxRegistration = 4096 // bytes of what a client id holds
)

// Client is a program that asks for tokens.
type Client struct {
	ID        string
	Name      string // as it calls itself; "" if it says nothing
	Host      string // whose document describes it; "" if it has registered itself
	Redirects []string
}

// Registration is what a client says of itself, and the answer to it (RFC 7591). Members
// that are not here are ignored: the hub shows no logo and follows no link.
type Registration struct {
	ClientID      string   `json:"client_id,omitempty"`
	ClientName    string   `json:"client_name,omitempty"`
	RedirectURIs  []string `json:"redirect_uris"`
	AuthMethod    string   `json:"token_endpoint_auth_method,omitempty"`
	GrantTypes    []string `json:"grant_types,omitempty"`
	ResponseTypes []string `json:"response_types,omitempty"`
}

// check returns the client of a registration or a document.
func (r *Registration) check() (*Client, error) {
	if len(r.RedirectURIs) == 0 {
		return nil, errorf(invalidRedirect, "redirect_uris must name where the answer is sent")
	}
	for _, s := range r.RedirectURIs {
		if _, err := parseRedirect(s); err != nil {
			return nil, err
		}
	}
	return &Client{ID: r.ClientID, Name: describe.Clean(r.ClientName, maxName), Redirects: r.RedirectURIs}, nil
}

// idPrefix begins the ids of clients that have registered themselves.
const idPrefix = "dcr_"

// registered is what such an id holds. The hub keeps nothing of a registration, so there is
// nothing to fill up or to push others out of (RFC 7591, appendix A.5.2): the id is what
// was registered, with a MAC of the hub's.
type registered struct {
	Name      string   `json:"n,omitempty"`
	Redirects []string `json:"r"`
	Nonce     string   `json:"x"` // no two installations have one id
}

// Register makes a client id. Everybody may ask for one; it is good for asking the owner.
func (s *Server) Register(from Source, in Registration) (*Registration, error) {
	if err := s.sources.register(from); err != nil {
		return nil, err
	}
	client, err := in.check()
	if err != nil {
		return nil, err
	}
	if len(client.Redirects) > maxRedirects {
		return nil, errorf(invalidRedirect, "register at most %d redirect_uris", maxRedirects)
	}
	text, err := json.Marshal(registered{client.Name, client.Redirects, rand.Text()[:8]})
	if err != nil {
		return nil, err
	}
	if len(text) > maxRegistration {
		return nil, errorf(invalidMetadata, "the redirect_uris are too long")
	}
	return &Registration{
		ClientID:      s.idOf(text),
		ClientName:    client.Name,
		RedirectURIs:  client.Redirects,
		AuthMethod:    noAuth,
		GrantTypes:    grantTypes,
		ResponseTypes: responseTypes,
	}, nil
}

// registered returns the client that was given an id by Register.
func (s *Server) registered(id string) (*Client, bool) {
	text, _, _ := strings.Cut(strings.TrimPrefix(id, idPrefix), ".")
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || !equal(id, s.idOf(b)) { // there is one way to write an id
		return nil, false
	}
	var r registered
	if json.Unmarshal(b, &r) != nil {
		return nil, false
	}
	return &Client{ID: id, Name: r.Name, Redirects: r.Redirects}, true
}

// idOf is the id of what was registered.
func (s *Server) idOf(text []byte) string {
	h := hmac.New(sha256.New, s.state.Load().Key)
	h.Write(text)
	return idPrefix + encode(text) + "." + encode(h.Sum(nil)[:16])
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// allows reports whether the client may be answered at an address.
func (c *Client) allows(redirect string) bool {
	return slices.ContainsFunc(c.Redirects, func(r string) bool { return fits(r, redirect) })
}

// describedBy returns the address of the document that a client id names, if it is one of
// a web server: https, with a path, and in its plainest form.
func describedBy(id string) (*url.URL, bool) {
	u, err := url.Parse(id)
	if err != nil || len(id) > maxRedirect || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Port() != "" ||
		u.Path == "" || u.Path == "/" || strings.Contains(id, "#") || strings.ContainsFunc(id, isUnsafe) || strings.ContainsFunc(u.Host, isUnsafe) {
		return nil, false
	}
	return u, u.Host == strings.ToLower(u.Host) && u.JoinPath().EscapedPath() == u.EscapedPath()
}
