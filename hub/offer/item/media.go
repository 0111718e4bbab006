package item

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"tabhub/spec/rawjson"
)

// Model APIs take four types of images. They refuse the whole request, now and in each later turn,
// for an image of another type, one that is empty, and one with bytes of another type than it
// says. To some (Gemini) a blob is an image, too. So SVG goes as text, and a text stands for all
// other types, with the bytes in `_meta` for programs.

const svg = "image/svg+xml"

// magic are the first bytes of these types and of audio.
var magic = []struct{ mimeType, at0, at8 string }{
	{"image/png", "\x89PNG\r\n\x1a\n", ""},
	{"image/jpeg", "\xff\xd8\xff", ""},
	{"image/gif", "GIF87a", ""},
	{"image/gif", "GIF89a", ""},
	{"image/webp", "RIFF", "WEBP"},
	{"audio/wav", "RIFF", "WAVE"},
	{"audio/mpeg", "ID3", ""},
	{"audio/mpeg", "\xff\xfb", ""},
	{"audio/ogg", "OggS", ""},
	{"audio/flac", "fLaC", ""},
}

// sniffed is how many bytes of a file show its type.
const sniffed = 512

// typeOf returns the type of a file by its first bytes, "" if it is none of magic and no SVG.
func typeOf(head []byte) string {
	for _, m := range magic {
		if bytes.HasPrefix(head, []byte(m.at0)) && (m.at8 == "" || len(head) > 8 && bytes.HasPrefix(head[8:], []byte(m.at8))) {
			return m.mimeType
		}
	}
	if start := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n"); bytes.HasPrefix(start, []byte("<")) && bytes.Contains(start, []byte("<svg")) {
		return svg
	}
	return ""
}

// file is the file that a string of base64 stands for.
type file struct {
	data     json.RawMessage // base64, as a JSON string
	size     int             // in bytes
	said     string          // the type that its data: URL says
	mimeType string          // by typeOf
}

// fileOf reads a member that is to hold base64. It does not copy valid data, and decodes only its
// first bytes. ok is false if it cannot read it.
func fileOf(v json.RawMessage) (f file, ok bool) {
	if v == nil || v[0] != '"' {
		return f, false
	}
	inside := v[1 : len(v)-1]
	if isBase64(inside) {
		f.data, f.size = v, base64.StdEncoding.DecodedLen(len(inside))-(len(inside)-len(bytes.TrimRight(inside, "=")))
		head := make([]byte, sniffed)
		n, _ := base64.StdEncoding.Decode(head, inside[:min(len(inside), sniffed/3*4)])
		f.mimeType = typeOf(head[:n])
		return f, true
	}
	s, _ := rawjson.String(v)
	b, said, ok := decodeFile(s)
	if !ok {
		return f, false
	}
	return file{rawjson.AppendString(nil, base64.StdEncoding.EncodeToString(b)), len(b), said, typeOf(b[:min(len(b), sniffed)])}, true
}

// decodeFile decodes a data: URL, or base64 as it may be written: with white space, without its
// padding, in the alphabet for URLs.
func decodeFile(s string) (b []byte, said string, ok bool) {
	s = strings.TrimSpace(s)
	if len(s) > 5 && strings.EqualFold(s[:5], "data:") {
		head, data, found := strings.Cut(s[5:], ",")
		if !found {
			return nil, "", false
		}
		mimeType, params, _ := strings.Cut(head, ";")
		if said = strings.TrimSpace(mimeType); !strings.HasSuffix(strings.ToLower(params), "base64") {
			plain, err := url.PathUnescape(data)
			return []byte(plain), said, err == nil
		}
		if s, _ = url.PathUnescape(data); s == "" {
			s = data
		}
	}
	lines := strings.Fields(s)
	for _, line := range lines[:max(len(lines)-1, 0)] {
		if len(line)%4 != 0 {
			return nil, "", false // words
		}
	}
	s = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(strings.Join(lines, ""), "="))
	b, err := base64.RawStdEncoding.DecodeString(s)
	return b, said, err == nil
}

// isBase64 reports whether b is base64 that all readers take: with padding and nothing else.
func isBase64(b []byte) bool {
	if len(b)%4 != 0 {
		return false
	}
	for n := 0; n < 2 && len(b) > 0 && b[len(b)-1] == '='; n++ {
		b = b[:len(b)-1]
	}
	for ; len(b) >= 8; b = b[8:] {
		if !areBase64(binary.LittleEndian.Uint64(b)) {
			return false
		}
	}
	last := [8]byte{'A', 'A', 'A', 'A', 'A', 'A', 'A', 'A'}
	copy(last[:], b)
	return areBase64(binary.LittleEndian.Uint64(last[:]))
}

// areBase64 reports whether eight bytes are of base64's alphabet.
func areBase64(x uint64) bool {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	// The high bit of a byte of (x+0x80-a)&^(x+0x7f-b) says that the byte is from a to b, if all
	// bytes of x are ASCII.
	lower := x | 0x20*ones
	letters := (lower + (0x80-'a')*ones) &^ (lower + (0x7f-'z')*ones)
	digits := (x + (0x80-'/')*ones) &^ (x + (0x7f-'9')*ones) // and the slash before them
	plus := (x + (0x80-'+')*ones) &^ (x + (0x7f-'+')*ones)
	return x&highs == 0 && (letters|digits|plus)&highs == highs
}

