package hub

import (
	"net/url"

	"tabhub/naming"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// originOf returns the origin of a URL as a browser writes it, "" if it has none.
func originOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// place decides which domain an item belongs to. What the browser vouches for
// counts; where there is only a claim, the domain is an unverified one.
func (it *item) place(c tabtransport.Conn, tabURL string) (err error) {
	origin := c.Origin
	switch {
	case c.Attested:
		if origin = it.origin; origin == "" {
			origin = originOf(tabURL)
		}
		it.verified = true
	case c.Hello != nil && c.Hello.BrowserID != "":
		// A program that carries many tabs: all it says is a claim.
		if origin = it.origin; origin == "" {
			origin = originOf(tabURL)
		}
	case c.ClaimedOrigin != "":
		it.verified = c.ClaimedOrigin == origin
		origin = c.ClaimedOrigin
	case origin != "":
		it.verified = true
	default:
		origin = originOf(tabURL)
	}
	it.origin = origin
	it.domain, err = naming.DomainOf(origin, it.verified)
	return err
}

// tabURL returns the URL of a tab as far as it may be believed: one whose origin is
// not the tab's own is left out, as "".
func tabURL(c tabtransport.Conn, claimed string) string {
	if len(claimed) > spec.MaxURI {
		return ""
	}
	own := c.Origin
	if c.ClaimedOrigin != "" {
		own = c.ClaimedOrigin
	}
	browser := c.Hello != nil && c.Hello.BrowserID != ""
	if c.Attested || browser || own == "" || originOf(claimed) == own {
		return claimed
	}
	return ""
}
