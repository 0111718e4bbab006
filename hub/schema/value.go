package schema

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// typeOf returns the type of a decoded value; a number is a number, whole or not.
func typeOf(v any) typeSet {
	switch v.(type) {
	case nil:
		return typeNull
	case bool:
		return typeBoolean
	case json.Number:
		return typeNumber
	case string:
		return typeString
	case []any:
		return typeArray
	}
	return typeObject
}

// rational returns the exact value of a number.
func rational(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return new(big.Rat) // not reached: it is valid JSON and within limits
	}
	return r
}

// equal reports whether two decoded values are the same for JSON Schema: 1 is 1.0.
func equal(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		return ok && (a == b || rational(a).Cmp(rational(b)) == 0)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	}
	switch b.(type) {
	case []any, map[string]any:
		return false // cannot be compared with ==
	}
	return a == b
}

// duplicates returns the indices of two elements that are equal.
func duplicates(v []any) (i, j int, found bool) {
	seen := make(map[string]int, len(v))
	for j, e := range v {
		key := string(appendCanonical(nil, e))
		if i, found := seen[key]; found {
			return i, j, true
		}
		seen[key] = j
	}
	return 0, 0, false
}

// appendCanonical appends a text that two values share only if they are equal.
func appendCanonical(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, 'n')
	case bool:
		return strconv.AppendBool(dst, v)
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") || v == "-0" {
			v = json.Number(rational(v).RatString())
		}
		return append(dst, v...)
	case string:
		return strconv.AppendQuote(dst, v)
	case []any:
		dst = append(dst, '[')
		for _, e := range v {
			dst = append(appendCanonical(dst, e), ',')
		}
		return append(dst, ']')
	case map[string]any:
		dst = append(dst, '{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			dst = append(strconv.AppendQuote(dst, name), ':')
			dst = append(appendCanonical(dst, v[name]), ',')
		}
		return append(dst, '}')
	}
	return dst
}
