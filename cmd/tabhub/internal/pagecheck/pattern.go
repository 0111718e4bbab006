package pagecheck

import (
	"regexp/syntax"
	"strings"
	"unicode"
)

// shortest returns a text with as little as a pattern asks for, as far as that is simple. The
// pattern is valid.
func shortest(pattern string) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	var b strings.Builder
	write(&b, re)
	return b.String()
}

const maxText = 10_000 // bytes of a text

func write(b *strings.Builder, re *syntax.Regexp) {
	if b.Len() > maxText {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(choose(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
	case syntax.OpCapture, syntax.OpPlus:
		write(b, re.Sub[0])
	case syntax.OpRepeat:
		for range re.Min {
			write(b, re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			write(b, sub)
		}
	case syntax.OpAlternate:
		write(b, re.Sub[0])
	}
}

// choose returns a character of a class, a letter or digit if there is one. The class is of
// pairs: the first and the last of a range.
func choose(class []rune) rune {
	for _, usual := range "a1A" {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= usual && usual <= class[i+1] {
				return usual
			}
		}
	}
	for i := 0; i+1 < len(class); i += 2 {
		if r := max(class[i], '!'); r <= class[i+1] && unicode.IsPrint(r) {
			return r
		}
	}
	if len(class) > 0 {
		return class[0]
	}
	return 'a'
}
