package rawjson

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Portable reports whether CheckPortable finds nothing.
func Portable(v []byte) bool { return CheckPortable(v) == nil }

// CheckPortable refuses what is valid JSON but more than many programs can read: a
// number out of the range of a float64, and half of a surrogate pair.
func CheckPortable(v []byte) error {
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '"':
			end, err := checkString(v, i+1)
			if err != nil {
				return err
			}
			i = end
		case c == '-' || c >= '0' && c <= '9':
			end := i + 1
			for end < len(v) && strings.IndexByte("+-.eE0123456789", v[end]) >= 0 {
				end++
			}
			if _, err := strconv.ParseFloat(string(v[i:end]), 64); err != nil {
				return fmt.Errorf("the number %.40s is out of range", v[i:end])
			}
			i = end - 1
		}
	}
	return nil
}

// checkString returns the index of the quote that ends the string whose inside
// begins at v[i].
func checkString(v []byte, i int) (int, error) {
	for v[i] != '"' {
		switch {
		case v[i] != '\\':
			i++
		case v[i+1] != 'u':
			i += 2
		default:
			r := codeUnit(v[i:])
			i += 6
			if !utf16.IsSurrogate(r) {
				continue
			}
			if v[i] != '\\' || v[i+1] != 'u' || utf16.DecodeRune(r, codeUnit(v[i:])) == unicode.ReplacementChar {
				return 0, errors.New("a string holds half of a surrogate pair")
			}
			i += 6
		}
	}
	return i, nil
}

// codeUnit returns what the escape \uXXXX at the start of v stands for.
func codeUnit(v []byte) rune {
	u, _ := strconv.ParseUint(string(v[2:6]), 16, 16)
	return rune(u)
}
