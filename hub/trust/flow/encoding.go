package flow

import (
	"encoding/base64"
	"encoding/hex"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minEncoded is the least length of what is tried as base64 or hex.
const minEncoded = 12

// decoded yields the texts that stand percent-encoded, in base64 or in hex in s.
func decoded(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if t := unescape(s); t != s && !yield(t) {
			return
		}
		for rest := s; len(rest) >= minEncoded; {
			n := 0
			for n < len(rest) && isBase64(rest[n]) {
				n++
			}
			if t := decode(rest[:n]); t != "" {
				if !yield(t) {
					return
				}
			} else if strings.Contains(rest[:n], "/") { // the path of a URL
				for part := range strings.SplitSeq(rest[:n], "/") {
					if t := decode(part); t != "" && !yield(t) {
						return
					}
				}
			}
			rest = rest[min(n+1, len(rest)):]
		}
	}
}

// unescape decodes percent-encoding, and leaves the rest.
func unescape(s string) string {
	i := strings.IndexByte(s, '%')
	if i < 0 {
		return s
	}
	out := append(make([]byte, 0, len(s)), s[:i]...)
	for ; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if b, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				out = append(out, b[0])
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

func isBase64(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '+' || c == '/' || c == '-' || c == '_'
}

// decode returns the text that s stands for in hex or base64, "" if it stands for none. Its end
// may be missing.
func decode(s string) string {
	if len(s) < minEncoded {
		return ""
	}
	if b, err := hex.DecodeString(s[:len(s)&^1]); err == nil && isText(b) {
		return string(b)
	}
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(s, "-_") {
		encoding = base64.RawURLEncoding
	}
	if len(s)%4 == 1 {
		s = s[:len(s)-1]
	}
	if b, err := encoding.DecodeString(s); err == nil && isText(b) {
		return string(b)
	}
	return ""
}

func isText(b []byte) bool {
	for len(b) > 0 {
		c, n := utf8.DecodeRune(b)
		if c == utf8.RuneError && n == 1 || !unicode.IsPrint(c) && !unicode.IsSpace(c) {
			return false
		}
		b = b[n:]
	}
	return true
}
