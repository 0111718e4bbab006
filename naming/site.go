package naming

import (
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"

	"tabhub/spec"
)

// SiteOf returns the site of a domain key: the registrable domain by the public suffix
// list, so that all subdomains of one owner are one site. An IP address, or a name without
// a public suffix such as localhost, is a site together with its port. An unverified
// origin is a site apart, marked as in the key.
func SiteOf(d spec.Domain) string {
	marks, host, port := SplitKey(d)
	claim := ""
	if strings.HasPrefix(marks, unverified) {
		claim = unverified
	}
	if _, err := netip.ParseAddr(host); err != nil {
		if site, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
			return claim + site
		}
	}
	return claim + host + port
}
