package naming

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"iter"
	"regexp"
	"strconv"
	"strings"

	"tabhub/spec"
)

const (
	// DefaultLimit is the longest public name of a ToolNamer whose Limit is 0. LLM
	// APIs refuse longer tool names.
	DefaultLimit = 64
	// MinLimit is the smallest limit: it leaves room for what tells names apart.
	MinLimit = 40
)

// Identity is what a public name stands for.
type Identity struct {
	Kind   spec.Kind
	Domain spec.Domain
	Tab    int    // the tab's number in its domain; 0 for the domain itself
	Item   string // the page's own name, URI or URI template
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

// Name returns the public name of a tool or prompt (MCP-B hub specification,
// section 2): website_tool_<domain>_<tool> for the domain, website_tool_<domain>_
// tab<N>_<tool> for one tab, the same with website_prompt_ for prompts. It consists
// of A-Z, a-z, 0-9, "_" and "-", anything else having become "_", and begins with a
// letter.
//
// A name that is too long, that is taken by another identity, or that has the form
// of a tab's name without being one, is shortened to end in a hash of the identity.
// taken says who holds a public name; nil means that none is held. A name that id
// already holds is returned again. Otherwise the result is free, unless taken claims
// even those with 128 bits of hash for others.
func (n ToolNamer) Name(id Identity, taken func(public string) (Identity, bool)) string {
	if taken == nil {
		taken = func(string) (Identity, bool) { return Identity{}, false }
	}
	free, last := "", ""
	for name := range n.candidates(id) {
		switch holder, held := taken(name); {
		case held && holder == id:
			return name
		case !held && free == "":
			free = name
		}
		last = name
	}
	if free == "" {
		return last
	}
	return free
}

// tabLike matches what would make a domain's name look like a tab's.
var tabLike = regexp.MustCompile(`^tab[0-9]+_`)

// candidates yields the names that id may have, the best first.
func (n ToolNamer) candidates(id Identity) iter.Seq[string] {
	return func(yield func(string) bool) {
		if n.Plain && !yield(id.plain()) {
			return
		}
		limit := n.Limit
		if limit == 0 {
			limit = DefaultLimit
		}
		limit = max(limit, MinLimit)
		prefix, domain, item := "website_"+string(id.Kind)+"_", clean(string(id.Domain)), clean(id.Item)
		between := "_"
		if id.Tab != 0 {
			between = "_tab" + strconv.Itoa(id.Tab) + "_"
		}
		whole := prefix + domain + between + item
		if fits := len(whole) <= limit && (id.Tab != 0 || !tabLike.MatchString(item)); fits && !n.Plain && !yield(whole) {
			return
		}

		hash := id.hash()
		for _, digits := range [...]int{8, 12, 16, 24, 32} {
			suffix := "_" + hash[:digits]
			name := whole[:min(len(whole), limit-len(suffix))]
			if room := limit - len(prefix) - len(between) - len(suffix); room >= 2 {
				// The end of a host says whose it is, the start of a tool's name what
				// it does. Each may use what the other leaves.
				itemLen := min(len(item), max(room/2, room-len(domain)))
				domainLen := min(len(domain), room-itemLen)
				name = prefix + domain[len(domain)-domainLen:] + between + item[:itemLen]
			}
			if !yield(name + suffix) {
				return
			}
		}
	}
}

// plain returns the page's own name, with the tab's number if it is one tab's.
func (id Identity) plain() string {
	if id.Tab == 0 {
		return id.Item
	}
	return "tab" + strconv.Itoa(id.Tab) + "_" + id.Item
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
	for _, s := range [...]string{string(id.Kind), string(id.Domain), strconv.Itoa(id.Tab), id.Item} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
