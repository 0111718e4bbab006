package rawjson

import "encoding/json"

// decodeDepth bounds the recursion of Decode. It is what encoding/json takes.
const decodeDepth = 10_000

// Decode checks b as Valid does and returns it as nil, bool, json.Number, string,
// []any or map[string]any, in memory of its own. Where a name is given twice the
// last one counts. Nesting is bounded by 10,000.
func Decode(b []byte) (any, error) {
	d := decoder{b: b}
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	if err := scanEnd(b, d.i); err != nil {
		return nil, err
	}
	return v, nil
}

type decoder struct {
	b []byte
	i int
}

func (d *decoder) fail(what string) error { return &SyntaxError{d.i, what} }

// space skips space and returns the next byte, 0 at the end.
func (d *decoder) space() byte {
	if d.i = skipSpace(d.b, d.i); d.i < len(d.b) {
		return d.b[d.i]
	}
	return 0
}

func (d *decoder) value(depth int) (any, error) {
	c := d.space()
	if depth >= decodeDepth && (c == '{' || c == '[') {
		return nil, d.fail(errDeep)
	}
	switch c {
	case '{':
		return d.object(depth + 1)
	case '[':
		return d.array(depth + 1)
	case '"':
		start := d.i + 1
		end, err := scanString(d.b, start)
		if err != nil {
			return nil, err
		}
		d.i = end
		return owned(d.b[start : end-1]), nil
	}
	if d.i >= len(d.b) {
		return nil, d.fail(errEnd)
	}
	end, err := scanScalar(d.b, d.i)
	if err != nil {
		return nil, err
	}
	text := d.b[d.i:end]
	d.i = end
	switch c {
	case 'n':
		return nil, nil
	case 't', 'f':
		return c == 't', nil
	}
	return json.Number(text), nil
}

func (d *decoder) object(depth int) (any, error) {
	m := map[string]any{}
	d.i++
	if d.space() == '}' {
		d.i++
		return m, nil
	}
	for {
		start := skipSpace(d.b, d.i) + 1
		end, next, err := scanKey(d.b, start-1)
		if err != nil {
			return nil, err
		}
		d.i = next
		v, err := d.value(depth)
		if err != nil {
			return nil, err
		}
		m[owned(d.b[start:end])] = v
		switch d.space() {
		case ',':
			d.i++
		case '}':
			d.i++
			return m, nil
		default:
			return nil, d.fail("expected , or }")
		}
	}
}

func (d *decoder) array(depth int) (any, error) {
	a := []any{}
	d.i++
	if d.space() == ']' {
		d.i++
		return a, nil
	}
	for {
		v, err := d.value(depth)
		if err != nil {
			return nil, err
		}
		a = append(a, v)
		switch d.space() {
		case ',':
			d.i++
		case ']':
			d.i++
			return a, nil
		default:
			return nil, d.fail("expected , or ]")
		}
	}
}
