package flow

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"strconv"
	"strings"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// maxRead is how many bytes of text of a result, or of arguments, are read.
const maxRead = 256 << 10

// maxNested is how many encodings a text is taken out of, and maxDepth how deep objects and
// arrays are read.
const (
	maxNested = 3
	maxDepth  = 24
)

// reader finds the values in JSON. It is used by one goroutine.
type reader struct {
	seed maphash.Seed
	// sent: what is read is sent, so that a value may stand among other words, and where it
	// stands is of interest.
	sent bool

	left   int      // bytes of text that may still be read
	cut    bool     // there were more
	values []value  // those found
	fields []string // where they were found, if sent: "note", or a JSON pointer if it is deeper

	path   []byte   // of what is read now
	folded []byte   // the letters and digits of the text that is read now
	words  []word   // its words
	digits []byte   // of the number that is read now
	window []uint64 // hashes of the latest passages
	hits   []hit    // room for what Find makes of values
}

// value is the hash of one thing that can be recognised.
type value struct {
	hash  uint64
	field int32 // index in fields
}

// read reads JSON, which must be valid, as what is sent or what was returned.
func (r *reader) read(v json.RawMessage, sent bool) {
	r.sent, r.left, r.cut = sent, maxRead, false
	r.values, r.fields, r.path = r.values[:0], r.fields[:0], r.path[:0]
	r.json(v, maxDepth, maxNested)
}

// json reads a value. Numbers are text, and so are names that look as if they were data.
func (r *reader) json(v json.RawMessage, depth, nested int) {
	if len(v) == 0 {
		return
	}
	if depth == 0 || r.left <= 0 {
		r.cut = true
		return
	}
	r.left-- // what has no text takes time, too
	outer := len(r.path)
	switch v[0] {
	case '{':
		for name, member := range rawjson.Members(v) {
			if name == "data" && !r.sent && isMedia(v) {
				continue
			}
			r.path = append(append(r.path[:outer], '/'), name...)
			if r.sent || strings.ContainsAny(name, "@0123456789") {
				r.leaf(name, nested)
			}
			r.json(member, depth-1, nested)
		}
	case '[':
		i := 0
		for element := range rawjson.Elements(v) {
			r.path = strconv.AppendInt(append(r.path[:outer], '/'), int64(i), 10)
			r.json(element, depth-1, nested)
			i++
		}
	case '"':
		s, _ := rawjson.String(r.clip(v))
		r.leaf(s, nested)
	case 't', 'f', 'n':
	default:
		r.leaf(string(v), nested)
	}
	r.path = r.path[:outer]
}

// clip returns of a string what may still be read.
func (r *reader) clip(v json.RawMessage) json.RawMessage {
	if len(v) <= r.left+2 {
		return v
	}
	r.cut = true
	v = v[:r.left+1]
	if i := bytes.LastIndexByte(v, '\\'); i > len(v)-len(`\u0000`) {
		v = v[:i] // half an escape
	}
	return append(bytes.TrimRight(v[:len(v):len(v)], `\`), '"')
}

// isMedia reports whether a content block of MCP is a picture or a sound.
func isMedia(block json.RawMessage) bool {
	kind := string(rawjson.Get(block, "type"))
	return kind == `"image"` || kind == `"audio"`
}

// leaf reads one string, name or number.
func (r *reader) leaf(s string, nested int) {
	before := len(r.values)
	r.text(s, nested)
	if !r.sent || len(r.values) == before {
		return
	}
	at := strings.TrimPrefix(string(r.path), "/")
	if strings.Contains(at, "/") {
		at = string(r.path)
	}
	for i := before; i < len(r.values); i++ {
		r.values[i].field = int32(len(r.fields))
	}
	r.fields = append(r.fields, at)
}

// text reads a text, and what is encoded in it.
func (r *reader) text(s string, nested int) {
	if len(s) < minDigits {
		return
	}
	if len(s) > r.left {
		s, r.cut = s[:r.left], true
	}
	r.left -= len(s)
	if t := strings.TrimSpace(s); nested > 0 && t != "" && (t[0] == '{' || t[0] == '[') {
		if v := json.RawMessage(t); rawjson.Valid(v, spec.MaxDepth) == nil {
			r.json(v, maxDepth, nested-1)
			return
		}
	}
	r.fold(s)
	r.findWords()
	r.findNumbers(s)
	r.findPassages()
	if nested > 0 {
		for inner := range decoded(s) {
			r.text(inner, nested-1)
		}
	}
}

func (r *reader) add(b []byte) {
	r.values = append(r.values, value{hash: maphash.Bytes(r.seed, b)})
}
