package describe

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"tabhub/spec/rawjson"
)

// HidesInJSON reports whether a string of v, which should be valid JSON, holds a
// hidden character other than a line feed or a tab, be it written out or escaped. It
// is one pass over the bytes, and a fast one where they are ASCII.
func HidesInJSON(v []byte) bool {
	for i := 0; ; {
		if i = unusual(v, i); i >= len(v) {
			return false
		}
		switch v[i] {
		case '\\':
			r, size := escaped(v[i:])
			if Hidden(r) && r != '\n' && r != '\t' {
				return true
			}
			i += size
		default:
			r, size := utf8.DecodeRune(v[i:])
			if Hidden(r) {
				return true
			}
			i += size
		}
	}
}

// unusual returns the index of the first byte of v at or after i that is a backslash,
// the delete character or not ASCII; len(v) if there is none.
func unusual(v []byte, i int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	for ; len(v)-i >= 8; i += 8 {
		x := binary.LittleEndian.Uint64(v[i:])
		slash := x ^ '\\'*ones // a byte of it is zero where x has a backslash
		if (x|(x+ones)|(slash-ones)&^slash)&highs != 0 {
			break
		}
	}
	for i < len(v) && v[i] != '\\' && v[i] < 0x7f {
		i++
	}
	return i
}

// escaped returns the character that an escape sequence at the start of v stands
// for, and its length; of a sequence that is none, something harmless.
func escaped(v []byte) (r rune, size int) {
	if len(v) < 2 {
		return ' ', 1
	}
	switch v[1] {
	case 'b', 'f', 'r':
		return '\r', 2
	case 'u':
		r = codeUnit(v)
		if utf16.IsSurrogate(r) && len(v) > 6 {
			if pair := utf16.DecodeRune(r, codeUnit(v[6:])); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return r, min(6, len(v))
	}
	return ' ', 2
}

// codeUnit returns what the escape \uXXXX at the start of v stands for.
func codeUnit(v []byte) rune {
	if len(v) < 6 || v[0] != '\\' || v[1] != 'u' {
		return utf8.RuneError
	}
	u, err := strconv.ParseUint(string(v[2:6]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(u)
}

// CleanJSON returns v, which must be valid JSON, with all strings and names in it
// cleaned as by CleanLines, at any length. What has nothing to clean is returned as
// it is.
func CleanJSON(v json.RawMessage) json.RawMessage {
	if !HidesInJSON(v) {
		return v
	}
	return appendClean(make([]byte, 0, len(v)), v)
}

func appendClean(out, v []byte) []byte {
	first := true
	next := func() {
		if !first {
			out = append(out, ',')
		}
		first = false
	}
	switch v[0] {
	case '"':
		if HidesInJSON(v) {
			s, _ := rawjson.String(v)
			return rawjson.AppendString(out, CleanLines(s, math.MaxInt))
		}
	case '[':
		out = append(out, '[')
		for e := range rawjson.Elements(v) {
			next()
			out = appendClean(out, e)
		}
		return append(out, ']')
	case '{':
		out = append(out, '{')
		for key, e := range rawjson.Members(v) {
			next()
			out = rawjson.AppendString(out, CleanLines(key, math.MaxInt))
			out = appendClean(append(out, ':'), e)
		}
		return append(out, '}')
	}
	return append(out, v...)
}

// VisibleJSON returns valid JSON that means the same as v, with the characters that
// Visible shows as escapes escaped.
func VisibleJSON(v []byte) []byte {
	if !hidesRaw(string(v)) {
		return v
	}
	var out bytes.Buffer
	out.Grow(len(v) + 64)
	for _, r := range string(v) {
		switch {
		case r == '\r': // between tokens: a string cannot hold it
			out.WriteByte(' ')
		case !steers(r):
			out.WriteRune(r)
		case r <= 0xffff:
			appendUnit(&out, r)
		default:
			high, low := utf16.EncodeRune(r)
			appendUnit(&out, high)
			appendUnit(&out, low)
		}
	}
	return out.Bytes()
}

func appendUnit(out *bytes.Buffer, u rune) {
	const hex = "0123456789abcdef"
	out.Write([]byte{'\\', 'u', hex[u>>12&15], hex[u>>8&15], hex[u>>4&15], hex[u&15]})
}
