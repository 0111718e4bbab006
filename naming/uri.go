package naming

import (
	"regexp"
	"strconv"
	"strings"

	"tabhub/spec"
)

const scheme = "tabhub://"

// URI returns the public URI of a resource or the public template of a URI template:
//
//	tabhub://<domain>/<page URI>           for the domain
//	tabhub://<domain>/tab<N>/<page URI>    for one tab
//
// with the page's URI as it is: "tabhub://example.com/shop://cart?full#top". So RFC
// 6570 expressions stay what they are, a query or fragment stays one, and to expand
// a public template is to expand the page's. Two details keep URIs apart and valid. A page
// URI that is, or that an expression might make, "tab<N>/…" gets "tab0/" in front of it in
// the domain's URI. The
// brackets of an IPv6 authority, which RFC 3986 allows nowhere else, are %5B and %5D, for
// which a page's own "%5B" in that place becomes "%255B".
//
// No two identities share a URI. With Plain a domain's URI is the page's own.
func (n ToolNamer) URI(id Identity) string {
	if n.Plain && id.Tab == 0 {
		return id.Item
	}
	page := escapeBrackets(id.Item)
	tab := tabPart(id.Tab)
	if id.Tab == 0 && likeTab(page) {
		tab = "tab0/"
	}
	return scheme + string(id.Domain) + "/" + tab + page
}

// PageURI is the inverse of URI, for resources that a public template stands for as
// well: it returns the page's URI of a public URI in the space of a domain (tab 0) or
// of one of its tabs, or false if public is not in it.
func (n ToolNamer) PageURI(domain spec.Domain, tab int, public string) (string, bool) {
	if n.Plain && tab == 0 {
		return public, true
	}
	page, ok := strings.CutPrefix(public, scheme+string(domain)+"/"+tabPart(tab))
	if !ok {
		return "", false
	}
	if tab == 0 {
		if own, ok := strings.CutPrefix(page, "tab0/"); ok {
			page = own
		} else if tabPath.MatchString(page) {
			return "", false
		}
	}
	return unescapeBrackets(page), true
}

// Escaped returns a URI with the bytes that RFC 3986 does not allow in one as %XX.
// Many clients read a listed URI with a parser that escapes some of them, and ask for
// the result.
func Escaped(uri string) string {
	i := strings.IndexFunc(uri, unsafe)
	if i < 0 {
		return uri
	}
	const hex = "0123456789ABCDEF"
	out := append(make([]byte, 0, 3*len(uri)), uri[:i]...)
	for ; i < len(uri); i++ {
		if c := uri[i]; unsafe(rune(c)) {
			out = append(out, '%', hex[c>>4], hex[c&15])
		} else {
			out = append(out, c)
		}
	}
	return string(out)
}

func unsafe(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"<>\\^`{|}", r)
}

func tabPart(tab int) string {
	if tab == 0 {
		return ""
	}
	return "tab" + strconv.Itoa(tab) + "/"
}

var (
	tabPath = regexp.MustCompile(`^tab[0-9]+/`)
	tabHead = regexp.MustCompile(`^(?:t|ta|tab[0-9]*)?$`)
)

// likeTab reports whether a page's URI, or what a template expands to, may begin
// like the URIs of a tab.
func likeTab(uri string) bool {
	head, _, template := strings.Cut(uri, "{")
	return tabPath.MatchString(head) || template && tabHead.MatchString(head)
}

var (
	ipLiteral      = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*://)\[([0-9A-Fa-f:.]+)\]`)
	escapedLiteral = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*://)%5B([0-9A-Fa-f:.]+)%5D`)
	percent        = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*://%)((?:25)*5[Bb])`)
	percent25      = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*://%)25((?:25)*5[Bb])`)
)

// escapeBrackets writes the brackets of an IPv6 authority as %5B and %5D, see URI.
func escapeBrackets(uri string) string {
	if ipLiteral.MatchString(uri) {
		return ipLiteral.ReplaceAllString(uri, "${1}%5B${2}%5D")
	}
	return percent.ReplaceAllString(uri, "${1}25${2}")
}

// unescapeBrackets is the inverse of escapeBrackets.
func unescapeBrackets(uri string) string {
	if escapedLiteral.MatchString(uri) {
		return escapedLiteral.ReplaceAllString(uri, "${1}[${2}]")
	}
	return percent25.ReplaceAllString(uri, "${1}${2}")
}
