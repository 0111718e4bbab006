package keyword

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

const (
	maxPattern = 1024 // bytes
	maxProgram = 4096 // instructions, about
)

// Pattern is a regular expression of a page, written for JavaScript, that Go can match.
type Pattern struct {
	Written string // by the page
	Size    int    // of its program in instructions, about
	compile func() *regexp.Regexp
}

// otherInGo matches the escapes that mean something else in Go than in JavaScript.
var otherInGo = regexp.MustCompile(`\\[AaCEQzU]`)

// escaped matches an escape; its group is a character of JavaScript's that Go writes otherwise.
var escaped = regexp.MustCompile(`\\(?:u([0-9a-ce-fA-CE-F][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})|.)`)

// NewPattern returns a pattern, nil if Go cannot match it: Go has no lookaround and no
// backreferences, and the work must be bounded. It is compiled when it is matched for the first
// time, as most schemas are only ever read.
func NewPattern(written string) *Pattern {
	if len(written) > maxPattern || otherInGo.MatchString(written) {
		return nil
	}
	inGo := escaped.ReplaceAllStringFunc(written, func(s string) string {
		if hex, ok := strings.CutPrefix(s, `\u`); ok && hex != "" {
			return `\x{` + hex + "}"
		}
		return s
	})
	re, err := syntax.Parse(inGo, syntax.Perl)
	if err != nil {
		return nil
	}
	size := instructions(re)
	if size > maxProgram {
		return nil
	}
	return &Pattern{written, size, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(inGo) })}
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

// MatchString reports whether a text holds what matches the pattern.
func (p *Pattern) MatchString(s string) bool { return p.compile().MatchString(s) }

// strict matches what JavaScript takes for a regular expression with the flag u, if Go takes it
// for one.
var strict = regexp.MustCompile(func() string {
	const (
		set       = `\\[dDsSwW]|\\[pP]\{(?:C[cfos]?|L[lmotu]?|Letter|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)\}`
		character = `\\[fnrtv^$\\.*+?()\[\]{}|/]|\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}`
		inClass   = `(?:` + character + `|\\-|[^\\\[\]-])`
		class     = `\[\^?-?(?:` + set + `|` + inClass + `(?:-` + inClass + `)?)*-?\]`
		atom      = `[^\\^$*+?()\[\]{}|]|` + character + `|` + set + `|` + class
		repeat    = `(?:(?:[*+?]|\{\d+(?:,\d*)?\})\??)?`
	)
	return `^(?:[|^$]|\\[bB]|\((?:\?:)?|(?:\)|` + atom + `)` + repeat + `)*$`
}())

// InJavaScript reports whether clients that compile a pattern as JavaScript with the flag u, as
// JSON Schema has it, take it for certain.
func (p *Pattern) InJavaScript() bool { return p != nil && strict.MatchString(p.Written) }
