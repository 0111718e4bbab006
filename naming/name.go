package naming

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"iter"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"

	"tabhub/spec"
)

const (
	// DefaultLimit is the longest public name of a ToolNamer whose Limit is 0. LLM
	// APIs refuse tool names of more than 64 bytes, and clients put their name for
	// the server before it: mcp__tabhub__ makes 63.
	DefaultLimit = 50
	// MinLimit is the smallest limit: all marks of a domain and a hash fit.
	MinLimit = 50
)

// Identity is what a public name stands for.
type Identity struct {
	Kind   spec.Kind
	Domain spec.Domain
	Tab    int    // the tab's number in its domain; 0 for the domain itself
	Item   string // the page's own name, URI or URI template
	Pack   string // the pack that the tool is of: lower-case letters, digits and hyphens; "": the page's own
}

// ToolNamer names tools, prompts and resources.
type ToolNamer struct {
	// Limit is the longest public name, in bytes. 0 means DefaultLimit; less than
	// MinLimit counts as MinLimit.
	Limit int
	// Plain gives each item the page's own name, whatever its characters and
	// length, as long as no other identity has it; a tab's begins with "tab<N>_".
	// It is for conformance suites, which look for fixed names.
	Plain bool
}

// Name returns the public name of a tool or prompt (spec/PROTOCOL.md,
// "Registration"): website_tool_<domain>_<tool> for the domain,
// website_tool_<domain>_tab<N>_<tool> for one tab, the same with website_prompt_ for
// prompts, and with pack_<pack>_ for a pack's tools. It consists of A-Z, a-z, 0-9, "_" and "-", anything else having become "_", and begins with a
// letter. The package's documentation says when there are two "_" after the domain,
// and when a name is shortened to end in a hash.
//
// taken says which identity has a public name; nil means that none is taken. The result
// is the first name for id that no other identity has. It is "" if others have them all,
// which takes a collision of hashes of 32 bits and more. An identity that Name would not
// give the name does not count: it may have it from when the public suffix list was another.
func (n ToolNamer) Name(id Identity, taken func(public string) (Identity, bool)) string {
	for name := range n.candidates(id) {
		if taken == nil {
			return name
		}
		if other, has := taken(name); !has || other == id || !n.mayHave(other, name) {
			return name
		}
	}
	return ""
}

// mayHave reports whether name is one of the names of id.
func (n ToolNamer) mayHave(id Identity, name string) bool {
	for candidate := range n.candidates(id) {
		if candidate == name {
			return true
		}
	}
	return false
}

// candidates yields the names that id may have, the best first.
func (n ToolNamer) candidates(id Identity) iter.Seq[string] {
	return func(yield func(string) bool) {
		if n.Plain && !yield(id.plain()) {
			return
		}
		limit := max(cmp.Or(n.Limit, DefaultLimit), MinLimit)
		if name, ok := id.whole(limit); ok && !n.Plain && !yield(name) {
			return
		}
		hash := id.hash()
		for _, digits := range hashDigits {
			if name := id.short(limit, hash[:digits]); len(name) > limit || !yield(name) {
				return
			}
		}
	}
}

// prefix returns what stands before the domain in the name of an item of a pack, or of a page.
func prefix(kind spec.Kind, pack string) string {
	if pack != "" {
		return "pack_" + pack + "_"
	}
	return "website_" + string(kind) + "_"
}

// maxPack is how much a shortened name shows of the pack's name.
const maxPack = 12

// tab returns what stands between the domain and the item in the name of a tab.
func (id Identity) tab() string {
	if id.Tab == 0 {
		return ""
	}
	return "tab" + strconv.Itoa(id.Tab) + "_"
}

// tabLike matches what would make a domain's name look like a tab's.
var tabLike = regexp.MustCompile(`^tab[0-9]+_`)

