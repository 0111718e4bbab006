package oauth

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// maxRedirect bounds a redirect URI, in bytes.
const maxRedirect = 1024

// programs are the schemes of MCP clients that are called back by one without a domain in it. Any
// other of that kind may be one that the browser or the operating system opens itself, and some
// of these run what stands in the address.
var programs = []string{
	"cherrystudio", "claude", "code-oss", "codex", "cursor", "goose", "kiro", "lmstudio", "mcpjam", "raycast", "trae",
	"vscode", "vscode-insiders", "vscodium", "warp", "warppreview", "windsurf", "windsurf-next", "zed",
}

// isOfDomain reports whether a program has made a scheme of a domain of its maker, in reverse order
// (RFC 8252, section 7.1).
func isOfDomain(scheme string) bool {
	return regexp.MustCompile(`^[a-z][a-z0-9-]+(\.[a-z0-9-]+)+$`).MatchString(scheme)
}

// parseRedirect checks where an answer may be sent: to a web server over TLS, to a program
// on this computer, or by a scheme that is a program's.
func parseRedirect(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case len(s) > maxRedirect || err != nil || u.Scheme == "" || strings.ContainsFunc(s, isUnsafe) || strings.ContainsFunc(u.Host, isUnsafe):
		return nil, errorf(invalidRedirect, "the redirect URI %.100q is not an address", s)
	case u.Fragment != "" || strings.Contains(s, "#"):
		return nil, errorf(invalidRedirect, "the redirect URI %.100q must have no fragment", s)
	case u.User != nil:
		return nil, errorf(invalidRedirect, "the redirect URI %.100q must have no user name", s)
	case u.Scheme == "https" && u.Hostname() != "", u.Scheme == "http" && isLoopback(u.Hostname()):
		return u, nil
	case u.Scheme == "http" || u.Scheme == "https":
		return nil, errorf(invalidRedirect, "the redirect URI %.100q must begin with https://, or with http:// and 127.0.0.1, [::1] or localhost", s)
	case slices.Contains(programs, u.Scheme), isOfDomain(u.Scheme):
		return u, nil
	}
	return nil, errorf(invalidRedirect, "the redirect URI %.100q must begin with https://, with http:// and 127.0.0.1, [::1] or localhost, or with a scheme made of a domain of the program's maker, such as com.example.app:/callback", s)
}

// isUnsafe reports whether a character has no place in an address: browsers drop some of
// them, and read another address than was checked. In a host, where it may be percent-encoded,
// it looks to the owner like another one.
func isUnsafe(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }

// isLoopback reports whether a host is one of the three by which programs on this computer
// are called back (RFC 8252, section 7.3, and localhost, which most use).
func isLoopback(host string) bool {
	return host == "127.0.0.1" || host == "::1" || host == "localhost"
}

// fits reports whether an answer may be sent to asked by a client that has registered
// registered. Both are the same, but for the port of a program on this computer, which
// takes a free one each time. asked has been parsed.
func fits(registered, asked string) bool {
	if registered == asked {
		return true
	}
	a, err := url.Parse(asked)
	if err != nil || a.Scheme != "http" || !isLoopback(a.Hostname()) {
		return false
	}
	r, err := url.Parse(registered)
	return err == nil && withoutPort(r) == withoutPort(a)
}

func withoutPort(u *url.URL) string {
	bare := *u
	bare.Host = u.Hostname()
	return bare.String()
}

// place says for people where an address leads from a browser; local says that the browser is on the
// hub's computer.
func place(u *url.URL, local bool) string {
	computer := "this computer"
	if !local {
		computer = "the computer that shows the page, which need not be yours"
	}
	switch {
	case u.Scheme == "http", isLoopback(u.Hostname()): // parseRedirect has checked the former
		return "a program on " + computer + ", port " + cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	case u.Scheme != "https":
		return "the program that opens " + u.Scheme + ": addresses on " + computer
	}
	return strings.ToLower(u.Host)
}
