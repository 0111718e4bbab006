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
	i, err := enter(b, '{', maxDepth)
	if err != nil {
		return err
	}
	if i < len(b) && b[i] == '}' {
		return scanEnd(b, i+1)
	}
	for {
		end, start, err := scanKey(b, i)
		if err != nil {
			return err
		}
		key := unquote(b[i+1 : end])
		if i, err = scanValue(b, start, maxDepth-1); err != nil {
			return err
		}
		if err := f(key, b[start:i:i]); err != nil {
			return err
		}
		switch i = skipSpace(b, i); {
		case i >= len(b):
			return &SyntaxError{i, errEnd}
		case b[i] == '}':
			return scanEnd(b, i+1)
		case b[i] != ',':
			return &SyntaxError{i, "expected , or }"}
		}
		i = skipSpace(b, i+1)
	}
}

// Array is Object for an array.
func Array(b []byte, maxDepth int, f func(value json.RawMessage) error) error {
	i, err := enter(b, '[', maxDepth)
	if err != nil {
		return err
	}
	if i < len(b) && b[i] == ']' {
		return scanEnd(b, i+1)
	}
	for {
		start := i
		if i, err = scanValue(b, start, maxDepth-1); err != nil {
			return err
		}
		if err := f(b[start:i:i]); err != nil {
			return err
		}
		switch i = skipSpace(b, i); {
		case i >= len(b):
			return &SyntaxError{i, errEnd}
		case b[i] == ']':
			return scanEnd(b, i+1)
		case b[i] != ',':
			return &SyntaxError{i, "expected , or ]"}
		}
		i = skipSpace(b, i+1)
	}
}

// enter finds the container that b must be and returns the index of what follows
// its bracket.
func enter(b []byte, bracket byte, maxDepth int) (int, error) {
	i := skipSpace(b, 0)
	switch {
	case i >= len(b):
		return fail(i, errEnd)
	case b[i] != bracket && bracket == '{':
		return fail(i, "expected an object")
	case b[i] != bracket:
		return fail(i, "expected an array")
	case maxDepth < 1:
		return fail(i, errDeep)
	}
	return skipSpace(b, i+1), nil
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
