package item

import (
	"errors"
	"net/url"

	"tabhub/naming"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// Provenance is where an item comes from.
type Provenance struct {
	Domain   spec.Domain
	Origin   string       // of the frame
	Verified bool         // the browser vouches for the origin
	Pack     spec.PackRef // that gives the site the tool; zero: the item is the page's own
}

// Claim is what an item says of where it comes from.
type Claim struct {
	Origin string       // "": that of its tab
	Pack   spec.PackRef // zero: none
}

// ProvenanceOf returns where an item comes from that a connection registers for a tab
// at tabURL. If no browser vouches for the origin, the domain is an unverified one. Only an attested
// browser offers the tools of packs.
func ProvenanceOf(c tabtransport.Conn, tabURL string, claimed Claim) (p Provenance, err error) {
	if p.Pack = claimed.Pack; p.Pack != (spec.PackRef{}) && !c.Attested {
		return Provenance{}, errors.New("only a paired browser offers the tools of packs")
	}
	switch {
	case c.Attested || isBrowser(c):
		// Where a program is not attested, all that it says is a claim.
		if p.Origin = claimed.Origin; claimed.Origin == "" {
			p.Origin = OriginOf(tabURL)
		}
		p.Verified = c.Attested
	case c.ClaimedOrigin != "":
		p.Origin, p.Verified = c.ClaimedOrigin, c.ClaimedOrigin == c.Origin
	case c.Origin != "":
		p.Origin, p.Verified = c.Origin, true
	default:
		p.Origin = OriginOf(tabURL)
	}
	p.Domain, err = naming.DomainOf(p.Origin, p.Verified)
	return p, err
}

// OriginOf returns the origin of a URL as a browser writes it, "" if it has none.
func OriginOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// TabURL returns the URL that a connection claims for a tab, "" if that has another origin than the
// tab.
func TabURL(c tabtransport.Conn, claimed string) string {
	if len(claimed) > spec.MaxURI {
		return ""
	}
	origin := c.Origin
	if c.ClaimedOrigin != "" {
		origin = c.ClaimedOrigin
	}
	if c.Attested || isBrowser(c) || origin == "" || OriginOf(claimed) == origin {
		return claimed
	}
	return ""
}

// isBrowser reports whether a connection carries many tabs.
func isBrowser(c tabtransport.Conn) bool { return c.Hello != nil && c.Hello.BrowserID != "" }
