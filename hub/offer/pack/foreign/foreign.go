package foreign

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"tabhub/describe"
	"tabhub/hub/offer/pack"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// maxName bounds the name of a pack.
const maxName = 32

// errUnknown says what Import reads.
var errUnknown = errors.New("this is no pack, and none of the formats that can be made one: " +
	"a package of webmcp-today, a manifest of webmcp-gen, an adapter of bb-sites (/* @meta), or a user script (// ==UserScript==)")

// importer makes one pack. What it leaves out goes into notes.
type importer struct {
	pack  *spec.Pack
	notes []string
}

// Import makes a pack of the file name, whose format it recognizes by data. The notes name what
// was left out or is different, one sentence each. The pack has been checked as Parse checks it.
func Import(name string, data []byte) (*spec.Pack, []string, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	im := &importer{pack: &spec.Pack{Format: spec.PackFormat}}
	var format string
	var err error
	switch {
	case userHeader().Match(data):
		format, err = "userscript", im.userScript(name, string(data))
	case siteMeta().Match(data):
		return ImportFolder(path.Base(path.Dir(name)), []File{{name, data}})
	case !json.Valid(data):
		err = errUnknown
	case rawjson.Get(data, "tabhubPack") != nil:
		err = errors.New("this is a pack already: it is added as it is")
	case rawjson.Get(data, "urlPatterns") != nil && rawjson.Get(data, "api") != nil:
		format, err = "webmcp-today", im.today(data)
	case manifest(data):
		format, err = "webmcp-gen", im.gen(data)
	default:
		err = errUnknown
	}
	if err != nil {
		return nil, nil, err
	}
	im.pack.Source = &spec.PackSource{Format: format, File: path.Base(name), SHA256: digest(data)}
	return im.done()
}

// manifest says whether data is one of webmcp-gen: its tools have an implementation.
func manifest(data []byte) bool {
	var m struct {
		Tools []struct {
			Implementation json.RawMessage `json:"implementation"`
		} `json:"tools"`
	}
	return json.Unmarshal(data, &m) == nil && len(m.Tools) > 0 && m.Tools[0].Implementation != nil
}

// done checks the pack as a whole.
func (im *importer) done() (*spec.Pack, []string, error) {
	if len(im.pack.Tools) == 0 && im.pack.Script == "" {
		return nil, nil, fmt.Errorf("none of its tools can be made a pack's: %s", strings.Join(im.notes, "; "))
	}
	if err := check(im.pack); err != nil {
		return nil, nil, err
	}
	return im.pack, im.notes, nil
}

// check says what Parse has against p.
func check(p *spec.Pack) error {
	_, err := pack.New(p)
	return err
}

// leaveOut notes that a tool cannot be a pack's. err is of a pack that has only this tool.
func (im *importer) leaveOut(tool string, err error) {
	im.note("tool %s is left out: %s", tool, strings.ReplaceAll(err.Error(), "tools[0].", ""))
}

// note names something that is left out.
func (im *importer) note(format string, args ...any) {
	if s := describe.Clean(fmt.Sprintf(format, args...), spec.MaxDescription); !slices.Contains(im.notes, s) {
		im.notes = append(im.notes, s)
	}
}

// packName makes the name of a pack of what a document is called.
func packName(parts ...string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.Join(parts, "-")) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	s := b.String()
	return strings.TrimRight(s[:min(len(s), maxName)], "-")
}

// title makes text that a pack may have as a title: one line.
func title(s string) string { return strings.Join(strings.Fields(s), " ") }

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func quote(v any) string {
	b, _ := json.Marshal(v) // of a string, or of JSON that was read: cannot fail
	return string(b)
}
