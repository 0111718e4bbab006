package httpd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"tabhub/spec"
)

// GuardOptions say whom a hub listens to. The zero value is a loopback hub that
// asks for no credential.
type GuardOptions struct {
	// Verifier checks credentials. Nil asks for none: everybody who passes the
	// Host and Origin checks is spec.LocalUser.
	Verifier Verifier
	// Accounts: credentials stand for different users, so that an allowed origin
	// alone says too little and everybody must show one.
	Accounts bool
	// AllowOrigins are further origins, such as "https://app.example.com"; "*" is
	// all of them.
	AllowOrigins []string
	// AllowHosts are further names that clients may reach the hub by, with or
	// without a port.
	AllowHosts []string
	// Companion is the id of the companion extension, which proves its pairing.
	Companion string
	// Extensions are ids of further Chromium extensions, or whole extension origins,
	// that are believed by their origin.
	Extensions []string
	// PublicURL is where clients reach the hub through a proxy, "" if they do not.
	PublicURL string
	// BehindProxy: all requests come through a proxy that does TLS, and says so in
	// X-Forwarded-Proto.
	BehindProxy bool
}

// Guard decides who gets in. It is safe for concurrent use.
type Guard struct {
	verifier   Verifier
	accounts   bool
	anyOrigin  bool
	origins    map[string]bool
	hosts      map[string]bool
	companion  string // its origin
	extensions map[string]bool
	public     *url.URL
	proxied    bool
	ownPeer    func(*http.Request) bool
	signIns    *signIns
}

// NewGuard checks the options. Its errors name the option that is wrong.
func NewGuard(o GuardOptions) (*Guard, error) {
	g := &Guard{
		verifier:   o.Verifier,
		accounts:   o.Accounts,
		origins:    make(map[string]bool),
		hosts:      make(map[string]bool),
		extensions: make(map[string]bool),
		proxied:    o.BehindProxy,
		ownPeer:    ownPeer,
		signIns:    newSignIns(),
	}
	for _, s := range o.AllowOrigins {
		if s == "*" {
			g.anyOrigin = true
			continue
		}
		u, err := url.Parse(s)
		if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("--allow-origin %q is not an origin; write it as a browser does, such as https://app.example.com or http://localhost:5173, or * for all", s)
		}
		g.origins[originOf(u)] = true
	}
	for _, s := range o.AllowHosts {
		if s == "" || strings.ContainsAny(s, "/@ *?#") {
			return nil, fmt.Errorf("--allow-host %q is not a host name; write it without scheme and path, such as hub.example.com or hub.example.com:8443", s)
		}
		g.hosts[strings.ToLower(s)] = true
	}
	if o.Companion != "" {
		g.companion = chromeExtension + o.Companion
	}
	for _, s := range o.Extensions {
		origin := s
		if !strings.Contains(s, "://") {
			if len(s) != 32 || strings.Trim(s, "abcdefghijklmnop") != "" {
				return nil, fmt.Errorf("--extension-id %q is not an extension id; it is 32 letters from a to p (see chrome://extensions), or a whole origin such as moz-extension://…", s)
			}
			origin = chromeExtension + s
		}
		if origin = strings.ToLower(origin); origin == g.companion {
			return nil, fmt.Errorf("--extension-id %q is the companion extension, which needs none: it proves that it is paired with the hub", s)
		}
		g.extensions[origin] = true
	}
	if o.PublicURL != "" {
		u, err := url.Parse(o.PublicURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("--public-url %q is not a web address; write it as https://hub.example.com", o.PublicURL)
		}
		g.public = u
		g.hosts[strings.ToLower(u.Host)] = true
	}
	return g, nil
}

// chromeExtension begins the origins of Chromium's extensions.
const chromeExtension = "chrome-extension://"

// refusal is an error that the peer is to see.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

func forbidden(format string, args ...any) error {
	return &refusal{http.StatusForbidden, fmt.Sprintf(format, args...)}
}

func unauthorized(format string, args ...any) error {
	return &refusal{http.StatusUnauthorized, fmt.Sprintf(format, args...)}
}

