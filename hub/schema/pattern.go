package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	maxPattern = 1024 // bytes
	maxProgram = 4096 // instructions, about
)

// matchable reports whether a pattern of a page, written for JavaScript, can be
// matched here: Go has no lookaround and no backreferences, and the work must be
// bounded.
func matchable(pattern string) bool {
	if len(pattern) > maxPattern {
		return false
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil && programSize(re) <= maxProgram
}

// programSize estimates how many instructions an expression is compiled to.
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

// compilePattern is the compiler's regular expression engine.
func compilePattern(pattern string) (jsonschema.Regexp, error) {
	if !matchable(pattern) {
		return nil, fmt.Errorf("pattern %.100q cannot be matched", pattern)
	}
	return regexp.Compile(pattern)
}
