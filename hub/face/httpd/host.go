package httpd

import (
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"tabhub/hub/face/endpoint"
	"tabhub/naming"
)

// checkHost refuses names that are not this hub's: a page that has rebound its own name to a loopback
// address sends that name.
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
	return endpoint.Forbidden("this hub does not answer to the host name %.100q; use its loopback address, or start it with --set allow-host=%.100s", r.Host, name)
}

func isLoopbackName(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

// IsServedAt reports whether a host and port are those of a listener at an address, by any of its names
// on its machine.
func IsServedAt(addr, hostport string) bool {
	at, err := netip.ParseAddrPort(addr)
	name, port, err2 := net.SplitHostPort(hostport)
	if err != nil || err2 != nil || port != fmt.Sprint(at.Port()) {
		return false
	}
	ip, err := netip.ParseAddr(name)
	return isLoopbackName(name) || err == nil && ip.Unmap() == at.Addr().Unmap()
}

// newDashboardHost returns a new Host for the dashboard of the hub at an address, "" if there can be
// none: it needs loopback, without TLS or a proxy. At a new origin, no program that had the hub's port
// before can have left a service worker or anything else.
func newDashboardHost(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.Path != "" || !isLoopbackName(u.Hostname()) {
		return ""
	}
	name := naming.DashboardPrefix + strings.ToLower(rand.Text()) + naming.DashboardSuffix
	if port := u.Port(); port != "" {
		return name + ":" + port
	}
	return name
}

// dashboardHost returns the Host of a request if it is one that newDashboardHost has made, which serves
// the dashboard alone; otherwise "".
func dashboardHost(r *http.Request) string {
	host := strings.ToLower(r.Host)
	name, _, _ := strings.Cut(host, ":")
	if naming.IsDashboard(name) && !isOwner(r.Context()) {
		return host
	}
	return ""
}

// isLocal reports whether a request was made on this machine.
func (g *Guard) isLocal(r *http.Request) bool {
	if g.proxied || g.public != nil || wasForwarded(r) {
		return false // a proxy made it
	}
	return hasLocalPeer(r)
}

// hasLocalPeer reports whether the program at the other end of a request's connection, which may be a
// proxy, is on this machine.
func hasLocalPeer(r *http.Request) bool {
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	from := remote.Addr().Unmap()
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return from.IsLoopback() || local != nil && from == local.AddrPort().Addr().Unmap()
}

// forwarding are the headers with which proxies, tunnels and content delivery networks name the client.
// A browser sends none of them.
var forwarding = []string{
	"Forwarded", "Via", "X-Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Port",
	"X-Forwarded-Proto", "X-Forwarded-Server", "X-Original-Host", "X-Real-Ip", "X-Client-Ip", "True-Client-Ip",
	"Cf-Connecting-Ip", "Cf-Ray", "Fastly-Client-Ip", "Fly-Client-Ip", "X-Azure-Clientip", "X-Envoy-External-Address",
	"X-Amzn-Trace-Id", "X-Cloud-Trace-Context", "Tailscale-User-Login",
}

// wasForwarded reports whether a proxy says that it passes on a request. The proxy may be on this
// machine; its client need not be.
func wasForwarded(r *http.Request) bool {
	return slices.ContainsFunc(forwarding, func(name string) bool { return r.Header[name] != nil })
}
