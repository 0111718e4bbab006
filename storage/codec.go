package storage

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tabhub/spec"
)

// errDecode says that a stored value is not what its bucket holds.
var errDecode = errors.New("a value does not decode")

// Encode returns the value that c puts under its key, or the encoding of a Record,
// which may be concatenated with others to a block of the log. It is nil if c deletes.
func Encode(c Change) []byte {
	switch c := c.(type) {
	case Tab:
		return appendTab(make([]byte, 0, Size(c)), &c)
	case Name:
		return appendName(make([]byte, 0, Size(c)), &c)
	case Number:
		return appendNumber(make([]byte, 0, Size(c)), &c)
	case Browser:
		return appendBrowser(make([]byte, 0, Size(c)), &c)
	case Site:
		return appendSite(make([]byte, 0, Size(c)), &c)
	case Record:
		return appendRecord(make([]byte, 0, Size(c)), &c)
	}
	return nil
}

// Decode decodes a value of a bucket and adds it to s. It does not keep value.
func (s *State) Decode(bucket Bucket, value []byte) (err error) {
	switch bucket {
	case BucketTabs:
		s.Tabs, err = decodeInto(s.Tabs, value, decodeTab)
	case BucketNames:
		s.Names, err = decodeInto(s.Names, value, decodeName)
	case BucketNumbers:
		s.Numbers, err = decodeInto(s.Numbers, value, decodeNumber)
	case BucketBrowsers:
		s.Browsers, err = decodeInto(s.Browsers, value, decodeBrowser)
	case BucketSites:
		s.Sites, err = decodeInto(s.Sites, value, decodeSite)
	default:
		err = errDecode
	}
	if err != nil {
		return fmt.Errorf("%s: %w", bucket, err)
	}
	return nil
}

func decodeInto[T any](values []T, b []byte, decode func([]byte) (T, error)) ([]T, error) {
	v, err := decode(b)
	if err != nil {
		return values, err
	}
	return append(values, v), nil
}

// DecodeRecords decodes a block of the log.
func DecodeRecords(block []byte) ([]Record, error) {
	d := decoder{b: block}
	var rs []Record
	for len(d.b) > 0 {
		rs = append(rs, Record{
			Time:     d.time(),
			Event:    Event(d.text()),
			Client:   d.text(),
			Tab:      d.text(),
			Domain:   spec.Domain(d.text()),
			Tool:     d.text(),
			Digest:   d.text(),
			Outcome:  d.text(),
			Reason:   d.text(),
			Duration: time.Duration(d.varint()),
		})
	}
	return rs, d.end()
}

// The encoding of each type names all its fields; TestEveryFieldIsKept notices one
// that is missing.

func appendText[T ~string | ~[]byte](dst []byte, s T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendTime(dst []byte, t time.Time) []byte {
	return binary.AppendUvarint(binary.AppendVarint(dst, t.Unix()), uint64(t.Nanosecond()))
}

func appendItems(dst []byte, items []json.RawMessage) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(items)))
	for _, it := range items {
		dst = appendText(dst, it)
	}
	return dst
}

func appendTab(dst []byte, t *Tab) []byte {
	dst = appendText(dst, t.Domain)
	dst = appendText(dst, t.Key)
	dst = appendText(dst, t.Addr.Peer)
	dst = binary.AppendVarint(dst, t.Addr.Tab)
	dst = appendText(dst, t.Origin)
	dst = appendText(dst, t.URL)
	dst = appendText(dst, t.Title)
	dst = binary.AppendVarint(dst, int64(t.Index))
	dst = appendText(dst, t.Browser)
	dst = appendTime(dst, t.LastUpdated)
	dst = binary.AppendUvarint(dst, flag(t.Cached))
	dst = binary.AppendUvarint(dst, flag(t.Verified))
	dst = appendItems(dst, t.Tools)
	dst = appendItems(dst, t.Resources)
	return appendItems(dst, t.Prompts)
}

func decodeTab(b []byte) (t Tab, err error) {
	d := decoder{b: bytes.Clone(b)} // which its items are slices of
	t.Domain = spec.Domain(d.text())
	t.Key = d.text()
	t.Addr.Peer = spec.PeerID(d.text())
	t.Addr.Tab = d.varint()
	t.Origin = d.text()
	t.URL = d.text()
	t.Title = d.text()
	t.Index = int(d.varint())
	t.Browser = spec.BrowserID(d.text())
	t.LastUpdated = d.time()
	t.Cached = d.flag()
	t.Verified = d.flag()
	t.Tools = d.items()
	t.Resources = d.items()
	t.Prompts = d.items()
	return t, d.end()
}

