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

	maxPrograms = 16 * maxProgram // of all patterns of a schema
)

// matchable reports whether a pattern of a page, written for JavaScript, can be
// matched here: Go has no lookaround and no backreferences, and the work must be
// bounded.
func matchable(pattern string) bool {
	return programOf(pattern) <= maxProgram
}

// programOf estimates how many instructions a pattern is compiled to; more than
// maxProgram if it cannot be.
func programOf(pattern string) int {
	if len(pattern) > maxPattern {
		return maxProgram + 1
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
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

// patternEngine returns the compiler's regular expression engine for one schema.
func patternEngine() jsonschema.RegexpEngine {
	left := maxPrograms
	return func(pattern string) (jsonschema.Regexp, error) {
		size := programOf(pattern)
		if left -= size; size > maxProgram || left < 0 {
			return nil, fmt.Errorf("pattern %.100q takes too much work", pattern)
		}
		return regexp.Compile(pattern)
	}
}