// check runs the guard over a request. It returns the request with what was found,
// or a *refusal.
func (g *Guard) check(r *http.Request) (*http.Request, error) {
	if isOwner(r.Context()) {
		// No browser connects to a Unix socket: something passes on a page's request.
		if r.Header["Origin"] != nil {
			return nil, forbidden("this socket is not for web pages, and this request has an Origin")
		}
	} else if err := g.checkHost(r); err != nil {
		return nil, err
	}
	ep := endpointOf(r)
	p := &pass{endpoint: ep, from: g.originOf(r), near: g.isNear(r)}
	if ep.need != credNone {
		if p.from&ep.from == 0 || ep.from&fromAllowed == 0 && isOfAnotherSite(r) {
			return nil, g.refuseOrigin(r, p)
		}
		// A preflight cannot carry a credential; cors answers it.
		if !ep.cors || p.from == fromProgram || !isPreflight(r) {
			id, err := g.credential(r, p)
			if err != nil {
				return nil, err
			}
			p.identity = id
		}
	}
	return r.WithContext(context.WithValue(r.Context(), admissionKey{}, p)), nil
}

// checkHost refuses names that do not stand for this hub: a page that has rebound
// its own name to a loopback address sends that name.
func (g *Guard) checkHost(r *http.Request) error {
	host := strings.ToLower(r.Host)
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), ""
	}
	if g.hosts[host] || g.hosts[name] {
		return nil
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if local != nil && (port == fmt.Sprint(local.Port) || port == "" && (local.Port == 80 || local.Port == 443)) {
		if isLoopbackName(name) {
			return nil
		}
		// An address is nothing that a page could rebind.
		if ip, err := netip.ParseAddr(name); err == nil && ip == local.AddrPort().Addr().Unmap() {
			return nil
		}
	}
	return forbidden("this hub does not answer to the host name %.100q; use its loopback address, or start it with --allow-host %.100s", r.Host, name)
}