// whole returns the name of id that is not shortened, or false if it has none: if it
// would have more than limit bytes or look like a tab's name or a shortened one, or if
// the domain cannot be shown.
func (id Identity) whole(limit int) (string, bool) {
	item := clean(id.Item)
	before := prefix(id.Kind, id.Pack)
	least := len(before) + len(id.Domain) + len("_") + len(id.tab()) + len(item)
	if item == "" || least > limit || id.Tab == 0 && tabLike.MatchString(item) {
		return "", false
	}
	s, ok := show(id.Domain)
	if !ok {
		return "", false
	}
	name := before + s.before(id.tab()+item)
	return name, len(name) <= limit && !endsInHash(name)
}

// leastItem is what a shortened name shows of an item at least if it shows the
// domain, where the item has as much.
const leastItem = 4

// short returns a name of at most limit bytes that ends in hash; it is longer only if
// the marks and the hash alone are. It shows as much of the domain as leaves the
// item half of the room: the domain, or it without its first labels, down to the
// registrable domain, which may take all but leastItem. Where that does not fit, or
// cannot be shown, no part of it is.
func (id Identity) short(limit int, hash string) string {
	marks, host, port := SplitKey(id.Domain)
	item := clean(id.Item)
	before := prefix(id.Kind, strings.TrimRight(id.Pack[:min(len(id.Pack), maxPack)], "-"))
	room := limit - len(before) - len("__") - len(id.tab()) - len("_") - len(hash)

	registrable, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		registrable = host // an IP address, localhost, or itself a public suffix
	}
	for more := true; more && len(host) >= len(registrable); _, host, more = strings.Cut(host, ".") {
		s, ok := show(spec.Domain(marks + host + port))
		least := room / 2
		if host == registrable {
			least = leastItem
		}
		if left := room - len(s.text); ok && left >= min(len(item), least) {
			return before + s.before(id.cut(left)+hash)
		}
	}

	name := before + marks + unknownSite
	if left := room - len(marks) - len(unknownSite); left >= 0 {
		return name + "__" + id.cut(left) + hash
	}
	return name + "_" + hash
}

// cut returns what stands between the domain and the hash, with at most n bytes of
// the item and one "_" at the end, or nothing.
func (id Identity) cut(n int) string {
	item := clean(id.Item)
	if s := strings.TrimRight(id.tab()+item[:min(len(item), n)], "_"); s != "" {
		return s + "_"
	}
	return ""
}

// SplitKey returns the parts of a domain key: marks as in "http_", the host without a last
// dot, and ":port" or "".
func SplitKey(d spec.Domain) (marks, host, port string) {
	key := string(d)
	n := marksLen(key)
	if strings.HasPrefix(key[n:], "host_") {
		n += len("host_")
	}
	marks, host = key[:n], key[n:]
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		host, port = host[:i], host[i:]
	}
	return marks, strings.TrimSuffix(host, "."), port
}

// hashDigits are the lengths of the hashes in names, in hex digits.
var hashDigits = [...]int{8, 12, 16, 24, 32}

// endsInHash reports whether a name could be a shortened one.
func endsInHash(name string) bool {
	last := name[strings.LastIndexByte(name, '_')+1:]
	for _, digits := range hashDigits {
		if len(last) == digits {
			return strings.Trim(last, "0123456789abcdef") == ""
		}
	}
	return false
}

// plain returns the page's own name, with the tab's number if it is one tab's, and the pack's name.
func (id Identity) plain() string {
	if id.Pack != "" {
		return prefix(id.Kind, id.Pack) + id.tab() + id.Item
	}
	return id.tab() + id.Item
}

// clean replaces each character that a name may not hold.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, s)
}

// hash returns 32 hex digits of a hash of the identity.
func (id Identity) hash() string {
	var b []byte
	parts := []string{string(id.Kind), string(id.Domain), strconv.Itoa(id.Tab), id.Item}
	if id.Pack != "" {
		parts = append(parts, id.Pack)
	}
	for _, s := range parts {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
