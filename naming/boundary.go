package naming

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"

	"tabhub/spec"
)

// A name shows a domain key as groups of characters with "_" between them:
// "shop.example.com:8443" is shop_example_com_8443. What follows the domain in a
// name is groups as well, so this file says where a reader takes the domain to end.

// wellKnown reports whether a reader recognizes a host wherever it stands: a name of
// two labels or more below a top-level domain of the public suffix list, an IP
// address, or localhost.
func wellKnown(host []string) bool {
	last := host[len(host)-1]
	return last == "localhost" || isIPv4(host) || isIPv6(host) || len(host) >= 2 && isTLD(last)
}

// isTLD reports whether label is a top-level domain. The list has some, such as "ck",
// only in the rule "*.ck".
func isTLD(label string) bool {
	if label == "" {
		return false
	}
	suffix, icann := publicsuffix.PublicSuffix("x." + label)
	return icann || suffix != label
}

// suffixLabels returns how many labels the public suffix of a host has.
func suffixLabels(host string) int {
	suffix, _ := publicsuffix.PublicSuffix(host)
	return 1 + strings.Count(suffix, ".")
}

func isIPv4(groups []string) bool {
	return len(groups) == 4 && !slices.ContainsFunc(groups, func(g string) bool { return !isNumber(g, 255) })
}

func isIPv6(groups []string) bool {
	return len(groups) == 8 && !slices.ContainsFunc(groups, func(g string) bool {
		return len(g) < 1 || len(g) > 4 || strings.Trim(g, "0123456789abcdef") != ""
	})
}

func isPort(s string) bool { return s != "0" && isNumber(s, 65535) }

// isNumber reports whether s is a number from 0 to most, written as usual.
func isNumber(s string, most int) bool {
	if s == "" || s[0] < '0' || s[0] > '9' || s[0] == '0' && len(s) > 1 {
		return false
	}
	n, err := strconv.Atoi(s)
	return err == nil && n <= most
}

// unknownSite is what a name shows in place of a domain that it cannot show. No host
// of that name is shown.
const unknownSite = "site"

// shown is a domain as names show it. It reads back: no other domain is shown so.
type shown struct {
	domain spec.Domain
	text   string
	marks  int      // length of the marks that text begins with
	groups []string // of the host
	port   bool     // the group after them is its port
}

// show returns how names show d, or false if what they would show is another domain
// or none: that of a host with "_" in it, with a last dot, or whose first label is a
// mark.
func show(d spec.Domain) (shown, bool) {
	s, ok := readDomain(clean(string(d)))
	return s, ok && s.domain == d && !(len(s.groups) == 1 && s.groups[0] == unknownSite)
}

// readDomain returns the domain that is shown as text.
func readDomain(text string) (shown, bool) {
	s := shown{text: text, marks: marksLen(text)}
	s.groups = strings.Split(text[s.marks:], "_")
	last := len(s.groups) - 1
	port := ""
	if last > 0 && isPort(s.groups[last]) && !isIPv4(s.groups) && !isIPv6(s.groups) {
		s.port, port = true, ":"+s.groups[last]
		s.groups = s.groups[:last]
	}
	for _, g := range s.groups {
		if g == "" {
			return s, false
		}
	}
	dot := "."
	if isIPv6(s.groups) {
		dot = "_"
	}
	s.domain = spec.Domain(text[:s.marks] + strings.Join(s.groups, dot) + port)
	return s, true
}

// marksLen returns the length of the marks that a name's text begins with, without
// host_: a domain that has it is not shown.
func marksLen(text string) int {
	rest := strings.TrimPrefix(text, unverified)
	if after, ok := strings.CutPrefix(rest, "http_"); ok {
		rest = after
	} else {
		rest = strings.TrimPrefix(rest, "https_")
	}
	return len(text) - len(rest)
}

// before returns the domain followed by rest, with "_" between them if that can only
// be read so, else with "__", which ends a domain wherever it stands first.
func (s shown) before(rest string) string {
	if s.onlyReading(rest) {
		return s.text + "_" + rest
	}
	return s.text + "__" + rest
}

// onlyReading reports whether text_rest begins with s and with no other well-known
// host, shorter or longer. No other are its host without the port, one that ends
// within its public suffix, as "bank.co" does in "bank.co.uk", and, as a number
// between labels is read as a port, a longer one if it has a port.
func (s shown) onlyReading(rest string) bool {
	body := s.text + "_" + rest
	if rest == "" || strings.Contains(body, "__") || !wellKnown(s.groups) {
		return false
	}
	groups := strings.Split(strings.ToLower(body[s.marks:]), "_")
	host, last := len(s.groups), len(groups)
	if s.port {
		last = host + 1
	}
	suffix := 0
	for end := 1; end < last; end++ {
		if end == host || !endsSite(groups[:end]) {
			continue
		}
		if end > host {
			return false
		}
		if suffix == 0 {
			suffix = suffixLabels(strings.Join(s.groups, "."))
		}
		if end <= host-suffix {
			return false
		}
	}
	return true
}

// endsSite reports whether groups are a well-known host, with or without a port.
func endsSite(groups []string) bool { return wellKnown(groups) || endsPort(groups) }

// endsPort reports whether groups are a well-known host and a port.
func endsPort(groups []string) bool {
	last := len(groups) - 1
	return last > 0 && isPort(groups[last]) && wellKnown(groups[:last])
}
