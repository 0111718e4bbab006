package item

import (
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"tabhub/describe"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// maxInlineIcon bounds the source of an icon that is in the source itself.
const maxInlineIcon = 16 << 10

// inlineIcon matches an icon that is in its source. SVG is not among them: it can carry scripts.
var inlineIcon = regexp.MustCompile(`^data:image/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}$`)

// iconsOf returns those icons that a client may load, nil if there are none, and tells warn what is
// wrong with the others.
func (it *Item) iconsOf(v json.RawMessage, warn func(error)) json.RawMessage {
	if v[0] != '[' {
		warn(errors.New("icons must be an array"))
		return nil
	}
	out := editElements(v, func(icon json.RawMessage) json.RawMessage {
		valid := validMembers("icons[]", icon, iconMembers, warn)
		src, ok := rawjson.String(rawjson.Get(valid, "src"))
		if !ok {
			warn(errors.New("icons[].src is missing"))
		}
		if !ok || describe.HidesInJSON(valid) || !it.mayLoad(src) {
			return nil
		}
		return valid
	})
	for range rawjson.Elements(out) {
		return out
	}
	return nil
}

// mayLoad reports whether a client may load an icon. A client may reach hosts that the page
// cannot: so the icon must be at https, at a
// host with a public name or at the item's; or, if the item's site is on this machine,
// at that site.
func (it *Item) mayLoad(src string) bool {
	if strings.HasPrefix(src, "data:") {
		return len(src) <= maxInlineIcon && inlineIcon.MatchString(src)
	}
	if len(src) > spec.MaxURI || strings.ContainsFunc(src, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
		return false
	}
	u, err := url.Parse(src)
	if err != nil || u.User != nil || u.Hostname() == "" {
		return false
	}
	site, err := url.Parse(it.Origin)
	sameHost := err == nil && it.Verified && strings.EqualFold(site.Hostname(), u.Hostname())
	switch u.Scheme {
	case "https":
		return sameHost || isPublicName(u.Hostname())
	case "http":
		return sameHost && site.Scheme == "http" && site.Host == strings.ToLower(u.Host) && isLoopbackKey(it.Domain)
	}
	return false
}

// isLoopbackKey reports whether a domain key of an http site is one of this machine:
// any other begins with "http_".
func isLoopbackKey(d spec.Domain) bool { return !strings.HasPrefix(string(d), "http_") }

// isPublicName reports whether a host is a name of the public DNS rather than an
// address or a name that each network gives out itself.
func isPublicName(host string) bool {
	labels := strings.Split(strings.ToLower(strings.TrimSuffix(host, ".")), ".")
	top := labels[len(labels)-1]
	return len(labels) > 1 && publicTop.MatchString(top) && !slices.Contains(privateTops, top) && !slices.Contains(labels, "")
}

var (
	publicTop   = regexp.MustCompile(`^[a-z][a-z0-9-]*$`) // no address ends so
	privateTops = []string{"localhost", "local", "internal", "intranet", "private", "corp", "home", "lan", "arpa", "test", "invalid", "onion"}
)
