package rawjson

import "encoding/json"

// Cursor goes through JSON that is known to be valid, once, from front to back. It stands at a
// value, or where one has ended.
type Cursor struct {
	b []byte
	i int
}

// Over returns a Cursor that stands at the value b.
func Over(b []byte) *Cursor { return &Cursor{b, skipSpace(b, 0)} }

// First returns the first byte of the value where c stands, 0 at the end of all.
func (c *Cursor) First() byte {
	if c.i < len(c.b) {
		return c.b[c.i]
	}
	return 0
}

// Key enters the object where c stands, or goes on in it: c then stands at the value of the next
// member, which must be read or skipped before Key is called again. When there is none, c stands
// after the object.
func (c *Cursor) Key() (key string, ok bool) {
	if !c.next('{', '}') {
		return "", false
	}
	inside, start, ok := skipKey(c.b, c.i)
	if !ok {
		c.i = len(c.b)
		return "", false
	}
	c.i = start
	return unquote(inside), true
}

// Element is Key for an array.
func (c *Cursor) Element() bool { return c.next('[', ']') }

// next goes to what follows in an object or array, past whose end it goes if nothing does.
func (c *Cursor) next(opening, closing byte) bool {
	c.i = skipSpace(c.b, c.i)
	switch first := c.First(); first {
	case opening, ',':
		c.i = skipSpace(c.b, c.i+1)
		if first == ',' || c.First() != closing {
			return c.i < len(c.b)
		}
		c.i++
	case closing:
		c.i++
	default:
		c.i = len(c.b)
	}
	return false
}

// Skip returns the value where c stands, a slice of what c is over, and goes past it.
func (c *Cursor) Skip() json.RawMessage {
	start := c.i
	c.i = skipValue(c.b, start)
	return c.b[start:c.i:c.i]
}
