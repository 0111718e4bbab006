package httpd

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/auth"
	"tabhub/spec"
)

// GuardOptions say which requests a hub serves. The zero value is a loopback hub that asks for no
// credential.
type GuardOptions struct {
	// Verifier checks credentials. Nil asks for none: each request that passes the checks of Host and
	// Origin is of spec.LocalUser.
	Verifier auth.Verifier
	// Directory is told the user of each login of the dashboard. Nil: there is none.
	Directory auth.Directory
	// Accounts: credentials stand for different users, so that an allowed origin alone says too little,
	// and each request needs a credential.
	Accounts bool
	// AllowOrigins are further origins, such as "https://app.example.com"; "*" is
	// all of them.
	AllowOrigins []string
	// AllowHosts are further names that clients may reach the hub by, with or
	// without a port.
	AllowHosts []string
	// Companion is the id of the companion extension, which must prove its pairing.
	Companion string
	// Extensions are ids of further Chromium extensions, or whole extension origins. Their origin is
	// credential enough.
	Extensions []string
	// OpenMetrics: /metrics needs no credential on the hub's machine.
	OpenMetrics bool
	// PublicURL is where clients reach the hub through a proxy, "" if they do not.
	PublicURL string
	// BehindProxy: all requests come through a proxy that does TLS, and says so in
	// X-Forwarded-Proto.
	BehindProxy bool
}

// Guard decides which requests are served. It is safe for concurrent use.
type Guard struct {
	verifier   auth.Verifier
	accounts   bool
	anyOrigin  bool
	origins    map[string]bool
	hosts      map[string]bool
	companion  string // its origin
	extensions map[string]bool
	metrics    bool // are open
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
		metrics:    o.OpenMetrics,
		ownPeer:    ownPeer,
		signIns:    newSignIns(o.Directory),
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
			return nil, fmt.Errorf("allow-host %q is not a host name; write it without scheme and path, such as hub.example.com or hub.example.com:8443", s)
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
				return nil, fmt.Errorf("extension-id %q is not an extension id; it is 32 letters from a to p (see chrome://extensions), or a whole origin such as moz-extension://…", s)
			}
			origin = chromeExtension + s
		}
		if origin = strings.ToLower(origin); origin == g.companion {
			return nil, fmt.Errorf("extension-id %q is the companion extension, which needs none: it proves that it is paired with the hub", s)
		}
		g.extensions[origin] = true
	}
	if o.PublicURL != "" {
		u, err := url.Parse(o.PublicURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("public-url %q is not a web address; write it as https://hub.example.com", o.PublicURL)
		}
		g.public = u
		g.hosts[strings.ToLower(u.Host)] = true
	}
	return g, nil
}

// chromeExtension begins the origins of Chromium's extensions.
const chromeExtension = "chrome-extension://"

// check checks a request. It returns the request with its pass, or an *endpoint.Error.
func (g *Guard) check(r *http.Request) (*http.Request, error) {
	p, err := g.checkOrigin(r, nil)
	if err != nil {
		return nil, err
	}
	return g.checkCredential(r, p)
}

// checkOrigin is the part of check that needs no credential. entrance is what another process says of
// the request, nil if it has come to this one.
func (g *Guard) checkOrigin(r *http.Request, entrance *entrance) (*pass, error) {
	if isOwner(r.Context()) {
		// No browser connects to a Unix socket: a program passes on a page's request.
		if r.Header["Origin"] != nil {
			return nil, endpoint.Forbidden("this socket is not for web pages, and this request has an Origin")
		}
	} else if err := g.checkHost(r); err != nil {
		return nil, err
	}
	p := &pass{from: g.originOf(r), entrance: entrance}
	if entrance == nil {
		p.local = g.isLocal(r)
	} else {
		p.local = entrance.SameMachine
	}
	p.route, p.rightMethod = routeOf(r)
	rt := p.route
	if dashboardHost(r) != "" && !rt.dashboard {
		return nil, &endpoint.Error{Status: http.StatusNotFound, Text: "this name is the dashboard's alone; use the hub's address, which `tabhub status` shows"}
	}
	if (rt.from != 0 || rt.need != credNone) && (p.from&rt.from == 0 || rt.from&fromAllowed == 0 && isOfAnotherSite(r)) {
		return nil, g.refuseOrigin(r, p)
	}
	return p, nil
}

// checkCredential is the rest of check.
func (g *Guard) checkCredential(r *http.Request, p *pass) (*http.Request, error) {
	if p.route.need != credNone && !p.preflight(r) {
		id, err := g.credential(r, p)
		if err != nil {
			return nil, err
		}
		p.identity = id
	}
	return r.WithContext(context.WithValue(r.Context(), passKey{}, p)), nil
}

// pass is what the guard has found out about a request.
type pass struct {
	route       *route
	rightMethod bool // route is for the request's method, too
	from        origins
	entrance    *entrance      // what the process says to which the request has come; nil: this one
	here        spec.UserID    // the user whose hub was found in this process when the request was located; "": none
	local       bool           // it was made on this machine, or on that of the entrance
	open        bool           // it needs no credential though its route does
	identity    *auth.Identity // nil: none yet; it comes in the first message
	login       string         // the login of the dashboard that was shown, "" if none
}

// preflight reports whether cors answers a request, which cannot carry a credential.
func (p *pass) preflight(r *http.Request) bool {
	return p.route.cors && p.from != fromProgram && isPreflight(r)
}

// isOwners reports whether a request that was made on this machine comes from a program of the user
// who runs the hub, as far as the system tells.
func (g *Guard) isOwners(r *http.Request, p *pass) bool {
	if p.entrance != nil {
		return p.entrance.SameAccount
	}
	return g.ownPeer(r)
}

type passKey struct{}

// passOf returns the pass of a request by its context, nil if it has none.
func passOf(ctx context.Context) *pass {
	p, _ := ctx.Value(passKey{}).(*pass)
	return p
}
