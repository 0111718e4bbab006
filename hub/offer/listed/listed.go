package listed

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"tabhub/describe"
	"tabhub/hub/offer/keyword"
	"tabhub/hub/offer/schema"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Schema is a page's schema in the form that clients get.
type Schema struct {
	JSON    json.RawMessage // the bytes of the page's schema, if nothing had to be changed
	Wrong   []string        // what was left out because it is wrong, for the page's author
	Changed []string        // what is listed otherwise than the page has it, for the same
	About   string          // what a model has to be told besides, "" if nothing
	Names   *schema.Names   // of arguments; nil if they are the page's
}

// Nothing is how a schema is listed of which nothing is known.
var Nothing = json.RawMessage(`{"type":"object","properties":{}}`)

// maxNotes bounds what is said of a schema, maxWork the bytes that are read of it, again and again.
const (
	maxNotes = 10
	maxWork  = 4 << 20
)

// Input returns how a schema of a tool's arguments, valid JSON, is listed. The arguments that
// it describes may be named otherwise than the page has them: see schema.Schema.Arguments.
func Input(raw json.RawMessage) Schema { return list(raw, false) }

// Output returns how a schema of a tool's results is listed: with those keywords only that
// schema.Schema.Check and the clients evaluate alike, and nothing that makes a result misfit that
// fits the page's schema. A schema that also fits what is no object is not listed, its JSON is nil:
// MCP has structuredContent for objects alone, and clients take no result of such a tool without.
func Output(raw json.RawMessage) Schema { return list(raw, true) }

func list(raw json.RawMessage, output bool) Schema {
	l := lister{
		root: raw, output: output, work: maxWork,
		changed: !rawjson.Portable(raw), hides: describe.HidesInJSON(raw),
		aliases: map[string]string{}, names: map[*byte]string{}, loops: map[*byte]bool{}, loses: map[*byte]bool{},
	}
	f := l.fields(raw)
	if output && !l.onlyObjects(raw, 0) {
		const what = `must be of objects alone, as MCP has no other structuredContent: its type must be "object"`
		return Schema{Wrong: []string{cmp.Or(l.foreign(f, true), what)}}
	}
	out := l.definitions(l.object(nil, l.top(f), nil, 0))
	for _, d := range l.fields(l.rootDefs) {
		l.changed = l.changed || !slices.ContainsFunc(l.defs, func(of definition) bool { return of.name == d.Key })
	}
	if !l.changed {
		out = raw
	}
	if l.work < 0 || len(out) > 2*spec.MaxSchema { // definitions within each other may be written twice
		l.wrong(nil, "takes too much work to be listed: it has too many references or alternatives")
		out, l.aliases, l.about = Nothing, nil, ""
	}
	return Schema{out, l.wrongs, l.changes, l.about, schema.NewNames(l.aliases)}
}

// lister writes one schema.
type lister struct {
	root    json.RawMessage
	work    int // how many bytes may still be read
	output  bool
	hides   bool // see describe.HidesInJSON
	changed bool
	lost    int // how many parts that check something were left out

	wrongs, changes []string
	about           string

	keys    map[string]bool   // the names of all properties that can be listed, once an alias was needed
	aliases map[string]string // by the page's name

	names    map[*byte]string // of definitions, by where the page has them
	defs     []definition     // to be written
	rootDefs json.RawMessage  // those of the page at the top
	loops    map[*byte]bool   // see circular
	loses    map[*byte]bool   // whether a schema loses a check when it is listed
}

type definition struct {
	name string
	v    json.RawMessage
	at   *keyword.Place
}

// fields returns the members of an object, as long as the work may go on.
func (l *lister) fields(v json.RawMessage) keyword.Fields {
	if l.work < 0 {
		return nil
	}
	l.work -= len(v)
	f, repeated := keyword.FieldsOf(v)
	l.changed = l.changed || repeated
	return f
}

// find returns what stands at a path of the page's schema, nil if nothing does.
func (l *lister) find(path []string) json.RawMessage {
	if l.work -= len(l.root); l.work < 0 {
		return nil
	}
	return keyword.Find(l.root, path)
}

// referred returns the schema that a reference leads to, nil if there is none.
func (l *lister) referred(ref json.RawMessage) json.RawMessage {
	s, _ := rawjson.String(ref)
	path, err := keyword.Path(s)
	if err != nil {
		return nil
	}
	return l.find(path)
}

// drop removes fields.
func (l *lister) drop(f *keyword.Fields, keys ...string) { l.changed = f.Drop(keys...) || l.changed }

// wrong notes what is left out of a place because it is wrong.
func (l *lister) wrong(at *keyword.Place, format string, args ...any) {
	l.lost++
	l.note(&l.wrongs, at, format, args...)
}

// change notes what is listed otherwise at a place.
func (l *lister) change(at *keyword.Place, format string, args ...any) {
	l.note(&l.changes, at, format, args...)
}

func (l *lister) note(all *[]string, at *keyword.Place, format string, args ...any) {
	l.changed = true
	if len(*all) == maxNotes {
		return
	}
	text := fmt.Sprintf(format, args...)
	if at != nil {
		text = at.Pointer() + ": " + text
	}
	*all = append(*all, text)
}
