package storage

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// errDecode says that a stored value is not what its bucket holds.
var errDecode = errors.New("a value does not decode")

// Encode returns the value that c puts under its key. It is nil if c deletes.
func Encode(c Change) []byte {
	e := coder{b: make([]byte, 0, Size(c))}
	switch c := c.(type) {
	case Tab:
		c.code(&e)
	case Name:
		c.code(&e)
	case Number:
		c.code(&e)
	case Browser:
		c.code(&e)
	case Site:
		c.code(&e)
	case Settings:
		c.code(&e)
	case Document:
		c.code(&e)
	default:
		return nil
	}
	return e.b
}

// Decode decodes a value of a bucket and adds it to s. It does not retain value.
func (s *State) Decode(bucket Bucket, value []byte) (err error) {
	switch bucket {
	case BucketTabs:
		s.Tabs, err = decodeInto(s.Tabs, bytes.Clone(value), (*Tab).code)
	case BucketNames:
		s.Names, err = decodeInto(s.Names, value, (*Name).code)
	case BucketNumbers:
		s.Numbers, err = decodeInto(s.Numbers, value, (*Number).code)
	case BucketBrowsers:
		s.Browsers, err = decodeInto(s.Browsers, bytes.Clone(value), (*Browser).code)
	case BucketSites:
		s.Sites, err = decodeInto(s.Sites, value, (*Site).code)
	case BucketSettings:
		s.Settings, err = decodeInto(s.Settings, bytes.Clone(value), (*Settings).code)
	case BucketDocuments:
		s.Documents, err = decodeInto(s.Documents, bytes.Clone(value), (*Document).code)
	default:
		err = errDecode
	}
	if err != nil {
		return fmt.Errorf("%s: %w", bucket, err)
	}
	return nil
}

func decodeInto[T any](values []T, b []byte, code func(*T, *coder)) ([]T, error) {
	var v T
	d := coder{b: b, decode: true}
	code(&v, &d)
	if err := d.end(); err != nil {
		return values, err
	}
	return append(values, v), nil
}

// The methods code name all fields of each type, in the order of their encoding;
// TestEveryFieldIsKept notices one that is missing.

func (t *Tab) code(c *coder) {
	text(c, &t.Domain)
	text(c, &t.Key)
	text(c, &t.Addr.Peer)
	integer(c, &t.Addr.Tab)
	text(c, &t.Origin)
	text(c, &t.URL)
	text(c, &t.Title)
	integer(c, &t.Index)
	text(c, &t.Browser)
	c.time(&t.LastUpdated)
	c.flag(&t.Cached)
	c.flag(&t.Verified)
	c.items(&t.Tools)
	c.items(&t.Resources)
	c.items(&t.Prompts)
}

func (n *Name) code(c *coder) {
	text(c, &n.Public)
	text(c, &n.Kind)
	text(c, &n.Domain)
	integer(c, &n.Tab)
	text(c, &n.Item)
	if n.Pack != "" || c.decode && len(c.b) > 0 { // names of pages end here
		if text(c, &n.Pack); n.Pack == "" {
			c.fail()
		}
	}
}

func (n *Number) code(c *coder) {
	text(c, &n.Domain)
	text(c, &n.Key)
	integer(c, &n.Index)
	c.time(&n.LastSeen)
}

func (b *Browser) code(c *coder) {
	text(c, &b.ID)
	raw(c, &b.SecretHash)
	text(c, &b.Name)
	c.flag(&b.Confirmed)
	c.time(&b.LastSeen)
	text(c, &b.Label)
}

func (s *Site) code(c *coder) {
	text(c, &s.Domain)
	cache := uint64(0) // not set; 1: off, 2: on
	if s.Cache != nil {
		cache = 1
		if *s.Cache {
			cache = 2
		}
	}
	if c.uvarint(&cache); cache > 2 {
		c.fail()
	} else if c.decode && cache != 0 {
		s.Cache = new(cache == 2)
	}
	integer(c, &s.CallTimeout)
	text(c, &s.Check)
}

func (s *Settings) code(c *coder) {
	text(c, &s.Name)
	raw(c, &s.Body)
}

func (d *Document) code(c *coder) {
	text(c, &d.Kind)
	text(c, &d.ID)
	raw(c, &d.Body)
}

// coder appends fields to b or, if decode is set, takes them off its front. The fields
// that it decodes into must be zero, and stay so from the first one on that is not
// there, which end tells. Bytes that it decodes are slices of b.
type coder struct {
	b      []byte
	decode bool
	bad    bool
}

func (c *coder) fail() { c.b, c.bad = nil, true }

// end returns an error unless there was every field and nothing else.
func (c *coder) end() error {
	if c.bad || len(c.b) > 0 {
		return errDecode
	}
	return nil
}

func (c *coder) uvarint(v *uint64) {
	if !c.decode {
		c.b = binary.AppendUvarint(c.b, *v)
		return
	}
	n := 0
	if *v, n = binary.Uvarint(c.b); n <= 0 {
		c.fail()
		return
	}
	c.b = c.b[n:]
}

func integer[T ~int | ~int64](c *coder, v *T) {
	if !c.decode {
		c.b = binary.AppendVarint(c.b, int64(*v))
		return
	}
	i, n := binary.Varint(c.b)
	if n <= 0 {
		c.fail()
		return
	}
	*v, c.b = T(i), c.b[n:]
}

func appendText[T ~string | ~[]byte](dst []byte, s T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// take returns the next length-prefixed bytes.
func (c *coder) take() []byte {
	var n uint64
	if c.uvarint(&n); n > uint64(len(c.b)) {
		c.fail()
		return nil
	}
	s := c.b[:n:n]
	c.b = c.b[n:]
	return s
}

func text[T ~string](c *coder, v *T) {
	if c.decode {
		*v = T(c.take())
	} else {
		c.b = appendText(c.b, *v)
	}
}

// raw codes bytes, of which none are nil.
func raw[T ~[]byte](c *coder, v *T) {
	if !c.decode {
		c.b = appendText(c.b, *v)
	} else if s := c.take(); len(s) > 0 {
		*v = s
	}
}

func (c *coder) flag(v *bool) {
	n := uint64(0)
	if *v {
		n = 1
	}
	if c.uvarint(&n); n > 1 {
		c.fail()
	}
	*v = n == 1
}

func (c *coder) time(t *time.Time) {
	sec, nsec := t.Unix(), uint64(t.Nanosecond())
	integer(c, &sec)
	if c.uvarint(&nsec); nsec >= 1e9 {
		c.fail()
	}
	if c.decode && !c.bad {
		*t = time.Unix(sec, int64(nsec)).UTC()
	}
}

func (c *coder) items(items *[]json.RawMessage) {
	n := uint64(len(*items))
	c.uvarint(&n)
	if c.decode {
		if n > uint64(len(c.b)) { // each takes a byte at least
			c.fail()
		}
		if n == 0 || c.bad {
			return
		}
		*items = make([]json.RawMessage, n)
	}
	for i := range *items {
		raw(c, &(*items)[i])
	}
}
