package item

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"sync/atomic"

	"tabhub/describe"
	"tabhub/hub/offer/schema"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Item is one tool, resource, resource template or prompt as a tab registered it.
// It is immutable and shared: an update makes another Item.
type Item struct {
	Kind spec.Kind
	Provenance
	Template   bool            // a resource template
	Source     string          // the page's own name, URI or URI template
	Frame      *int64          // the frame that it belongs to, nil if the page did not say
	Departed   bool            // its document has gone; the next one may offer it again
	Raw        json.RawMessage // as it came, without the member departed
	Shape      uint64          // tools: differs when inputSchema or outputSchema does
	Class      policy.Class    // what it may change, as its page says
	Cache      bool            // annotations.cache: it stays listed when its last tab closes
	Repeatable bool            // readOnlyHint or idempotentHint: a call may be sent again
	Completes  bool            // a prompt or resource template whose arguments the page completes
	Warnings   []string        // why parts are left out

	members  []byte          // all members that clients get but name (uri), description and schemas, each as `,"key":value`
	listed   json.RawMessage // the schema of the arguments for clients: part of Raw, if nothing had to be changed; tools only
	text     []byte          // the page's description, cleaned, as the inside of a JSON string
	note     string          // of the hub, after it
	sum      uint64          // of what a client sees
	pattern  pattern         // of a resource template
	schemas  *schema.Cache   // compiles input
	input    json.RawMessage // the page's schema of the arguments, nil to check nothing; tools only
	output   json.RawMessage // the schema of the results for clients, nil if there is none
	names    *schema.Names   // of arguments, as clients know them
	required []string        // names of arguments; prompts only
	digest   string          // of what a call of a pack's tool does
	pin      atomic.Pointer[policy.Pin]
	words    atomic.Pointer[string] // see said
}

// Key identifies an item of a tab: an Item with the same Key replaces it.
type Key struct {
	Domain spec.Domain
	Source string
	Pack   string
}

// Key returns the item's key among those of its kind.
func (it *Item) Key() Key { return Key{it.Domain, it.Source, it.Pack.Name} }

// Equal reports whether a page has registered the same item twice, departed or not.
func (it *Item) Equal(other *Item) bool {
	return it.Domain == other.Domain && it.Origin == other.Origin && bytes.Equal(it.Raw, other.Raw)
}

// OnlyReads reports whether an item is a tool of a verified site that says that it changes nothing
// (readOnlyHint).
func (it *Item) OnlyReads() bool {
	return it.Kind == spec.KindTool && it.Class == policy.Read && it.Verified
}

// Reject says why the hub does not take an item, the i-th of a registration.
func (it *Item) Reject(i int, reason error) spec.Rejection {
	name := fmt.Sprintf("#%d", i)
	if it.Source != "" {
		name = it.shownName()
	}
	return spec.Rejection{Name: name, Reason: reason.Error()}
}

// Warn appends why parts of the item are left out.
func (it *Item) Warn(all []spec.Rejection) []spec.Rejection {
	for _, reason := range it.Warnings {
		all = append(all, spec.Rejection{Name: it.shownName(), Reason: reason})
	}
	return all
}

func (it *Item) shownName() string {
	name := describe.Clean(it.Source, spec.MaxName)
	if it.Pack.Name != "" {
		name += " (pack " + it.Pack.Name + ")"
	}
	return name
}

// Arguments returns the arguments of a call of a tool, or of a prompt, as the page takes them,
// and notes for the client: see schema.Schema.Arguments. With check, it checks them against
// the tool's schema, and those of a prompt for the required ones. The error is for
// a model to act on.
func (it *Item) Arguments(args json.RawMessage, check bool) (_ json.RawMessage, notes []string, _ error) {
	for _, name := range it.required {
		if check && (len(args) == 0 || rawjson.Get(args, name) == nil) {
			return args, nil, fmt.Errorf("argument %q is required", name)
		}
	}
	if it.input == nil || !check && it.names == nil {
		return args, nil, nil
	}
	s, err := it.schemas.Compile(it.input)
	if err != nil {
		return args, nil, nil // which the registration said
	}
	return s.Arguments(args, it.names, check)
}

