package auth

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// endpoint is an address that a hub answers at: what two URLs must have in common
// to name the same hub, whichever of its paths they end in.
type endpoint struct {
	secure bool   // wss or https
	host   string // lower case, with port; "localhost" for all names of this machine
	path   string // of a hub that is mounted below a path; no slash at the end
}

func parseEndpoint(s string) (endpoint, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return endpoint{}, fmt.Errorf("%q is not a URL with a host", s)
	}
	e := endpoint{path: strings.TrimRight(u.EscapedPath(), "/")}
	port := "80"
	switch u.Scheme {
	case "ws", "http":
	case "wss", "https":
		e.secure, port = true, "443"
	default:
		return endpoint{}, fmt.Errorf("%q must start with ws://, wss://, http:// or https://", s)
	}
	if u.User != nil {
		return endpoint{}, errors.New("a URL with a user name or password is not an endpoint")
	}
	if p := u.Port(); p != "" {
		port = p
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if loopback(host) {
		host = "localhost"
	}
	e.host = net.JoinHostPort(host, port)
	return e, nil
}

// names reports whether a connection_url is an address of this hub.
func (v *JWT) names(connectionURL string) bool {
	got, err := parseEndpoint(connectionURL)
	if err != nil {
		return false
	}
	for _, e := range v.endpoints {
		if got.secure == e.secure && got.host == e.host &&
			(got.path == e.path || strings.HasPrefix(got.path, e.path+"/")) {
			return true
		}
	}
	return false
}
