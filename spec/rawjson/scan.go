package rawjson

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// SyntaxError says what is not JSON, and where.
type SyntaxError struct {
	Offset int // in bytes, of what is wrong
	What   string
}

// TooDeep reports whether err says that a value is nested too deeply, which is all
// that is wrong with what precedes Offset.
func TooDeep(err error) bool {
	e, ok := errors.AsType[*SyntaxError](err)
	return ok && e.What == errDeep
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.What)
}

func fail(at int, what string) (int, error) { return 0, &SyntaxError{at, what} }

const (
	errEnd  = "unexpected end"
	errDeep = "nested too deeply"
)

// Valid reports whether b is one JSON text nested no deeper than maxDepth arrays
// and objects: nil if so, else a *SyntaxError.
func Valid(b []byte, maxDepth int) error {
	i, err := scanValue(b, skipSpace(b, 0), maxDepth)
	if err != nil {
		return err
	}
	return scanEnd(b, i)
}

// scanEnd checks that nothing but space follows.
func scanEnd(b []byte, i int) error {
	if i = skipSpace(b, i); i < len(b) {
		return &SyntaxError{i, "unexpected data after the value"}
	}
	return nil
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// scanValue checks the value that begins at b[i] and returns the index after it.
func scanValue(b []byte, i, maxDepth int) (int, error) {
	// One bit for each open container, 1 for an object. Depths of real messages
	// fit the array, deeper ones move to the heap.
	var few [8]uint64
	open, depth := few[:], 0
	var err error

value:
	if i >= len(b) {
		return fail(i, errEnd)
	}
	switch c := b[i]; c {
	case '"':
		i, err = scanString(b, i+1)
	case '{', '[':
		if depth >= maxDepth {
			return fail(i, errDeep)
		}
		if depth == len(open)*64 {
			open = append(open, 0)
		}
		word, bit := depth/64, uint64(1)<<(depth%64)
		depth++
		i = skipSpace(b, i+1)
		if c == '{' {
			open[word] |= bit
			if i < len(b) && b[i] == '}' {
				goto closing
			}
			goto key
		}
		open[word] &^= bit
		if i < len(b) && b[i] == ']' {
			goto closing
		}
		goto value
	default:
		i, err = scanScalar(b, i)
	}
	if err != nil {
		return 0, err
	}

next:
	if depth == 0 {
		return i, nil
	}
	if i = skipSpace(b, i); i >= len(b) {
		return fail(i, errEnd)
	}
	if open[(depth-1)/64]>>((depth-1)%64)&1 != 0 {
		switch b[i] {
		case ',':
			i = skipSpace(b, i+1)
			goto key
		case '}':
			goto closing
		}
		return fail(i, "expected , or }")
	}
	switch b[i] {
	case ',':
		i = skipSpace(b, i+1)
		goto value
	case ']':
		goto closing
	}
	return fail(i, "expected , or ]")

key:
	if _, i, err = scanKey(b, i); err != nil {
		return 0, err
	}
	goto value

closing:
	i++
	depth--
	goto next
}

// scanKey checks the member name at b[i] and its colon. It returns the index of
// the name's closing quote and that of the member's value.
func scanKey(b []byte, i int) (end, value int, err error) {
	if i >= len(b) {
		return 0, 0, &SyntaxError{i, errEnd}
	}
	if b[i] != '"' {
		return 0, 0, &SyntaxError{i, "expected a member name"}
	}
	if i, err = scanString(b, i+1); err != nil {
		return 0, 0, err
	}
	end = i - 1
	if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
		return 0, 0, &SyntaxError{i, "expected :"}
	}
	return end, skipSpace(b, i+1), nil
}

// scanScalar checks the number or literal at b[i], i < len(b).
func scanScalar(b []byte, i int) (int, error) {
	var word string
	switch b[i] {
	case 't':
		word = "true"
	case 'f':
		word = "false"
	case 'n':
		word = "null"
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return scanNumber(b, i)
	default:
		return fail(i, "expected a value")
	}
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return fail(i, "expected "+word)
	}
	return i + len(word), nil
}

func scanNumber(b []byte, i int) (int, error) {
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else {
		n := digits(b, i)
		if n == i {
			return fail(i, "expected a digit")
		}
		i = n
	}
	if i < len(b) && b[i] == '.' {
		n := digits(b, i+1)
		if n == i+1 {
			return fail(n, "expected a digit")
		}
		i = n
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		n := digits(b, i)
		if n == i {
			return fail(n, "expected a digit")
		}
		i = n
	}
	return i, nil
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// special returns a word whose lowest set bit is in the first byte of x (in
// memory order) that is a quote, a backslash, a control character or not ASCII;
// 0 if there is none.
func special(x uint64) uint64 {
	// x^0x02 sends the quote to 0x20 and keeps control characters below it. A
	// borrow reaches only bytes after one that is special itself.
	return (x | (x ^ 0x02*ones - 0x21*ones) | (x ^ '\\'*ones - ones)) & highs
}

// plain returns the index of the first special byte of b at or after i.
func plain(b []byte, i int) int {
	for ; len(b)-i >= 8; i += 8 {
		if m := special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' && b[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// scanString checks the rest of a string after its opening quote.
func scanString(b []byte, i int) (int, error) {
	for {
		if i = plain(b, i); i >= len(b) {
			return fail(i, errEnd)
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, nil
		case c == '\\':
			n := escape(b[i:])
			if n == 0 {
				return fail(i, "invalid escape")
			}
			i += n
		case c < ' ':
			return fail(i, "control character in a string")
		default:
			for i < len(b) && b[i] >= utf8.RuneSelf {
				// Most of CJK without the call.
				if c := b[i]; c > 0xe0 && c < 0xed && len(b)-i > 2 && b[i+1]&0xc0 == 0x80 && b[i+2]&0xc0 == 0x80 {
					i += 3
					continue
				}
				r, n := utf8.DecodeRune(b[i:])
				if r == utf8.RuneError && n == 1 {
					return fail(i, "invalid UTF-8")
				}
				i += n
			}
		}
	}
}

// escape returns the length of the escape sequence that b begins with, 0 if it is
// not one.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b[2:]); ok {
			return 6
		}
	}
	return 0
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case (c|0x20)-'a' <= 5:
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
