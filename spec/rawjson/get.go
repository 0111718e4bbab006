package rawjson

import (
	"encoding/json"
	"iter"
)

// Get returns the value at a path of member names, a slice of b without space
// around it, or nil if there is none. b must be known to be valid JSON. Where a
// name is given twice the last one counts.
func Get(b []byte, path ...string) json.RawMessage {
	b = b[skipSpace(b, 0):]
	if len(path) == 0 {
		b = b[:skipValue(b, 0)]
	}
	for _, name := range path {
		b = member(b, name)
	}
	if len(b) == 0 {
		return nil
	}
	return b[:len(b):len(b)]
}

// member returns the last value of that name in the object b, nil if there is none.
func member(b []byte, name string) (found []byte) {
	for key, value := range Members(b) {
		if key == name {
			found = value
		}
	}
	return found
}

// Members yields the members of the object b in order, duplicates included, as
// Object does, but b must be known to be valid JSON. It yields nothing if b is not
// an object.
func Members(b []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		i := skipSpace(b, 0)
		if i >= len(b) || b[i] != '{' {
			return
		}
		for i = skipSpace(b, i+1); i < len(b) && b[i] == '"'; {
			key, start, ok := skipKey(b, i)
			if !ok {
				return
			}
			i = skipValue(b, start)
			if !yield(unquote(key), b[start:i:i]) {
				return
			}
			i = skipComma(b, i)
		}
	}
}

// Elements is Members for an array.
func Elements(b []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		i := skipSpace(b, 0)
		if i >= len(b) || b[i] != '[' {
			return
		}
		for i = skipSpace(b, i+1); i < len(b) && b[i] != ']'; {
			start := i
			if i = skipValue(b, start); i == start || !yield(b[start:i:i]) {
				return
			}
			i = skipComma(b, i)
		}
	}
}

// skipKey returns the inside of the member name at b[i] and the index of the member's
// value; ok is false if there is none.
func skipKey(b []byte, i int) (key []byte, value int, ok bool) {
	end := skipString(b, i+1)
	colon := skipSpace(b, end)
	if end == 0 || colon >= len(b) || b[colon] != ':' {
		return nil, 0, false
	}
	return b[i+1 : end-1], skipSpace(b, colon+1), true
}

func skipComma(b []byte, i int) int {
	if i = skipSpace(b, i); i < len(b) && b[i] == ',' {
		i = skipSpace(b, i+1)
	}
	return i
}

// skipValue returns the index after the value at b[i], which is known to be valid.
func skipValue(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			if i = skipString(b, i+1); i == 0 {
				return len(b)
			}
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			} else if depth < 0 {
				return i
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return len(b)
}

// Compact appends src, which must be known to be valid JSON, to dst without space
// between tokens, so that it has no line breaks.
func Compact(dst, src []byte) []byte {
	run := 0
	for i := 0; i < len(src); {
		switch src[i] {
		case '"':
			if i = skipString(src, i+1); i == 0 {
				i = len(src)
			}
		case ' ', '\n', '\t', '\r':
			dst = append(dst, src[run:i]...)
			i = skipSpace(src, i)
			run = i
		default:
			i++
		}
	}
	return append(dst, src[run:]...)
}
