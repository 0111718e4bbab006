package rawjson

import (
	"bytes"
	"encoding/json"
	"unsafe"
)

// Object checks all of b as Valid does and calls f for each member of the object
// that it is, in order, duplicates included. What is wrong further on in b is
// found only after the calls for what precedes it.
//
// key is unescaped; it and value, which has no space around it, share memory with
// b. Anything but an object is an error; an error of f ends the scan and is
// returned.
func Object(b []byte, maxDepth int, f func(key string, value json.RawMessage) error) error {
	return each(b, '{', maxDepth, f)
}

// Array is Object for an array.
func Array(b []byte, maxDepth int, f func(value json.RawMessage) error) error {
	return each(b, '[', maxDepth, func(_ string, value json.RawMessage) error { return f(value) })
}

// each is Object, or with another opening bracket Array, whose elements have no keys.
func each(b []byte, opening byte, maxDepth int, f func(key string, value json.RawMessage) error) error {
	closing, what := byte('}'), "an object"
	if opening == '[' {
		closing, what = ']', "an array"
	}
	i := skipSpace(b, 0)
	switch {
	case i >= len(b):
		return &SyntaxError{i, errEnd}
	case b[i] != opening:
		return &SyntaxError{i, "expected " + what}
	case maxDepth < 1:
		return &SyntaxError{i, errDeep}
	}
	if i = skipSpace(b, i+1); i < len(b) && b[i] == closing {
		return scanEnd(b, i+1)
	}
	for {
		key, start := "", i
		if opening == '{' {
			end, value, err := scanKey(b, i)
			if err != nil {
				return err
			}
			key, start = unquote(b[i+1:end]), value
		}
		var err error
		if i, err = scanValue(b, start, maxDepth-1); err != nil {
			return err
		}
		if err := f(key, b[start:i:i]); err != nil {
			return err
		}
		switch i = skipSpace(b, i); {
		case i >= len(b):
			return &SyntaxError{i, errEnd}
		case b[i] == closing:
			return scanEnd(b, i+1)
		case b[i] != ',':
			return &SyntaxError{i, "expected , or " + string(closing)}
		}
		i = skipSpace(b, i+1)
	}
}

// unquote returns the string that the inside of a valid JSON string stands for. It
// shares memory with b if nothing is escaped.
func unquote(b []byte) string {
	if bytes.IndexByte(b, '\\') >= 0 {
		// What is escaped is never shorter than what it stands for.
		b = appendUnescaped(make([]byte, 0, len(b)), b)
	}
	return shared(b)
}

// shared returns b as a string that shares its memory.
func shared(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
