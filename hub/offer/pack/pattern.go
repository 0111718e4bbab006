package pack

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"

	"tabhub/hub/trust/policy"
	"tabhub/naming"
)

// Pattern is a match pattern as Chrome has them: <scheme>://<host><path>. The host may begin with
// "*.", which stands for the host and all below it. A pattern without a port matches each port.
// In the path, which includes the query, "*" stands for any characters. The zero Pattern matches
// nothing.
type Pattern struct {
	text   string
	scheme string
	host   string // without "*."
	below  bool   // hosts below it, too
	port   string // "": each
	path   string
}

// ParsePattern reads a match pattern. It refuses those that are wider than the sites of one owner, and
// plain http but for this computer.
func ParsePattern(text string) (Pattern, error) {
	p := Pattern{text: text}
	if text == "<all_urls>" {
		return p, errors.New("<all_urls> is each site; name the sites, such as https://shop.example.com/*")
	}
	if len(text) > maxPattern {
		return p, fmt.Errorf("%.100q is longer than %d bytes", text, maxPattern)
	}
	scheme, rest, ok := strings.Cut(text, "://")
	slash := strings.IndexByte(rest, '/')
	if !ok || slash < 0 {
		return p, fmt.Errorf("%.100q is no match pattern; write it as https://shop.example.com/*", text)
	}
	authority := rest[:slash]
	p.scheme, p.path = scheme, rest[slash:]
	if scheme != "https" && scheme != "http" {
		return p, fmt.Errorf("%.100q must begin with https://, or with http:// for this computer (localhost)", text)
	}
	if i := strings.IndexFunc(p.path, func(r rune) bool { return r <= ' ' || r == '#' || r == '\\' || r >= 0x7f }); i >= 0 {
		return p, fmt.Errorf("%.100q has %q in its path; write the path as the browser's address has it, percent-encoded and without a fragment", text, p.path[i:i+1])
	}
	if authority, p.below = strings.CutPrefix(authority, "*."); strings.Contains(authority, "*") || authority == "" {
		return p, fmt.Errorf("%.100q has a * that is not the first of its host's labels; write *.example.com for example.com and all below", text)
	}
	return p, p.takeHost(authority)
}

// takeHost reads the host and the port of the pattern.
func (p *Pattern) takeHost(authority string) error {
	key, err := naming.DomainOf(p.scheme+"://"+authority, true)
	if err != nil {
		return err
	}
	p.host = authority
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
		p.host, p.port = authority[:i], authority[i+1:]
	}
	_, host, _ := naming.SplitKey(key)
	addr, err := netip.ParseAddr(strings.Trim(p.host, "[]"))
	isAddr := err == nil
	switch {
	case isAddr && strings.Trim(p.host, "[]") != addr.String(), !isAddr && (p.host != host || strings.HasSuffix(host, ".")):
		return fmt.Errorf("%.100q does not have its host as browsers write it; did you mean %s?", p.text, strings.TrimSuffix(host, "."))
	case p.port != "" && strings.HasPrefix(p.port, "0"):
		return fmt.Errorf("%.100q has a port that begins with 0", p.text)
	case p.scheme == "http" && strings.HasPrefix(string(key), "http_"):
		return fmt.Errorf("%.100q is not encrypted: anybody on the way could change the page; http:// is for this computer (localhost) only", p.text)
	case naming.IsDashboard(p.host), p.below && (p.host == "localhost" || strings.HasSuffix(p.host, ".localhost")):
		return fmt.Errorf("%.100q could be the hub's dashboard; name the host, such as localhost", p.text)
	case p.below && isAddr:
		return fmt.Errorf("%.100q has a * before an address", p.text)
	case p.below:
		if _, err := publicsuffix.EffectiveTLDPlusOne(p.host); err != nil {
			return fmt.Errorf("%.100q is wider than what one owner can have; name a domain below it, such as *.example.%s", p.text, p.host)
		}
	}
	return nil
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// Matches reports whether a page's address, as a browser writes it, is one of the pattern's.
func (p Pattern) Matches(url string) bool {
	origin, path := SplitURL(url)
	return p.matchesOrigin(origin) && p.matchesPath(path)
}

// matchesPath reports whether a path with its query is one of the pattern's.
func (p Pattern) matchesPath(path string) bool {
	return path+"/*" == p.path || policy.Globs(p.path, path) // as in Chrome, /a/* matches /a
}

// SplitURL returns the origin of an address, and its path with the query.
func SplitURL(url string) (origin, path string) {
	url, _, _ = strings.Cut(url, "#")
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return "", ""
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	if path = rest[end:]; !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return scheme + "://" + rest[:end], path
}

// matchesOrigin reports whether the pattern has addresses of an origin.
func (p Pattern) matchesOrigin(origin string) bool {
	scheme, host, ok := strings.Cut(origin, "://")
	if !ok || scheme != p.scheme || p.host == "" {
		return false
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	port := map[string]string{"https": "443", "http": "80"}[scheme]
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host, port = host[:i], host[i+1:]
	}
	return (p.port == "" || p.port == port) && p.matchesHost(strings.TrimSuffix(strings.ToLower(host), "."))
}

// matchesHost reports whether the pattern has addresses of a host.
func (p Pattern) matchesHost(host string) bool {
	return host == p.host || p.below && strings.HasSuffix(host, "."+p.host)
}

// sites says where the pattern reaches, for people.
func (p Pattern) sites() string {
	s := p.host
	if p.port != "" {
		s += ":" + p.port
	}
	if p.scheme == "http" {
		s = "http://" + s
	}
	if p.below {
		s += " with all sites below it"
	}
	return s
}

// url returns an address of the pattern's site.
func (p Pattern) url(path string) string {
	u := p.scheme + "://" + p.host
	if p.port != "" {
		u += ":" + p.port
	}
	return u + path
}

// meet reports whether two patterns stand for a same text.
func meet(a, b string) bool {
	// reach[j] says whether the characters of a so far meet the first j of b.
	reach := make([]bool, len(b)+1)
	reach[0] = true
	for j := 1; j <= len(b) && b[j-1] == '*'; j++ {
		reach[j] = true
	}
	for i := range len(a) {
		next := make([]bool, len(b)+1)
		for j := range next {
			switch {
			case a[i] == '*':
				next[j] = reach[j] || j > 0 && next[j-1]
			case j > 0 && b[j-1] == '*':
				next[j] = reach[j] || next[j-1]
			default:
				next[j] = j > 0 && reach[j-1] && a[i] == b[j-1]
			}
		}
		reach = next
	}
	return reach[len(b)]
}

// patterns reads the match patterns of a document.
func patterns(at string, texts []string) (all []Pattern, _ error) {
	if len(texts) > maxPatterns {
		return nil, fmt.Errorf("%s: more than %d patterns", at, maxPatterns)
	}
	for i, text := range texts {
		p, err := ParsePattern(text)
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", at, i, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// reaches reports whether one of the patterns may match a path, in which "*" stands for arguments.
func reaches(all []Pattern, path string) bool {
	for _, p := range all {
		if meet(p.path, path) || meet(p.path, path+"/*") || meet(p.path, path+"?*") {
			return true
		}
	}
	return false
}