func isLoopbackName(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

// originOf finds what kinds of origin a request has. Origins are compared whole: a
// prefix or a suffix proves nothing.
func (g *Guard) originOf(r *http.Request) origins {
	values := r.Header["Origin"]
	switch len(values) {
	case 0:
		if isOwner(r.Context()) {
			return fromOwner
		}
		return fromProgram
	case 1:
	default:
		return 0
	}
	origin := strings.ToLower(values[0])
	var from origins
	if origin == g.companion && origin != "" {
		from |= fromCompanion
	}
	if g.extensions[origin] {
		from |= fromExtension
	}
	if origin == g.selfOrigin(r) {
		from |= fromSelf
	}
	if g.anyOrigin || g.origins[origin] {
		from |= fromAllowed
	}
	if isLoopbackOrigin(origin) {
		from |= fromLoopback
	}
	return from
}

// selfOrigin is the origin of this hub's pages as the request's client sees them.
// The Host header has been checked.
func (g *Guard) selfOrigin(r *http.Request) string {
	host := strings.ToLower(r.Host)
	if g.public != nil && strings.EqualFold(g.public.Host, r.Host) {
		return originOf(g.public)
	}
	if r.TLS != nil || g.proxied && forwardedProto(r) == "https" {
		return "https://" + strings.TrimSuffix(host, ":443")
	}
	return "http://" + strings.TrimSuffix(host, ":80")
}

// forwardedProto is the scheme that the outermost proxy was asked with.
func forwardedProto(r *http.Request) string {
	proto, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	return strings.ToLower(strings.TrimSpace(proto))
}

func originOf(u *url.URL) string {
	s := strings.ToLower(u.Scheme + "://" + u.Host)
	switch u.Scheme {
	case "http":
		s = strings.TrimSuffix(s, ":80")
	case "https":
		s = strings.TrimSuffix(s, ":443")
	}
	return s
}

func isLoopbackOrigin(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || originOf(u) != origin {
		return false
	}
	return isLoopbackName(u.Hostname())
}

func (g *Guard) refuseOrigin(r *http.Request, p *pass) error {
	origin := strings.Join(r.Header["Origin"], ", ")
	switch {
	case p.from == fromProgram && p.endpoint.from == fromSelf:
		return forbidden("%s is for the hub's own page; programs send the token to the other endpoints", p.endpoint.name)
	case p.from == fromProgram && p.endpoint.from&fromProgram != 0:
		return forbidden("%s is not open to web pages, and this request was made by one of another site", p.endpoint.name)
	case p.from&fromProgram != 0:
		return &refusal{http.StatusNotFound, p.endpoint.name + " is only for programs of the hub's own user, over hub.sock in its data directory: `tabhub stdio` of the hub's version uses that; other MCP clients use /mcp"}
	case p.from&fromOwner != 0:
		return &refusal{http.StatusNotFound, p.endpoint.name + " is not for this socket; use the hub's address, which `tabhub status` shows"}
	case p.endpoint.from&fromAllowed == 0:
		return forbidden("%s is not open to web pages, and this request has the origin %.100q; use a program, or the tabhub command", p.endpoint.name, origin)
	case p.from&fromCompanion != 0:
		return forbidden("%s is not for the companion extension, which uses /tabs", p.endpoint.name)
	case strings.Contains(origin, "-extension://"):
		return forbidden("the extension %.100q is not listed; start the hub with --extension-id %.100s", origin, strings.TrimPrefix(origin, "chrome-extension://"))
	case p.from&(fromLoopback|fromSelf) != 0:
		return forbidden("pages at %.100q may not use %s; start the hub with --allow-origin %.100s", origin, p.endpoint.name, origin)
	}
	return forbidden("the origin %.100q is not allowed; start the hub with --allow-origin %.100s", origin, origin)
}

// credential finds and checks what a request shows. It returns nil if the endpoint
// takes its credential from the first message and the request has none.
func (g *Guard) credential(r *http.Request, p *pass) (*Identity, error) {
	if g.verifier == nil {
		if p.from&fromExtension != 0 && !(p.near && g.ownPeer(r)) {
			return nil, ErrOtherUser // it would be believed what it says
		}
		return &Identity{User: spec.LocalUser}, nil
	}
	if tokens := requestTokens(r, p.endpoint); len(tokens) > 0 {
		if p.endpoint.session && len(tokens) == 1 {
			if id, ok := g.signIns.sessions.get(tokens[0]); ok {
				p.session = tokens[0]
				return &id, nil
			}
		}
		return g.verifyAll(nil, tokens)
	}
	if p.from == fromOwner {
		return g.owner(p.endpoint)
	}
	if p.endpoint.need == credHandshake || g.needsNone(r, p) {
		return nil, nil
	}
	return nil, unauthorized("%s", g.howToSend(p.endpoint))
}

// owner is who the hub's owner is without a credential: the one user, or, of a hub with
// accounts, nobody, who may ask about the process.
func (g *Guard) owner(ep endpoint) (*Identity, error) {
	switch {
	case !g.accounts:
		return &Identity{User: spec.LocalUser}, nil
	case ep.process:
		return &Identity{}, nil
	}
	return nil, unauthorized("Authentication required: set TABHUB_TOKEN to the token of one of this hub's users, such as `tabhub token mint` makes")
}

// needsNone reports whether the origin is credential enough. Only a browser is bound
// to send the true one, and only on this machine is it known whose program it is that
// comes without the token.
func (g *Guard) needsNone(r *http.Request, p *pass) bool {
	return !g.accounts && p.near && p.from&p.endpoint.anonymous != 0 && g.ownPeer(r)
}

// isNear reports whether a request was made on this machine.
func (g *Guard) isNear(r *http.Request) bool {
	if g.proxied || g.public != nil || wasForwarded(r) {
		return false // it was made by a proxy
	}
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	from := remote.Addr().Unmap()
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return from.IsLoopback() || local != nil && from == local.AddrPort().Addr().Unmap()
}

// forwarding are the headers by which proxies, tunnels and content delivery networks say
// for whom they ask. A browser sends none of them.
var forwarding = []string{
	"Forwarded", "Via", "X-Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Port",
	"X-Forwarded-Proto", "X-Forwarded-Server", "X-Original-Host", "X-Real-Ip", "X-Client-Ip", "True-Client-Ip",
	"Cf-Connecting-Ip", "Cf-Ray", "Fastly-Client-Ip", "Fly-Client-Ip", "X-Azure-Clientip", "X-Envoy-External-Address",
	"X-Amzn-Trace-Id", "X-Cloud-Trace-Context", "Tailscale-User-Login",
}

// wasForwarded reports whether a proxy says that it asks for somebody else. One on this
// machine is near, but who is behind it need not be.
func wasForwarded(r *http.Request) bool {
	return slices.ContainsFunc(forwarding, func(name string) bool { return r.Header[name] != nil })
}

func (g *Guard) verify(token string) (*Identity, error) {
	id, err := g.verifier.Verify(token)
	if err != nil {
		return nil, unauthorized("%v", err)
	}
	return &id, nil
}

// verifyAll checks all tokens that a peer shows beside the one that id, if it is not nil,
// stands for: one that is wrong is not made good by another. They must be of one user.
// It returns the identity that ends first.
func (g *Guard) verifyAll(id *Identity, tokens []string) (*Identity, error) {
	for _, token := range tokens {
		next, err := g.verify(token)
		switch {
		case err != nil:
			return nil, err
		case id == nil:
			id = next
		case id.User != next.User:
			return nil, unauthorized("the tokens that were sent are of different users; send one")
		case !next.Expires.IsZero() && (id.Expires.IsZero() || next.Expires.Before(id.Expires)):
			id = next
		}
	}
	return id, nil
}

// requestTokens returns the tokens that a request carries.
func requestTokens(r *http.Request, ep endpoint) []string {
	var tokens []string
	for _, h := range r.Header["Authorization"] {
		scheme, token, _ := strings.Cut(h, " ")
		if strings.EqualFold(scheme, "Bearer") {
			tokens = append(tokens, strings.TrimSpace(token))
		}
	}
	if ep.query && r.URL.RawQuery != "" {
		tokens = append(tokens, r.URL.Query()["token"]...)
	}
	return tokens
}

// howToSend tells a person who came without a credential what to do.
func (g *Guard) howToSend(ep endpoint) string {
	from := "`tabhub token` prints it"
	if g.accounts {
		from = "whoever runs this hub makes it, such as with `tabhub token mint`"
	}
	if ep.query {
		return "Authentication required: send the header 'Authorization: Bearer TOKEN' or add ?token=TOKEN; " + from
	}
	return "Authentication required: send the header 'Authorization: Bearer TOKEN'; " + from
}

// isOfAnotherSite reports whether a browser says that another origin's page has made a
// request. For one that a page makes without asking to read the answer, as for an image,
// there is no Origin that would say so.
func isOfAnotherSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}

