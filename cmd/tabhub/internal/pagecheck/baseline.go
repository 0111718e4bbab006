package pagecheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Baseline is what a page has offered, to be kept in a file under version control: nothing in
// it changes unless what the page offers does.
type Baseline struct {
	Version int             `json:"version"`
	Items   []BaselineEntry `json:"items"` // by kind and name
}

// BaselineEntry is one item.
type BaselineEntry struct {
	Kind       spec.Kind       `json:"kind"`
	Name       string          `json:"name"`
	Site       spec.Domain     `json:"site,omitempty"` // of a frame, unless it is the page's own
	Definition json.RawMessage `json:"definition"`     // members by name
}

const baselineVersion = 1

// kept are the members of an item that a client sees.
var kept = []string{"name", "uri", "uriTemplate", "title", "description", "inputSchema", "outputSchema", "annotations", "arguments", "mimeType", "icons", "_meta"}

// BaselineOf returns the baseline of what a page offers.
func BaselineOf(p *Page) *Baseline {
	b := &Baseline{Version: baselineVersion, Items: []BaselineEntry{}}
	for _, it := range p.Items {
		definition := json.RawMessage("{")
		for name, v := range rawjson.Members(it.Registered) {
			if slices.Contains(kept, name) && string(v) != "null" {
				definition = rawjson.AppendMember(definition, name, v)
			}
		}
		sorted, err := sort(append(definition, '}'))
		if err != nil {
			continue // no hub takes what is no JSON
		}
		b.Items = append(b.Items, BaselineEntry{it.Kind, it.Name, it.Site, sorted})
	}
	slices.SortFunc(b.Items, func(x, y BaselineEntry) int { return strings.Compare(x.key(), y.key()) })
	return b
}

func (e *BaselineEntry) key() string { return string(e.Kind) + " " + e.label() }

func (e *BaselineEntry) label() string { return (&Item{Name: e.Name, Site: e.Site}).Label() }

// sort writes a value with the members of its objects by name, and its texts in one way.
func sort(v json.RawMessage) (json.RawMessage, error) {
	var value any
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	sorted, err := marshal(value, "")
	return bytes.TrimSpace(sorted), err
}

// Encode writes a baseline as its file holds it.
func (b *Baseline) Encode() ([]byte, error) { return marshal(b, "  ") }

func marshal(v any, indent string) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return out.Bytes(), err
}

// ErrNoBaseline is that a file is something else, which must not be replaced.
var ErrNoBaseline = errors.New("it is no baseline")

// ReadBaseline reads a file that Encode has written. The error wraps ErrNoBaseline unless the
// file is empty or of another version.
func ReadBaseline(file []byte) (*Baseline, error) {
	if len(file) == 0 {
		return nil, errors.New("it is empty")
	}
	b := new(Baseline)
	if err := json.Unmarshal(file, b); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoBaseline, err)
	}
	if b.Version == 0 {
		return nil, ErrNoBaseline
	}
	if b.Version != baselineVersion {
		return nil, fmt.Errorf("it has version %d, and this program reads version %d", b.Version, baselineVersion)
	}
	for i := range b.Items {
		e := &b.Items[i]
		var err error
		if e.Definition, err = sort(e.Definition); err != nil {
			return nil, fmt.Errorf("%w: %s %q has no definition", ErrNoBaseline, e.Kind, e.Name)
		}
	}
	return b, nil
}

// Changes returns what is not as it was.
func (b *Baseline) Changes(now *Baseline) []Finding {
	const hint = "if it is meant so, write the file anew with --update"
	r := new(report)
	was := map[string]*BaselineEntry{}
	for i := range b.Items {
		was[b.Items[i].key()] = &b.Items[i]
	}
	for i := range now.Items {
		e := &now.Items[i]
		r.item = e.label()
		old := was[e.key()]
		delete(was, e.key())
		if old == nil {
			r.add(Error, SurfaceNew, hint, "this %s is new since the baseline", e.Kind)
			continue
		}
		if parts := differences(old.Definition, e.Definition); len(parts) > 0 {
			r.add(Error, SurfaceChanged, hint, "this %s is not as in the baseline: %s", e.Kind, strings.Join(parts, "; "))
		}
	}
	for _, e := range b.Items {
		if was[e.key()] != nil {
			r.item = e.label()
			r.add(Error, SurfaceGone, hint, "this %s of the baseline is gone", e.Kind)
		}
	}
	return r.all
}

const (
	maxParts = 6  // differences of an item that are named
	maxValue = 60 // characters of a value in one
)

// differences names what differs between two definitions.
func differences(was, is json.RawMessage) []string {
	var parts []string
	compare(was, is, "", &parts)
	if n := len(parts); n > maxParts {
		parts = append(parts[:maxParts], fmt.Sprintf("and %d more", n-maxParts))
	}
	return parts
}

func compare(was, is json.RawMessage, path string, parts *[]string) {
	switch {
	case bytes.Equal(was, is):
	case was == nil:
		*parts = append(*parts, fmt.Sprintf("%s is new: %s", path, shown(is)))
	case is == nil:
		*parts = append(*parts, fmt.Sprintf("%s is gone: %s", path, shown(was)))
	case was[0] == '{' && is[0] == '{':
		for name, v := range rawjson.Members(was) {
			compare(v, rawjson.Get(is, name), below(path, name), parts)
		}
		for name, v := range rawjson.Members(is) {
			if rawjson.Get(was, name) == nil {
				compare(nil, v, below(path, name), parts)
			}
		}
	default:
		*parts = append(*parts, fmt.Sprintf("%s was %s, is %s", path, shown(was), shown(is)))
	}
}

// shown is a value for a sentence.
func shown(v json.RawMessage) string { return cut(string(v), maxValue) }
