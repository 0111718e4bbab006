package item

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"

	"tabhub/hub/trust/policy"
	"tabhub/spec/rawjson"
)

// Pin implements policy.Definition: it identifies all that a model or the owner sees
// of the item, and where it is from; of a pack's tool also what a call does. The first call computes it, since most items are never called.
func (it *Item) Pin() policy.Pin {
	if p := it.pin.Load(); p != nil {
		return *p
	}
	place := byte(0)
	if it.Framed() {
		place = 1
	}
	h := sha256.New()
	parts := [][]byte{[]byte(it.Kind), []byte(it.Domain), []byte(it.Origin), {place}, canonical(nil, it.Definition())}
	if it.Pack.Name != "" {
		parts = append(parts, []byte(it.Pack.Name), []byte(it.digest))
	}
	for _, part := range parts {
		h.Write(rawjson.AppendString(nil, string(part)))
	}
	pin := policy.Pin(h.Sum(nil))
	it.pin.Store(&pin)
	return pin
}

// Definition returns the item under the page's own name, with the page's own schemas.
func (it *Item) Definition() json.RawMessage { return it.AppendDefinition(nil, it.Source, "") }

// canonical appends v, valid JSON, with the members of objects in the order of their names
// and without space between tokens: a page may write the same in another order each time.
func canonical(dst []byte, v json.RawMessage) []byte {
	switch v[0] {
	case '{':
		members := maps.Collect(rawjson.Members(v))
		dst = append(dst, '{')
		for i, key := range slices.Sorted(maps.Keys(members)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(rawjson.AppendString(dst, key), ':')
			dst = canonical(dst, members[key])
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		first := true
		for e := range rawjson.Elements(v) {
			if !first {
				dst = append(dst, ',')
			}
			dst, first = canonical(dst, e), false
		}
		return append(dst, ']')
	case '"':
		s, _ := rawjson.String(v)
		return rawjson.AppendString(dst, s)
	}
	return append(dst, v...)
}