func appendName(dst []byte, n *Name) []byte {
	dst = appendText(dst, n.Public)
	dst = appendText(dst, n.Kind)
	dst = appendText(dst, n.Domain)
	dst = binary.AppendVarint(dst, int64(n.Tab))
	return appendText(dst, n.Item)
}

func decodeName(b []byte) (n Name, err error) {
	d := decoder{b: b}
	n.Public = d.text()
	n.Kind = spec.Kind(d.text())
	n.Domain = spec.Domain(d.text())
	n.Tab = int(d.varint())
	n.Item = d.text()
	return n, d.end()
}

func appendNumber(dst []byte, n *Number) []byte {
	dst = appendText(dst, n.Domain)
	dst = appendText(dst, n.Key)
	dst = binary.AppendVarint(dst, int64(n.Index))
	return appendTime(dst, n.LastSeen)
}

func decodeNumber(b []byte) (n Number, err error) {
	d := decoder{b: b}
	n.Domain = spec.Domain(d.text())
	n.Key = d.text()
	n.Index = int(d.varint())
	n.LastSeen = d.time()
	return n, d.end()
}

func appendBrowser(dst []byte, b *Browser) []byte {
	dst = appendText(dst, b.ID)
	dst = appendText(dst, b.SecretHash)
	dst = appendText(dst, b.Name)
	dst = binary.AppendUvarint(dst, flag(b.Confirmed))
	return appendTime(dst, b.LastSeen)
}

func decodeBrowser(b []byte) (br Browser, err error) {
	d := decoder{b: b}
	br.ID = spec.BrowserID(d.text())
	br.SecretHash = d.bytes()
	br.Name = d.text()
	br.Confirmed = d.flag()
	br.LastSeen = d.time()
	return br, d.end()
}

func appendSite(dst []byte, s *Site) []byte {
	dst = appendText(dst, s.Domain)
	cache := uint64(0) // not set
	if s.Cache != nil {
		cache = 1 + flag(*s.Cache)
	}
	dst = binary.AppendUvarint(dst, cache)
	return binary.AppendVarint(dst, int64(s.CallTimeout))
}

func decodeSite(b []byte) (s Site, err error) {
	d := decoder{b: b}
	s.Domain = spec.Domain(d.text())
	switch d.uvarint() {
	case 0:
	case 1:
		s.Cache = new(false)
	case 2:
		s.Cache = new(true)
	default:
		d.fail()
	}
	s.CallTimeout = time.Duration(d.varint())
	return s, d.end()
}

func appendRecord(dst []byte, r *Record) []byte {
	dst = appendTime(dst, r.Time)
	dst = appendText(dst, r.Event)
	dst = appendText(dst, r.Client)
	dst = appendText(dst, r.Tab)
	dst = appendText(dst, r.Domain)
	dst = appendText(dst, r.Tool)
	dst = appendText(dst, r.Digest)
	dst = appendText(dst, r.Outcome)
	dst = appendText(dst, r.Reason)
	return binary.AppendVarint(dst, int64(r.Duration))
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// decoder takes fields off the front of b. After the first field that is not there
// it returns zero values; end tells. What take and items return are slices of b.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) fail() { d.b, d.bad = nil, true }

func (d *decoder) end() error {
	if d.bad || len(d.b) > 0 {
		return errDecode
	}
	return nil
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

// take returns the next length-prefixed bytes.
func (d *decoder) take() []byte {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.fail()
		return nil
	}
	s := d.b[:n:n]
	d.b = d.b[n:]
	return s
}

func (d *decoder) text() string { return string(d.take()) }

func (d *decoder) bytes() []byte {
	if s := d.take(); len(s) > 0 {
		return bytes.Clone(s)
	}
	return nil
}

func (d *decoder) flag() bool {
	v := d.uvarint()
	if v > 1 {
		d.fail()
	}
	return v == 1
}

func (d *decoder) time() time.Time {
	sec, nsec := d.varint(), d.uvarint()
	if nsec >= 1e9 {
		d.fail()
	}
	if d.bad {
		return time.Time{}
	}
	return time.Unix(sec, int64(nsec)).UTC()
}

func (d *decoder) items() []json.RawMessage {
	n := d.uvarint()
	if n > uint64(len(d.b)) { // each takes a byte at least
		d.fail()
	}
	if n == 0 || d.bad {
		return nil
	}
	items := make([]json.RawMessage, n)
	for i := range items {
		items[i] = d.take()
	}
	return items
}
