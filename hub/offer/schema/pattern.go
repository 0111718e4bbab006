package schema

import (
	"regexp"
	"regexp/syntax"
	"sync"
)

const (
	maxPattern = 1024 // bytes
	maxProgram = 4096 // instructions, about

	maxPrograms = 16 * maxProgram // of all patterns of a schema
)

// otherInGo matches the escapes that mean something else in Go than in JavaScript.
var otherInGo = regexp.MustCompile(`\\[AaCEQzU]`)

// programOf estimates how many instructions a pattern of a page, written for
// JavaScript, is compiled to; more than maxProgram if it cannot be matched here: Go has
// no lookaround and no backreferences, and the work must be bounded.
func programOf(pattern string) int {
	if len(pattern) > maxPattern || otherInGo.MatchString(pattern) {
		return maxProgram + 1
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return maxProgram + 1
	}
	return instructions(re)
}

func instructions(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, maxProgram+1)
}

// lazyPattern is a pattern that Go can match. Most schemas are only ever checked, so it
// is compiled when a value is matched for the first time: that takes several times as
// long as reading it.
type lazyPattern struct {
	written string // what the page wrote
	compile func() *regexp.Regexp
}

// newPattern returns a pattern whose program is not too large.
func newPattern(written string) *lazyPattern {
	return &lazyPattern{written, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(written) })}
}

func (p *lazyPattern) MatchString(s string) bool { return p.compile().MatchString(s) }