// checkOutput returns how a tool's structuredContent does not fit the listed outputSchema, nil if it does.
func (it *Item) checkOutput(structured json.RawMessage) error {
	s, err := it.schemas.Compile(it.output)
	if err != nil {
		return err
	}
	return s.Check(structured)
}

// Weight is how many bytes the item takes, about, with its entries in the state and the lists.
func (it *Item) Weight() int {
	const fixed = 1 << 10 // of structs, names and map entries
	n := len(it.members) + len(it.text) + len(it.listed) + len(it.output)
	return fixed + len(it.Raw) + 2*n
}

// Makes reports whether the item is a template that makes a page's URI. It takes the
// work from left; when nothing is left it reports false.
func (it *Item) Makes(uri string, left *Steps) bool {
	return it.Template && it.pattern.match(uri, left)
}

// AppendJSON appends the MCP object of the item for a list: under its
// public name or URI, its description after a label.
func (it *Item) AppendJSON(out []byte, public, label string) []byte {
	out = it.append(out, public, label, it.note)
	for i, v := range []json.RawMessage{it.listed, it.output} {
		if v != nil {
			out = rawjson.AppendMember(out, schemaKeys[i], v)
		}
	}
	return append(out, '}')
}

// Size is how many bytes AppendJSON appends, or a few more.
func (it *Item) Size(public, label string) int {
	const names = len(`{"uriTemplate":"","description":" ","inputSchema":,"outputSchema":}`)
	return names + len(public) + len(label) + len(it.text) + len(it.note) + len(it.members) + len(it.listed) + len(it.output)
}

// AppendDefinition appends the same with the page's own schemas.
func (it *Item) AppendDefinition(out []byte, public, label string) []byte {
	out = it.append(out, public, label, "")
	if v := rawjson.Get(it.Raw, "inputSchema"); it.Kind == spec.KindTool && (v == nil || string(v) == "null") {
		out = append(out, `,"inputSchema":{"type":"object"}`...)
	}
	for _, key := range schemaKeys {
		if v := rawjson.Get(it.Raw, key); it.Kind == spec.KindTool && v != nil && string(v) != "null" {
			if rawjson.CheckPortable(v) != nil {
				doc, _ := rawjson.Decode(v)
				v = rawjson.Append(nil, &doc)
			}
			out = rawjson.AppendMember(out, key, describe.CleanJSON(oneLine(v)))
		}
	}
	return append(out, '}')
}

var schemaKeys = []string{"inputSchema", "outputSchema"}

// append appends the item without its schemas and without the closing brace.
func (it *Item) append(out []byte, public, label, note string) []byte {
	key := `{"name":`
	if it.Kind == spec.KindResource {
		key = `{"uri":`
		if it.Template {
			key = `{"uriTemplate":`
		}
	}
	out = append(out, key...)
	out = rawjson.AppendString(out, public)
	out = append(out, `,"description":`...)
	out = rawjson.AppendString(out, label)
	out[len(out)-1] = ' ' // the closing quote
	out = append(out, it.text...)
	if note != "" {
		quoted := rawjson.AppendString(nil, note)
		out = append(out, quoted[1:len(quoted)-1]...)
	}
	out = append(out, '"')
	return append(out, it.members...)
}

var hashSeed = maphash.MakeSeed()

// hashOf returns a number that differs when one of the texts, without zero bytes, does.
func hashOf(texts ...[]byte) uint64 {
	var h maphash.Hash
	h.SetSeed(hashSeed)
	for _, text := range texts {
		h.Write(text)
		h.WriteByte(0)
	}
	return h.Sum64()
}

// Sum returns a number that differs, within one process, when what a client sees of the item under a
// public name does, labels apart.
func (it *Item) Sum(public string) uint64 { return maphash.String(hashSeed, public) ^ it.sum }

// Title returns the item's title for people, "" without one.
func (it *Item) Title() string {
	title, _ := rawjson.String(rawjson.Get(it.Definition(), "title"))
	return title
}

// FrameID returns the frame that the item belongs to, 0 for the page itself.
func (it *Item) FrameID() int64 {
	if it.Frame == nil {
		return 0
	}
	return *it.Frame
}

// Framed reports whether the item is known to be of a frame of another page.
func (it *Item) Framed() bool { return it.FrameID() != 0 }
