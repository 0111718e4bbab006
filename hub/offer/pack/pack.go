package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"tabhub/hub/offer/schema"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Bounds of a document, in bytes where nothing else is said.
const (
	maxSteps    = 256 << 10 // a document with steps
	maxScript   = 1 << 20   // a document with a script
	maxDepth    = 64        // nesting
	maxPatterns = 20
	maxPattern  = 512
	maxTools    = 64
	maxActing   = 16  // acting steps of a tool
	maxAll      = 64  // steps of a tool
	maxWait     = 300 // seconds of all steps of a tool
	maxTimeout  = 60  // seconds of a step
	maxTitle    = spec.MaxTitle
	maxQuery    = 1000 // a JMESPath expression
	maxNames    = 64   // members of a query, form, read
)

// Pack is a pack that Parse has taken.
type Pack struct {
	spec.Pack
	Hash string // SHA-256 of Text, in hex

	text  []byte
	match []Pattern
	tools []*Tool
}

// Tool is a tool of a pack.
type Tool struct {
	spec.PackTool
	Pack *Pack
	// Class is what a call may change: at least what the steps do, and no less than what the hints say.
	Class policy.Class
	// Repeatable says that a call may be made again: it only reads.
	Repeatable bool

	definition json.RawMessage
	output     *schema.Schema // of results, nil without one
	steps      string         // SHA-256 of what a call does, in hex
	sends      bool           // something that it has read is part of what it sends
}

// Parse reads a document. The error names the place in the document.
func Parse(text []byte) (*Pack, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(text) > maxScript {
		return nil, fmt.Errorf("it is larger than %d bytes", maxScript)
	}
	if err := rawjson.Valid(text, maxDepth); err != nil {
		if e, ok := errors.AsType[*rawjson.SyntaxError](err); ok {
			line := 1 + bytes.Count(text[:e.Offset], []byte{'\n'})
			return nil, fmt.Errorf("line %d, byte %d of it: invalid JSON: %s", line, e.Offset-bytes.LastIndexByte(text[:e.Offset], '\n'), e.What)
		}
		return nil, err
	}
	text = bytes.TrimSpace(text)
	if text[0] != '{' || rawjson.Get(text, "tabhubPack") == nil {
		return nil, fmt.Errorf("it is no pack: that is a JSON object with \"tabhubPack\": %d", spec.PackFormat)
	}
	if v := rawjson.Get(text, "tabhubPack"); string(v) != fmt.Sprint(spec.PackFormat) {
		return nil, fmt.Errorf("tabhubPack: the format %.20s is not known; this tabhub reads %d", v, spec.PackFormat)
	}
	if err := rawjson.CheckPortable(text); err != nil {
		return nil, err
	}
	if err := strict("", reflect.TypeFor[spec.Pack](), text, false); err != nil {
		return nil, err
	}
	p := &Pack{}
	if err := json.Unmarshal(text, &p.Pack); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	p.text = encode(&p.Pack)
	if most := p.most(); len(p.text) > most {
		return nil, fmt.Errorf("it is larger than %d bytes", most)
	}
	sum := sha256.Sum256(p.text)
	p.Hash = hex.EncodeToString(sum[:])
	return p, nil
}

// New is Parse for a document that is not yet text.
func New(doc *spec.Pack) (*Pack, error) { return Parse(encode(doc)) }

// most is how many bytes the document may have.
func (p *Pack) most() int {
	if p.Script != "" {
		return maxScript
	}
	return maxSteps
}

// encode returns a document as text. What Parse takes stays the same when it is read and encoded
// again.
func encode(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil // a RawMessage that is no JSON: Parse refuses it
	}
	return buf.Bytes()
}

// Text returns the document, encoded anew. It must not be modified.
func (p *Pack) Text() []byte { return p.text }

// Ref names this version of the pack.
func (p *Pack) Ref() spec.PackRef { return spec.PackRef{Name: p.Name, Hash: p.Hash} }

// AllTools returns the tools in the order of the document. The slice must not be modified.
func (p *Pack) AllTools() []*Tool { return p.tools }

// Tool returns a tool by its name, nil if there is none.
func (p *Pack) Tool(name string) *Tool {
	for _, t := range p.tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Active returns what browsers know of the pack.
func (p *Pack) Active() spec.ActivePack {
	a := spec.ActivePack{PackRef: p.Ref(), Title: p.Title, Match: p.Match, Tools: []spec.ActivePackTool{}, Script: p.Script != ""}
	for _, t := range p.tools {
		if len(t.Steps) > 0 {
			a.Tools = append(a.Tools, spec.ActivePackTool{Name: t.Name, On: t.On})
		}
	}
	return a
}

// ReachesOrigin reports whether the pack matches pages of an origin. Which of its pages is for the
// browser to check, as it alone knows their addresses.
func (p *Pack) ReachesOrigin(origin string) bool {
	for _, m := range p.match {
		if m.matchesOrigin(origin) {
			return true
		}
	}
	return false
}

// StartURL returns the address of the page that a call opens if no tab shows one of the pack, "" if
// there is none.
func (p *Pack) StartURL() string {
	if p.Start == "" {
		return ""
	}
	return p.match[0].url(p.Start)
}

// Acts returns the names of the tools that do more than read.
func (p *Pack) Acts() (names []string) {
	for _, t := range p.tools {
		if t.Class > policy.Read {
			names = append(names, t.Name)
		}
	}
	return names
}

// Definition returns the tool as MCP has it, under its own name and without its steps.
func (t *Tool) Definition() json.RawMessage { return t.definition }

// Digest identifies what a call of the tool does: its steps, its result, and where.
func (t *Tool) Digest() string { return t.steps }

// Request returns the call of the tool in a document of a frame, nil for the page itself, of an
// origin. It shares the steps.
func (t *Tool) Request(args json.RawMessage, frame *int64, origin string) *spec.Run {
	return &spec.Run{
		Pack: t.Pack.Ref(), ToolName: t.Name, Steps: t.Steps, Args: args, Result: t.PackTool.Result, FrameID: frame, Origin: origin,
	}
}

// define writes the definition, and the digest of the steps.
func (t *Tool) define() {
	d := rawjson.AppendStringMember([]byte{'{'}, "name", t.Name)
	if t.Title != "" {
		d = rawjson.AppendStringMember(d, "title", t.Title)
	}
	d = rawjson.AppendStringMember(d, "description", t.Description)
	input := t.InputSchema
	if input == nil {
		input = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	d = append(rawjson.AppendKey(d, "inputSchema"), rawjson.Compact(nil, input)...)
	if t.OutputSchema != nil {
		d = append(rawjson.AppendKey(d, "outputSchema"), rawjson.Compact(nil, t.OutputSchema)...)
	}
	hints := t.hints()
	d = fmt.Appendf(rawjson.AppendKey(d, "annotations"), `{"readOnlyHint":%t,"destructiveHint":%t,"idempotentHint":%t,"openWorldHint":%t}`,
		t.Class == policy.Read, t.Class == policy.Destructive, hints.Idempotent, hints.OpenWorld)
	t.definition = append(d, '}')

	sum := sha256.Sum256(encode(struct {
		Match, On []string
		Steps     []spec.Step
		Result    string
		Script    string
	}{t.Pack.Match, t.On, t.Steps, t.PackTool.Result, t.Pack.Script}))
	t.steps = hex.EncodeToString(sum[:])
}

// hints returns the hints, none if there are none.
func (t *Tool) hints() spec.PackHints {
	if t.Annotations == nil {
		return spec.PackHints{}
	}
	return *t.Annotations
}
