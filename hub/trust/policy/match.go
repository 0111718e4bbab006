package policy

import (
	"slices"
	"strings"
	"time"
)

// compiled is a Rule as it is matched.
type compiled struct {
	*Rule
	at     int32 // in its table
	rank   rank
	preset bool
	site   sites
	from   sites
	class  Class // ClassUnset: any
	of     of
	wild   bool // Tool is a pattern
}

// of is the set of the Ofs that a rule is about.
type of uint8

const (
	ofPage  of = 1 << OfPage
	ofHub   of = 1 << OfHub
	ofRelay of = 1 << OfRelay
)

// rank is how much a rule says in each of five dimensions; the more, the more specific.
type rank struct{ from, client, site, tool, pack uint16 }

// covers reports whether r says at least as much as b in each dimension.
func (r rank) covers(b rank) bool {
	return r.from >= b.from && r.client >= b.client && r.site >= b.site && r.tool >= b.tool && r.pack >= b.pack
}

// What a rule says of the tool, in rank.tool above the bits for class and late.
const (
	exactTool   = 1 << 13
	changedTool = exactTool - 1 // a rule with the pin of another definition
	pinnedTool  = exactTool + 1

	classBit, lateBit = 2, 1
)

func toolRank(tool int, bits uint16) uint16 { return uint16(tool<<2) | bits }

// compile compiles a rule that has been checked.
func compile(r *Rule) compiled {
	c := compiled{Rule: r, preset: r.By == byPreset, site: parseSites(r.Site), from: parseSites(r.From), wild: isPattern(r)}
	switch r.Class {
	case classHub:
		c.of = ofHub
	case classRelay:
		c.of = ofRelay
	default:
		_ = c.class.UnmarshalText([]byte(r.Class)) // "": any
		c.of = ofPage | ofHub | ofRelay
		switch {
		case c.class == Act:
			c.of = ofHub
		case r.Tool != "" && r.Effect == Allow:
			// Pages name their tools as they like, also as the hub's.
			c.of = ofPage
		}
	}

	c.rank = rank{from: c.from.rank(), site: c.site.rank()}
	switch r.Pack {
	case "":
	case anyPack:
		c.of, c.rank.pack = ofPage, 1
	default:
		c.of, c.rank.pack = ofPage, 2
	}
	if r.Client != "" {
		c.rank.client++
	}
	if r.Session != "" {
		c.rank.client++
	}
	tool, bits := 0, uint16(0)
	switch {
	case r.Tool == "":
	case c.wild:
		tool = min(1+len(strings.ReplaceAll(r.Tool, "*", "")), changedTool-1)
	case c.of == ofHub && !strings.Contains(r.Tool, " "):
		tool = min(1+len(r.Tool), changedTool-1) // each of its actions
	case !r.Pin.isZero():
		tool = pinnedTool
	default:
		tool = exactTool
	}
	if r.Class != "" {
		bits |= classBit
	}
	if r.Late {
		bits |= lateBit
	}
	c.rank.tool = toolRank(tool, bits)
	return c
}

// isPattern reports whether "*" stands for any text in the rule's tool. A rule with a pin has the
// name of one tool.
func isPattern(r *Rule) bool { return r.Pin.isZero() && strings.Contains(r.Tool, "*") }

// changed is the rank of a rule with the pin of another definition.
func (c *compiled) changed() rank {
	r := c.rank
	r.tool = toolRank(changedTool, r.tool&(classBit|lateBit))
	return r
}

// matches reports whether the rule is about an action, apart from its pin and its from.
func (c *compiled) matches(a *Action, now time.Time) bool {
	return c.of&(1<<a.Of) != 0 && // what is cheap and tells most rules apart comes first
		c.isTool(a) && c.isClass(a.class()) && c.isPack(a) &&
		(!c.Late || a.Late) && (c.Session == "" || c.Session == a.Session) &&
		c.isAt(a) && isClient(c.Client, a.Principal) &&
		!c.ended(now)
}

