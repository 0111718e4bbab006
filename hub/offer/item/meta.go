package item

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"tabhub/describe"
	"tabhub/spec"
)

// In `_meta` a server speaks to the host rather than to the model, and hosts obey some
// of it: which page to show beside a tool, how much of a result to keep. So a page may say there
// only what belongs to its site.

// metaPrefix returns a site's prefix of the keys of `_meta`, its host's labels in
// reverse: "com.example.shop" for shop.example.com. It is "" for sites with an unverified origin,
// without https, or without a name of at least two labels.
func metaPrefix(domain spec.Domain) string {
	host, _, _ := strings.Cut(string(domain), ":")
	// Every mark that a domain key may begin with, and an IPv6 address, has a "_".
	if _, err := netip.ParseAddr(host); err == nil || strings.Contains(host, "_") || strings.HasSuffix(host, ".localhost") {
		return ""
	}
	labels := strings.Split(host, ".")
	if len(labels) < 2 || slices.Contains(labels, "") {
		return ""
	}
	slices.Reverse(labels)
	return strings.Join(labels, ".")
}

// isSiteKey reports whether a key of `_meta` belongs to the site with that prefix: it is the prefix,
// or one that continues it, a slash and a name.
func isSiteKey(key, prefix string) bool {
	space, name, ok := strings.Cut(key, "/")
	if !ok || prefix == "" || !isMetaName(space) || !isMetaName(name) || space != prefix && !strings.HasPrefix(space, prefix+".") {
		return false
	}
	for label := range strings.SplitSeq(space, ".") {
		if label == "mcp" || label == "modelcontextprotocol" { // MCP's own
			return false
		}
	}
	return true
}

func isMetaName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_')
	})
}

// metaOf returns the keys of a page's `_meta` that belong to the site of that domain, and `tags`, an
// array of strings, with their texts cleaned; nil if there are none.
func metaOf(domain spec.Domain, v json.RawMessage) json.RawMessage {
	if v[0] != '{' {
		return nil
	}
	prefix := metaPrefix(domain)
	out := edit(v, func(key string, v json.RawMessage) json.RawMessage {
		if key == "tags" && isStrings.is(v) || isSiteKey(key, prefix) {
			return describe.CleanJSON(v)
		}
		return nil
	})
	if string(out) == "{}" && !same(out, v) {
		return nil
	}
	return out
}
