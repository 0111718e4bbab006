package browsertool

import (
	"net/url"
	"strconv"
	"strings"

	"tabhub/describe"
)

// encodeBlanks returns an address as a browser takes it: without blanks around it, those after its
// host encoded, as people write them in a query.
func encodeBlanks(raw string) string {
	raw = strings.TrimSpace(raw)
	_, rest, ok := strings.Cut(raw, "://")
	i := strings.IndexAny(rest, "/?#")
	if !ok || i < 0 {
		return raw
	}
	i += len(raw) - len(rest)
	return raw[:i] + strings.ReplaceAll(raw[i:], " ", "%20")
}

// checkURL lets only web addresses pass: file:, javascript:, data: and a browser's own
// pages would let a model read what is no page's, or run code in one.
func checkURL(raw string) error {
	scheme, _, ok := strings.Cut(raw, ":")
	switch {
	case !ok || strings.ContainsAny(scheme, "/?#"):
		return invalid("url %.200q must begin with https:// or http://", raw)
	case !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https"):
		return invalid("url %.200q: only http and https addresses are opened, not %s:", raw, describe.Clean(strings.ToLower(scheme), 40))
	}
	u, err := url.Parse(raw)
	if err != nil {
		return invalid("url %.200q is not an address: %v", raw, errorText(err))
	}
	port, err := strconv.ParseUint("0"+u.Port(), 10, 16)
	if u.Hostname() == "" || strings.ContainsAny(raw, " \\") || err != nil || port == 0 && u.Port() != "" {
		return invalid("url %.200q is not an address of a page", raw)
	}
	return nil
}

// errorText is the reason of an error of package url, without the address.
func errorText(err error) string {
	if e, ok := err.(*url.Error); ok {
		return e.Err.Error()
	}
	return err.Error()
}
