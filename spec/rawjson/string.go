package rawjson

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// String returns the string that raw, a valid JSON string, stands for, in memory
// of its own; ok is false if raw is not a string. Half a surrogate pair becomes
// U+FFFD.
func String(raw []byte) (s string, ok bool) {
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '"' {
		return "", false
	}
	i++
	end := skipString(raw, i) - 1
	if end < i {
		return "", false
	}
	return owned(raw[i:end]), true
}

// owned is unquote in memory of its own.
func owned(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b)
	}
	return unquote(b)
}

// skipString returns the index after the closing quote of the string whose inside
// begins at i, or 0 if there is none.
func skipString(b []byte, i int) int {
	for from := i; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return 0
		}
		i += n
		escaped := false
		for j := i; j > from && b[j-1] == '\\'; j-- {
			escaped = !escaped
		}
		i++
		if !escaped {
			return i
		}
	}
}

// appendUnescaped appends what the inside of a valid JSON string stands for.
func appendUnescaped(dst, b []byte) []byte {
	for {
		n := bytes.IndexByte(b, '\\')
		if n < 0 {
			return append(dst, b...)
		}
		dst = append(dst, b[:n]...)
		b = b[n:]
		size := escape(b)
		if size == 0 {
			return append(dst, b...)
		}
		switch c := b[1]; c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, _ := hex4(b[2:])
			if utf16.IsSurrogate(r) {
				r, size = pair(r, b)
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
		b = b[size:]
	}
}

// pair returns what the surrogate high, with which b begins as an escape, stands
// for together with the one that follows, and the length of what it took.
func pair(high rune, b []byte) (rune, int) {
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if low, ok := hex4(b[8:]); ok {
			if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
				return r, 12
			}
		}
	}
	return utf8.RuneError, 6
}

// WellFormed returns v, valid JSON, with U+FFFD for each half of a surrogate pair in its
// strings and names, which no encoding of Unicode can hold. Without one it is v itself.
func WellFormed(v []byte) []byte {
	from := indexUnicode(v) // most texts have none
	for from > 0 && v[from-1] == '\\' {
		from--
	}
	out := v
	for i := from; i < len(v); {
		n := bytes.IndexByte(v[i:], '\\')
		if n < 0 {
			break
		}
		i += n
		size := escape(v[i:])
		if size == 6 {
			if r, _ := hex4(v[i+2:]); utf16.IsSurrogate(r) {
				if r, size = pair(r, v[i:]); r == utf8.RuneError {
					if &out[0] == &v[0] {
						out = bytes.Clone(v)
					}
					copy(out[i:], `\ufffd`)
				}
			}
		}
		i += max(size, 1)
	}
	return out
}

// indexUnicode returns the index of the first `\u` in b, len(b) if there is none. bytes.Index
// looks at each byte where there are many backslashes.
func indexUnicode(b []byte) int {
	first := bytes.IndexByte(b, '\\')
	if first < 0 {
		return len(b)
	}
	rest := b[first:]
	for ; len(rest) > 32; rest = rest[32:] {
		if (startUnicode(rest)|startUnicode(rest[8:])|startUnicode(rest[16:])|startUnicode(rest[24:]))&highs != 0 {
			break
		}
	}
	if n := bytes.Index(rest, []byte(`\u`)); n >= 0 {
		return len(b) - len(rest) + n
	}
	return len(b)
}

// startUnicode returns a word whose high bits are not all 0 if a `\u` begins in the first eight
// bytes of b.
func startUnicode(b []byte) uint64 {
	x := (binary.LittleEndian.Uint64(b) ^ '\\'*ones) | (binary.LittleEndian.Uint64(b[1:]) ^ 'u'*ones) // a byte of it is 0
	return (x - ones) &^ x
}

const hex = "0123456789abcdef"

// AppendMember appends a member to an object that dst ends with, from its { on and without
// its }. value is valid JSON.
func AppendMember(dst []byte, key string, value []byte) []byte {
	return append(AppendKey(dst, key), value...)
}

// AppendStringMember is AppendMember for a member that is the string s.
func AppendStringMember(dst []byte, key, s string) []byte {
	return AppendString(AppendKey(dst, key), s)
}

// AppendKey is AppendMember without the value, which is to be appended next.
func AppendKey(dst []byte, key string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(AppendString(dst, key), ':')
}

// AppendString appends s as a JSON string. Invalid UTF-8 becomes U+FFFD. U+2028
// and U+2029 are escaped: some readers of lines take them for line ends.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for len(s) > 0 {
		n := plainString(s)
		dst = append(dst, s[:n]...)
		if s = s[n:]; s == "" {
			break
		}
		c := s[0]
		if c < utf8.RuneSelf {
			dst = appendEscape(dst, c)
			s = s[1:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError:
			dst = append(dst, "\ufffd"...)
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, `\u202`...)
			dst = append(dst, hex[r&15])
		default:
			dst = append(dst, s[:size]...)
		}
		s = s[size:]
	}
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// plainString is plain for a string.
func plainString(s string) int {
	return plain(unsafe.Slice(unsafe.StringData(s), len(s)), 0)
}
