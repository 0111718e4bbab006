package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode"
)

const (
	maxPattern = 1024 // bytes
	maxProgram = 4096 // instructions, about

	maxPrograms = 16 * maxProgram // of all patterns of a schema
)

// spaces is what \s stands for in JavaScript, as the inside of a class.
const spaces = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`

// inGo returns a pattern written for JavaScript as Go writes it, as far as both can
// say the same in other words. What means something in Go only becomes an error.
func inGo(pattern string) string {
	if !strings.Contains(pattern, `\`) {
		return pattern
	}
	var b strings.Builder
	class := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		if c != '\\' || i+1 == len(pattern) {
			class = c == '[' || class && c != ']'
			b.WriteByte(c)
			continue
		}
		i++
		switch rest := pattern[i:]; rest[0] {
		case 's':
			if class {
				b.WriteString(spaces)
			} else {
				b.WriteString("[" + spaces + "]")
			}
		case 'S':
			if class {
				b.WriteString(`\S`)
			} else {
				b.WriteString("[^" + spaces + "]")
			}
		case 'u':
			if m := codePoint.FindStringSubmatch(rest); m != nil {
				b.WriteString(`\x{` + m[1] + m[2] + `}`)
				i += len(m[0]) - 1
			} else {
				b.WriteString(`\u`)
			}
		case 'c':
			if len(rest) > 1 && unicode.IsLetter(rune(rest[1])) {
				fmt.Fprintf(&b, `\x%02x`, rest[1]&0x1f)
				i++
			} else {
				b.WriteString(`\c`)
			}
		case 'a', 'A', 'C', 'E', 'Q', 'z':
			b.WriteString(`\u`) // no escapes in JavaScript
		default:
			b.WriteByte('\\')
			b.WriteByte(rest[0])
		}
	}
	return b.String()
}

// codePoint does not match surrogates, which stand for half a character.
var codePoint = regexp.MustCompile(`^u(?:([0-9A-Ca-cE-Fe-f][0-9A-Fa-f]{3}|[Dd][0-7][0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})`)

// programOf estimates how many instructions a pattern of a page, written for
// JavaScript, is compiled to; more than maxProgram if it cannot be matched here: Go has
// no lookaround and no backreferences, and the work must be bounded.
func programOf(pattern string) int {
	if len(pattern) > maxPattern {
		return maxProgram + 1
	}
	re, err := syntax.Parse(inGo(pattern), syntax.Perl)
	if err != nil {
		return maxProgram + 1
	}
	return programSize(re)
}

func programSize(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += programSize(sub)
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
	return &lazyPattern{written, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(inGo(written)) })}
}

func (p *lazyPattern) MatchString(s string) bool { return p.compile().MatchString(s) }