// isClass reports whether the rule is about a class. A rule about flows without a class is not about
// reading: a client that has read a private site may go on reading. Nobody has said what an act may
// change: what the owner has allowed otherwise, maybe before there were acts, does not allow one, and what
// the owner has denied otherwise denies it.
func (c *compiled) isClass(class Class) bool {
	switch {
	case class == Act && !c.preset && c.class != Act:
		return c.Effect != Allow && c.class != Read
	case c.class == ClassUnset:
		return c.From == "" || class != Read
	}
	return c.class == class
}

// isAt reports whether the rule is about the site of an action. A preset has rules of their own for
// actions that may reach any site.
func (c *compiled) isAt(a *Action) bool {
	if a.Site.Any && c.site.kind != anySite {
		return c.Effect != Allow && !c.preset
	}
	return c.site.has(a.Site.Domain, false)
}

// anyPack stands for all packs, as Rule.Pack.
const anyPack = "*"

// isPack reports whether the rule is about what a pack, or the page itself, offers.
func (c *compiled) isPack(a *Action) bool {
	switch {
	case a.Pack == "":
		return c.Pack == ""
	case c.Pack == "":
		return c.Effect != Allow || c.preset || a.class() == Read
	}
	return c.Pack == anyPack || c.Pack == a.Pack
}

func (c *compiled) isTool(a *Action) bool { return c.Tool == "" || isTool(c.Tool, c.wild, a) }

// isTool reports whether a pattern stands for what an action calls. The name of a builtin tool
// stands for each of the tool's actions.
func isTool(pattern string, wild bool, a *Action) bool {
	if wild {
		return Globs(pattern, a.Name)
	}
	return pattern == a.Name || a.Of == OfHub && pattern == hubTool(a.Name)
}

// hubTool returns the builtin tool that "browser_page goto" is an action of.
func hubTool(name string) string {
	tool, _, _ := strings.Cut(name, " ")
	return tool
}

// isClient reports whether a rule's client, if it names one, is a principal. Names of two principals
// differ in more than case, and the hub's IDs are not names.
func isClient(client string, who *Principal) bool {
	if client == "" || client == who.ID {
		return true
	}
	return strings.EqualFold(client, who.Name) && !slices.Contains(reserved, strings.ToLower(client))
}

var reserved = []string{OwnerID, TokenID, UnnamedID}

func (a *Action) class() Class {
	if a.Class == ClassUnset || a.Class == Act && a.Of != OfHub {
		return Destructive
	}
	return a.Class
}

func (p Pin) isZero() bool { return p == Pin{} }

// refuses reports whether an action is beyond a scope.
func (s *Scope) refuses(a *Action) bool {
	return s != nil && (len(s.Sites) > 0 && !s.hasSite(a.Site) || len(s.Tools) > 0 && !s.hasTool(a) || len(s.Classes) > 0 && !s.hasClass(a.class()))
}

// limits reports whether a scope refuses anything within the browsers of its client.
func (s *Scope) limits() bool {
	return s != nil && len(s.Sites)+len(s.Tools)+len(s.Classes) > 0
}

func (s *Scope) hasSite(at Site) bool {
	if at.Any {
		return false
	}
	for _, pattern := range s.Sites {
		if p := parseSites(pattern); p.has(at.Domain, false) {
			return true
		}
	}
	return false
}

func (s *Scope) hasTool(a *Action) bool {
	for _, pattern := range s.Tools {
		if isTool(pattern, strings.Contains(pattern, "*"), a) {
			return true
		}
	}
	return false
}

func (s *Scope) hasClass(class Class) bool {
	for _, c := range s.Classes {
		if class <= c {
			return true
		}
	}
	return false
}

// matches reports whether a pause stops an action.
func (p *Pause) matches(a *Action) bool {
	if !isClient(p.Client, a.Principal) {
		return false
	}
	if p.Site != "" && a.Site.Any {
		return true
	}
	site := parseSites(p.Site)
	return site.has(a.Site.Domain, false)
}
