package naming

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"tabhub/spec"
)

// DomainOf returns the domain key of a web origin as a browser serializes it:
// "https://shop.example.com", "http://localhost:5173", "http://[::1]:3000". IDNs may
// be in Unicode or punycode. Any other scheme, an opaque origin ("null") or
// something that no browser would give is an error that says so.
//
// The key is the host, with ":port" unless it is the scheme's own. It is marked
// where that alone would not tell two origins apart, so that different origins
// never share one:
//
//	http_        http, but on a loopback host, where it is the usual scheme
//	https_       https on a loopback host
//	unverified_  not the browser's word but somebody's claim
//	host_        the host's own name begins with a mark, or looks like an IPv6 key
//
// in the order unverified_, http_ or https_, host_. An IPv6 address is eight groups
// of hex digits joined by "_".
func DomainOf(origin string, verified bool) (spec.Domain, error) {
	scheme, rest, ok := strings.Cut(origin, "://")
	scheme = strings.ToLower(scheme)
	if !ok || scheme != "http" && scheme != "https" {
		return "", fmt.Errorf("origin %.100q: only http and https pages have a domain", origin)
	}
	host, port, err := splitPort(rest)
	if err == nil {
		host, err = canonicalHost(host)
	}
	if err != nil {
		return "", fmt.Errorf("origin %.100q: %w", origin, err)
	}

	var key strings.Builder
	if !verified {
		key.WriteString(unverified)
	}
	if (scheme == "http") != isLoopback(host) {
		key.WriteString(scheme + "_")
	}
	if addr, ok := ipv6(host); ok {
		key.WriteString(addr)
	} else {
		if marked.MatchString(host) {
			key.WriteString("host_")
		}
		key.WriteString(host)
	}
	if own := scheme == "https" && port == 443 || scheme == "http" && port == 80; port != 0 && !own {
		key.WriteString(":" + strconv.Itoa(int(port)))
	}
	return spec.Domain(key.String()), nil
}

// DomainOfURL returns the domain key of a page's URL; "" for what is no web page.
func DomainOfURL(raw string, verified bool) spec.Domain {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return ""
	}
	d, err := DomainOf(u.Scheme+"://"+u.Host, verified)
	if err != nil {
		return ""
	}
	return d
}

// The dashboard of a hub has a new name for each sign-in, which browsers resolve to this
// machine themselves.
const (
	DashboardPrefix = "tabhub-"
	DashboardSuffix = ".localhost"
)

// IsDashboard reports whether a host is a name of a hub's dashboard.
func IsDashboard(host string) bool {
	return strings.HasPrefix(host, DashboardPrefix) && strings.HasSuffix(host, DashboardSuffix)
}

// unverified marks the key of a domain that somebody only claims.
const unverified = "unverified_"

// domainKey matches what DomainOf returns, and little else.
var domainKey = regexp.MustCompile(`^[a-z0-9_.-]+(?::[1-9][0-9]{0,4})?$`)

// IsClaimed reports whether the domain key is of an origin that no browser vouches for.
func IsClaimed(d spec.Domain) bool { return strings.HasPrefix(string(d), unverified) }

// maxDomain is how long a domain key may be; in the expression it would take a
// millisecond of each start.
const maxDomain = 300 + len(":65535")

// IsDomain reports whether d looks like a domain key.
func IsDomain(d spec.Domain) bool { return len(d) <= maxDomain && domainKey.MatchString(string(d)) }

// marked matches the hosts that could be taken for another origin's key.
var marked = regexp.MustCompile(`^(?:(?:http|https|unverified|host)_|[0-9a-f]{1,4}(?:_[0-9a-f]{1,4}){7}$)`)

// splitPort returns the host and the port of an authority; 0 if there is no port.
func splitPort(authority string) (host string, port uint16, err error) {
	host = authority
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
		host = authority[:i]
		n, err := strconv.ParseUint(authority[i+1:], 10, 16)
		if err != nil || n == 0 {
			return "", 0, fmt.Errorf("%.20q is not a port", authority[i+1:])
		}
		port = uint16(n)
	}
	if host == "" {
		return "", 0, errors.New("no host")
	}
	return host, port, nil
}

// toASCII does to a host what browsers do (UTS 46, non-transitional).
var toASCII = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.CheckHyphens(false), idna.BidiRule())

// number matches a last label that makes a host an IPv4 address.
var number = regexp.MustCompile(`^(?:[0-9]+|0x[0-9a-f]*)$`)

// notInName reports whether a canonical host name may not hold r.
func notInName(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_')
}

// canonicalHost returns a host as browsers write it, IPv6 without its brackets.
func canonicalHost(host string) (string, error) {
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		addr, err := netip.ParseAddr(host[1 : len(host)-1])
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return "", errors.New("not an IPv6 address")
		}
		return addr.String(), nil
	}
	if !utf8.ValidString(host) || strings.ContainsRune(host, utf8.RuneError) {
		return "", errors.New("not a host name: invalid UTF-8")
	}
	ascii := strings.ToLower(host)
	if strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		var err error
		if ascii, err = toASCII.ToASCII(host); err != nil {
			return "", fmt.Errorf("not a host name: %w", err)
		}
	}
	if ascii == "" || len(ascii) > 253 || strings.ContainsFunc(ascii, notInName) {
		return "", errors.New("not a host name")
	}
	// Browsers take a host whose last label is a number for an IPv4 address, in
	// many spellings, and always write it in this one.
	labels := strings.TrimSuffix(ascii, ".")
	if number.MatchString(labels[strings.LastIndexByte(labels, '.')+1:]) {
		if addr, err := netip.ParseAddr(ascii); err != nil || !addr.Is4() {
			return "", errors.New("not an IPv4 address as browsers write it")
		}
	}
	return ascii, nil
}

// isLoopback reports whether a canonical host is this machine by definition.
func isLoopback(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsLoopback()
	}
	name := strings.TrimSuffix(host, ".")
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// ipv6 returns the key form of a canonical host that is an IPv6 address.
func ipv6(host string) (string, bool) {
	addr, err := netip.ParseAddr(host)
	if err != nil || !addr.Is6() {
		return "", false
	}
	b := addr.As16()
	groups := make([]string, 8)
	for i := range groups {
		groups[i] = strconv.FormatUint(uint64(binary.BigEndian.Uint16(b[2*i:])), 16)
	}
	return strings.Join(groups, "_"), true
}