// ErrNoRequest is what Admit returns for a request that has not been through the
// guard.
var ErrNoRequest = errors.New("the request did not come through the guard")

// AdmitPage checks an origin that a page of this hub vouches for, as the Origin
// header of r would have been. It is for the widget, which runs in a frame of the
// page that it speaks for.
func (g *Guard) AdmitPage(r *http.Request, origin string) error {
	p := passOf(r.Context())
	if p == nil {
		return ErrNoRequest
	}
	as := r.Clone(r.Context())
	as.Header.Set("Origin", origin)
	page := &pass{endpoint: p.endpoint, from: g.originOf(as)}
	if page.from&p.endpoint.from == 0 {
		return g.refuseOrigin(as, page)
	}
	return nil
}

// Admit says who is behind a request that the guard let through. token is what the
// first message of the socket held, "" if nothing; it must be right, and of the same
// user, also where the request itself has shown one. Its error is one sentence for the
// peer.
func (g *Guard) Admit(r *http.Request, token string) (Admission, error) {
	p := passOf(r.Context())
	if p == nil {
		return Admission{}, ErrNoRequest
	}
	a := p.admission()
	switch {
	case p.from&fromCompanion != 0:
		return Admission{}, ErrUnpaired
	case g.verifier == nil:
	case token != "":
		id, err := g.verifyAll(p.identity, []string{token})
		if err != nil {
			return Admission{}, err
		}
		a.Identity = *id
	case p.identity != nil:
	case g.needsNone(r, p):
		a.User, a.Anonymous = spec.LocalUser, true
	case !g.accounts && p.near && p.from&p.endpoint.anonymous != 0:
		return Admission{}, ErrOtherUser
	default:
		return Admission{}, unauthorized("Authentication required: send the token in the first message, or as the header 'Authorization: Bearer TOKEN'")
	}
	return a, nil
}

// AdmitExtension is Admit for an extension of the relay's protocols. Such extensions
// always show a token, that of the service that they were made for, so none is looked
// at where the origin is credential enough.
func (g *Guard) AdmitExtension(r *http.Request, token string) (Admission, error) {
	if p := passOf(r.Context()); p != nil && g.needsNone(r, p) {
		token = ""
	}
	return g.Admit(r, token)
}

// AdmitClient is Admit for a client of the relay's protocols, which shares an endpoint
// with the extensions and drives them: no origin is credential enough for that.
func (g *Guard) AdmitClient(r *http.Request, token string) (Admission, error) {
	a, err := g.Admit(r, token)
	if err == nil && a.Anonymous {
		return Admission{}, unauthorized("Authentication required: send the token in mcp_handshake; `tabhub token` prints it")
	}
	return a, err
}