// media returns what stands for a block of the type image or audio with these members.
func (m *mender) media(v json.RawMessage, kind string, data, mimeType json.RawMessage) json.RawMessage {
	if data == nil { // as model APIs write it
		data, mimeType = rawjson.Get(v, "source", "data"), rawjson.Get(v, "source", "media_type")
	}
	if data == nil || data[0] != '"' {
		return m.says(v, kind)
	}
	said := ""
	if mimeType != nil {
		said, _ = rawjson.String(mimeType)
	}
	f, ok := fileOf(data)
	if !ok {
		m.changed(kind + " that is no base64")
		return m.note(v, fmt.Sprintf("Data of type %s that is no base64: %s", cmp.Or(said, kind), textOf(data)))
	}
	is := cmp.Or(f.mimeType, said, f.said)
	switch {
	case f.size == 0:
		m.changed("empty " + kind)
		return m.note(v, fmt.Sprintf("The page returned data of type %s, 0 bytes.", cmp.Or(is, kind)))
	case f.mimeType == svg:
		m.changed("SVG")
		if b, _, _ := decodeFile(textOf(f.data)); utf8.Valid(b) && rawjson.Get(v, "resource") == nil {
			return m.instead(v, "resource", "resource", m.textResource(svg, string(b)))
		}
	case strings.HasPrefix(f.mimeType, "image/"):
		return m.relabelled(v, data, f, "image", f.mimeType, said)
	case f.mimeType != "" && !strings.HasPrefix(said, "audio/"):
		return m.relabelled(v, data, f, "audio", f.mimeType, said)
	case strings.HasPrefix(is, "audio/"):
		return m.relabelled(v, data, f, "audio", is, said)
	}
	m.changed(kind + " of a type that models do not take")
	v = m.note(v, fmt.Sprintf("The page returned data of type %s, %d bytes, which models cannot read.", cmp.Or(is, kind), f.size))
	kept := rawjson.AppendStringMember([]byte{'{'}, "mimeType", cmp.Or(is, "application/octet-stream"))
	meta := rawjson.AppendMember([]byte{'{'}, dataKey, append(rawjson.AppendMember(kept, "data", f.data), '}'))
	return set(v, "_meta", appendMembers(meta, rawjson.Get(v, "_meta")))
}

// dataKey is the key in `_meta` of the file that a text block stands for.
const dataKey = "tabhub/data"

// note returns a text block in place of an image's.
func (m *mender) note(v json.RawMessage, s string) json.RawMessage {
	if t := rawjson.Get(v, "text"); t != nil {
		s += "\n" + textOf(t)
	}
	return m.instead(v, "text", "text", rawjson.AppendString(nil, s))
}

// instead returns a block of another type, of which a member is needed, in place of an image's.
func (m *mender) instead(v json.RawMessage, kind, member string, value json.RawMessage) json.RawMessage {
	v = edit(v, func(key string, v json.RawMessage) json.RawMessage {
		switch key {
		case "type":
			return asString(v, kind)
		case "data", "source", "mimeType":
			return nil
		}
		return v
	})
	return m.members(set(v, member, value))
}

// relabelled returns an image or audio block with f as data and its type.
func (m *mender) relabelled(v, data json.RawMessage, f file, kind, mimeType, said string) json.RawMessage {
	if mimeType != said {
		m.changed(kind + " of another type than said")
	}
	if !same(data, f.data) {
		m.changed(kind + " in other base64")
	}
	hasData, hasType := false, false
	v = edit(v, func(key string, v json.RawMessage) json.RawMessage {
		switch key {
		case "type":
			return asString(v, kind)
		case "mimeType":
			hasType = true
			return asString(v, mimeType)
		case "data":
			hasData = true
			return f.data
		case "source":
			return nil
		}
		return m.publish(key, v)
	})
	if !hasType {
		v = set(v, "mimeType", asString(nil, mimeType))
	}
	if !hasData {
		v = set(v, "data", f.data)
	}
	return v
}

// asString returns the JSON of a string: v, if that is it.
func asString(v json.RawMessage, s string) json.RawMessage {
	if v != nil && oneOf(v, s) {
		return v
	}
	return rawjson.AppendString(nil, s)
}

// blob mends the blob of a resource's contents.
func (m *mender) blob(v, blob json.RawMessage) json.RawMessage {
	f, ok := fileOf(blob)
	if !ok {
		m.changed("a blob that is no base64")
		return set(set(v, "blob", nil), "text", rawjson.AppendString(nil, textOf(blob)))
	}
	if !same(blob, f.data) {
		m.changed("a blob in other base64")
		v = set(v, "blob", f.data)
	}
	mimeType := rawjson.Get(v, "mimeType")
	if mimeType == nil {
		if f.said != "" {
			v = set(v, "mimeType", rawjson.AppendString(nil, cmp.Or(f.mimeType, f.said)))
		}
		return v
	}
	said, _ := rawjson.String(mimeType)
	if !strings.HasPrefix(said, "image/") || said == f.mimeType {
		return v
	}
	// Hosts make an image of it, as of an image block.
	switch {
	case f.size == 0:
		m.changed("empty image")
		return set(set(v, "blob", nil), "text", json.RawMessage(`""`))
	case f.mimeType == svg || f.mimeType == "" && said == svg:
		if b, _, _ := decodeFile(textOf(f.data)); utf8.Valid(b) {
			m.changed("SVG")
			v = set(set(v, "blob", nil), "text", rawjson.AppendString(nil, string(b)))
		}
		return set(v, "mimeType", json.RawMessage(`"`+svg+`"`))
	}
	m.changed("a blob of another type than said")
	return set(v, "mimeType", rawjson.AppendString(nil, cmp.Or(f.mimeType, "application/octet-stream")))
}
