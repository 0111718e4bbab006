package naming

import (
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"

	"tabhub/spec"
)

// SiteOf returns the site of a domain key: what one owner has, however many
// subdomains that is. It is the domain that can be registered with whoever sells them,
// as the public suffix list says; an IP address, or a name without such a suffix as
// localhost is, is a site with its port. What is only claimed is a site of its own,
// marked as in the key.
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
