package httpd

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"tabhub/hub/face/endpoint"
)

// origins is a set of kinds of Origin header; a header can be of several.
type origins uint8

const (
	fromProgram   origins = 1 << iota // no Origin header
	fromCompanion                     // the companion extension, by its header alone
	fromExtension                     // a listed browser extension
	fromLoopback                      // a page served from this machine
	fromAllowed                       // listed by --allow-origin
	fromSelf                          // a page of this hub
	fromOwner                         // a program of the user who runs the hub: see ServeOwner

	fromPages = fromLoopback | fromAllowed | fromSelf // pages that may offer tools by themselves
)

// originOf returns the kinds of origin that a request has. It compares whole origins: a prefix or a
// suffix proves nothing.
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

// selfOrigin is the origin of this hub's pages as the request's client sees them. The Host header has
// been checked.
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

// Address is the origin at which a request's client connects to this hub. The Host header has been
// checked.
func (g *Guard) Address(r *http.Request) string {
	if g.public != nil && g.proxied {
		return originOf(g.public)
	}
	return g.selfOrigin(r)
}

// forwardedProto is the scheme of the request to the outermost proxy.
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

// isOfAnotherSite reports whether a browser says that a page of another origin has made a request. A
// request whose answer the page does not read, as for an image, has no Origin.
func isOfAnotherSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}

// refuseOrigin says why a request's origin may not use its route, and what to do.
func (g *Guard) refuseOrigin(r *http.Request, p *pass) error {
	origin := strings.Join(r.Header["Origin"], ", ")
	name := cmp.Or(p.route.name, r.URL.Path)
	switch {
	case p.from == fromProgram && p.route.from == fromSelf:
		return endpoint.Forbidden("%s is for the hub's own page; programs send the token to the other endpoints", name)
	case p.from == fromProgram && p.route.from&fromProgram != 0:
		return endpoint.Forbidden("%s is not open to web pages, and this request was made by one of another site", name)
	case p.from&fromProgram != 0:
		return &endpoint.Error{Status: http.StatusNotFound, Text: name + " is only for programs of the hub's own user, over hub.sock in its data directory: `tabhub stdio` of the hub's version uses that; other MCP clients use /mcp"}
	case p.from&fromOwner != 0:
		return &endpoint.Error{Status: http.StatusNotFound, Text: name + " is not for this socket; use the hub's address, which `tabhub status` shows"}
	case p.route.from&fromAllowed == 0:
		return endpoint.Forbidden("%s is not open to web pages, and this request has the origin %.100q; use a program, or the tabhub command", name, origin)
	case p.from&fromCompanion != 0:
		return endpoint.Forbidden("%s is not for the companion extension, which uses /tabs", name)
	case strings.Contains(origin, "-extension://"):
		return endpoint.Forbidden("the extension %.100q is not listed; start the hub with --set extension-id=%.100s", origin, strings.TrimPrefix(origin, "chrome-extension://"))
	case p.from&(fromLoopback|fromSelf) != 0:
		return endpoint.Forbidden("pages at %.100q may not use %s; start the hub with --allow-origin %.100s", origin, name, origin)
	case origin == "null":
		return endpoint.Forbidden("the page has no origin that could be allowed: serve a file from a web server, such as `python3 -m http.server`, and give a sandboxed frame allow-same-origin")
	}
	return endpoint.Forbidden("the origin %.100q is not allowed; start the hub with --allow-origin %.100s", origin, origin)
}
