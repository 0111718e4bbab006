package flow

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// maxRead is how many bytes of text of a result, or of arguments, are read.
const maxRead = 256 << 10

// maxNested is how many encodings within each other are read, and maxDepth how deep objects and
// arrays.
const (
	maxNested = 3
	maxDepth  = 24
)

// reader finds the values in JSON. It is used by one goroutine.
type reader struct {
	sent bool // it reads what a client sends, where a value may stand among other words
	// collects: it adds values with their places; else it calls found for each value that it
	// finds again.
	collects bool
	values   map[string]*value
	found    func(*value)
	passages bool // values has passages

	left int // bytes of text that may still be read

	path   []byte // of the current value
	field  string // the same for people: "note", or a JSON pointer if it is deeper
	part   int    // the number of the current text
	said   string // the current text
	folded []byte // its letters and digits
	at     []int  // where they are in said
	words  []word // its words
	digits []byte // of the current number
}

// read reads valid JSON that a client sends, or that a site has returned.
func (r *reader) read(v json.RawMessage, sent bool) {
	r.sent, r.left, r.path = sent, maxRead, r.path[:0]
	r.json(v, maxDepth, maxNested)
}

// json reads a JSON value. Numbers are text, and so are names that look like data.
func (r *reader) json(v json.RawMessage, depth, nested int) {
	if len(v) == 0 || depth == 0 || r.left <= 0 {
		return
	}
	r.left-- // a value without text takes time, too
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

// clip returns the part of a string that may still be read.
func (r *reader) clip(v json.RawMessage) json.RawMessage {
	if len(v) <= r.left+2 {
		return v
	}
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
	if r.collects && nested == maxNested { // else the text around it has a place already
		r.field = strings.TrimPrefix(string(r.path), "/")
		if strings.Contains(r.field, "/") {
			r.field = string(r.path)
		}
	}
	r.text(s, nested)
}

// text reads a text, and the texts encoded in it.
func (r *reader) text(s string, nested int) {
	if len(s) < minDigits {
		return
	}
	if len(s) > r.left {
		s = s[:r.left]
	}
	r.left -= len(s)
	if t := strings.TrimSpace(s); nested > 0 && t != "" && (t[0] == '{' || t[0] == '[') {
		if v := json.RawMessage(t); rawjson.Valid(v, spec.MaxDepth) == nil {
			r.json(v, maxDepth, nested-1)
			return
		}
	}
	r.part++
	r.said = s
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

// add collects the value that is folded from start to end, or looks for it.
func (r *reader) add(start, end int) {
	b := r.folded[start:end]
	if !r.collects {
		r.look(b)
		return
	}
	last := r.at[end-1]
	_, n := utf8.DecodeRuneInString(r.said[last:])
	r.collect(b, r.at[start], last+n)
}

// look calls found for a value that is in values.
func (r *reader) look(b []byte) {
	if v := r.values[string(b)]; v != nil {
		r.found(v)
	}
}

// collect adds a value that stands in the text from start to end.
func (r *reader) collect(b []byte, start, end int) {
	v := r.values[string(b)]
	if v == nil {
		v = new(value)
		r.values[string(b)] = v
	}
	v.at = append(v.at, span{r.field, r.said, r.part, start, end})
}
