package rawjson

import "encoding/json"

// decodeDepth bounds the recursion of Decode. It is what encoding/json takes.
const decodeDepth = 10_000

// Decode checks b as Valid does and returns it as nil, bool, json.Number, string,
// []any or map[string]any, in memory of its own. Where a name is given twice the
// last one counts. Nesting is bounded by 10,000.
func Decode(b []byte) (any, error) {
	if err := Valid(b, decodeDepth); err != nil {
		return nil, err
	}
	v, _ := decode(b, skipSpace(b, 0))
	return v, nil
}

// decode returns the value at b[i], which is known to be valid, and the index after it.
func decode(b []byte, i int) (any, int) {
	switch b[i] {
	case '{':
		m := map[string]any{}
		for i = skipSpace(b, i+1); b[i] != '}'; i = skipComma(b, i) {
			key, start, _ := skipKey(b, i)
			m[owned(key)], i = decode(b, start)
		}
		return m, i + 1
	case '[':
		a := []any{}
		for i = skipSpace(b, i+1); b[i] != ']'; i = skipComma(b, i) {
			var v any
			v, i = decode(b, i)
			a = append(a, v)
		}
		return a, i + 1
	}
	end := skipValue(b, i)
	switch text := b[i:end]; text[0] {
	case '"':
		return owned(text[1 : len(text)-1]), end
	case 'n':
		return nil, end
	case 't', 'f':
		return text[0] == 't', end
	default:
		return json.Number(text), end
	}
}
