package schema

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// isPattern reports whether a text is for certain a regular expression of JavaScript with the
// flag u, as which JSON Schema has patterns: clients that compile a schema refuse it for one
// that is not. What few patterns have, such as named groups and scripts of
// Unicode, is not taken for certain.
func isPattern(s string) bool {
	p := patternParser{s: s}
	return len(s) <= maxPattern && p.alternatives(0) && p.s == "" && p.reference <= p.groups
}

type patternParser struct {
	s                 string // what is left
	groups, reference int    // how many there are, and the highest that is referred to
}

// take takes a prefix off what is left, if it has it.
func (p *patternParser) take(prefix string) (ok bool) {
	p.s, ok = strings.CutPrefix(p.s, prefix)
	return ok
}

// alternatives reads up to what closes the group, or the end.
func (p *patternParser) alternatives(depth int) bool {
	for p.s != "" && p.s[0] != ')' {
		if p.take("|") || p.take("^") || p.take("$") || p.take(`\b`) || p.take(`\B`) {
			continue
		}
		ok, repeats := p.atom(depth)
		if !ok || repeats && !p.quantifier() {
			return false
		}
	}
	return true
}

// atom reads what may be repeated, or a look around, which may not.
func (p *patternParser) atom(depth int) (ok, repeats bool) {
	switch {
	case p.take("("):
		repeats = !p.take("?=") && !p.take("?!") && !p.take("?<=") && !p.take("?<!")
		if repeats && !p.take("?:") {
			p.groups++
		}
		return depth < 50 && p.alternatives(depth+1) && p.take(")"), repeats
	case p.take("["):
		return p.class(), true
	case p.take(`\`):
		_, ok := p.escape(false)
		return ok, true
	}
	return !strings.ContainsAny(p.s[:1], "*+?{}]") && p.character() >= 0, true
}

// character reads one, and returns -1 if it is none.
func (p *patternParser) character() rune {
	r, n := utf8.DecodeRuneInString(p.s)
	if r == utf8.RuneError && n < 2 {
		return -1
	}
	p.s = p.s[n:]
	return r
}

// quantifier reads how often what is before it may be repeated, if there is such.
func (p *patternParser) quantifier() bool {
	if p.take("{") {
		bounds, rest, ok := strings.Cut(p.s, "}")
		least, most, ranged := strings.Cut(bounds, ",")
		n, err := strconv.ParseUint(least, 10, 31)
		if !ok || err != nil {
			return false
		}
		if ranged && most != "" {
			if m, err := strconv.ParseUint(most, 10, 31); err != nil || m < n {
				return false
			}
		}
		p.s = rest
	} else if !p.take("*") && !p.take("+") && !p.take("?") {
		return true
	}
	p.take("?")
	return true
}

// escape reads what follows a backslash. The character is -1 if it is a class of several.
func (p *patternParser) escape(inClass bool) (r rune, ok bool) {
	if p.s == "" {
		return 0, false
	}
	c := p.s[0]
	digits := map[byte]int{'x': 2, 'u': 4}[c]
	switch {
	case strings.IndexByte("dDsSwW", c) >= 0:
		p.s = p.s[1:]
		return -1, true
	case inClass && (c == '-' || c == 'b'), strings.IndexByte(`^$\.*+?()[]{}|/`, c) >= 0:
		p.s = p.s[1:]
		return rune(c), true
	case c == 'p' || c == 'P':
		end := strings.IndexByte(p.s, '}')
		if end < 3 || p.s[1] != '{' || !slices.Contains(categories, p.s[2:end]) {
			return 0, false
		}
		p.s = p.s[end+1:]
		return -1, true
	case strings.IndexByte("fnrtv", c) >= 0:
		p.s = p.s[1:]
		return '\t' + rune(strings.IndexByte("tnvfr", c)), true // in the order of their codes
	case digits > 0 && len(p.s) > digits:
		n, err := strconv.ParseUint(p.s[1:1+digits], 16, 32)
		if err != nil || n >= 0xd800 && n < 0xe000 {
			return 0, false
		}
		p.s = p.s[1+digits:]
		return rune(n), true
	case !inClass && c >= '1' && c <= '9' && (len(p.s) == 1 || p.s[1] < '0' || p.s[1] > '9'):
		p.s = p.s[1:]
		p.reference = max(p.reference, int(c-'0'))
		return -1, true
	}
	return 0, false
}

// categories are those of Unicode.
var categories = strings.Fields("C Cc Cf Co Cs Cn L Ll Lm Lo Lt Lu Letter M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs")

// class reads a class of characters after its opening bracket.
func (p *patternParser) class() bool {
	p.take("^")
	from := rune(-1) // what a range may begin with
	for ranged := false; p.s != "" && p.s[0] != ']'; {
		if from >= 0 && !ranged && len(p.s) > 1 && p.s[0] == '-' && p.s[1] != ']' {
			p.s, ranged = p.s[1:], true
			continue
		}
		minus := p.s[0] == '-'
		r, ok := rune(0), true
		if p.take(`\`) {
			r, ok = p.escape(true)
		} else {
			r = p.character()
			ok = r >= 0
		}
		switch {
		case !ok:
			return false
		case ranged:
			if r < from {
				return false
			}
			from, ranged = -1, false
		case r < 0 && strings.HasPrefix(p.s, "-") && !strings.HasPrefix(p.s, "-]"):
			return false // a range that begins with a class
		case minus:
			from = -1
			if strings.HasPrefix(p.s, "-") && !strings.HasPrefix(p.s, "-]") {
				return false
			}
		default:
			from = r
		}
	}
	return p.take("]")
}
