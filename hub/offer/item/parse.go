package item

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tabhub/describe"
	"tabhub/hub/offer/schema"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// maxItem bounds one registered object, schemas and all.
const maxItem = 4 * spec.MaxSchema

// Parse checks one registered object and takes it apart. provenance says where an
// item belongs by what it claims. Parse leaves out a part that is not valid, with a warning, if
// the item is of use without it. The error is for the page's author; the Item that comes with it
// has only the Kind and, if it was read, the Source. Parse does not block.
func Parse(kind spec.Kind, raw json.RawMessage, schemas *schema.Cache, provenance func(Claim) (Provenance, error)) (*Item, error) {
	if len(raw) > maxItem {
		return &Item{Kind: kind}, fmt.Errorf("it is larger than %d bytes", maxItem)
	}
	raw = bytes.Clone(raw) // the frame that it came in may be much larger
	it := &Item{Kind: kind, Raw: raw, Class: policy.Read, schemas: schemas}
	if kind == spec.KindTool {
		it.Class = policy.Write
	}
	p := parser{Item: it, hides: describe.HidesInJSON(raw)}
	if err := rawjson.Object(raw, spec.MaxDepth, p.member); err != nil {
		return it, err
	}
	if it.Departed {
		it.Raw = set(raw, departed, nil)
	}
	return it, p.finish(provenance)
}

// departed is the member with which a browser says that an item's document has gone.
const departed = "departed"

// parser collects the members of one object.
type parser struct {
	*Item
	hides                     bool // there are hidden characters in it, see describe.HidesInJSON
	description               string
	title                     string
	name                      string
	uri                       string
	claim                     Claim
	inputSchema, outputSchema json.RawMessage
	icons                     json.RawMessage
	meta                      json.RawMessage
	hints                     json.RawMessage // those of WebMCP, as an object
}

// vital are the members without which an item cannot be served, or its place is not sure.
var vital = []string{"name", "uri", "uriTemplate", "frameId", "origin", "pack"}

// member takes one member of the object. It ignores nulls and members that no revision of MCP
// defines.
func (p *parser) member(key string, v json.RawMessage) error {
	if string(v) == "null" {
		return nil
	}
	err := p.take(key, v)
	if err != nil && !slices.Contains(vital, key) {
		p.warn(err)
		return nil
	}
	return err
}

// Bounds on the warnings of an item, in number and in characters.
const (
	maxWarnings = 10
	maxWarning  = 300
)

// warn notes why a part is left out.
func (p *parser) warn(err error) {
	if len(p.Warnings) < maxWarnings {
		p.Warnings = append(p.Warnings, describe.Clean(err.Error(), maxWarning))
	}
}

func (p *parser) take(key string, v json.RawMessage) error {
	if err := checkSpelling(key, itemMembers); err != nil {
		return err
	}
	if v[0] != '"' || slices.Contains(vital, key) { // other strings are cleaned
		if err := rawjson.CheckPortable(v); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	switch key {
	case "name":
		err := p.str(key, v, &p.name)
		p.Source = p.name // so that a rejection names it
		return err
	case "description":
		return p.str(key, v, &p.description)
	case "frameId":
		var f int64
		if err := json.Unmarshal(v, &f); err != nil {
			return errors.New("frameId must be an integer")
		}
		p.Frame = &f
		return nil
	case "origin":
		return p.str(key, v, &p.claim.Origin)
	case "pack":
		return p.pack(v)
	case departed:
		if err := json.Unmarshal(v, &p.Departed); err != nil {
			return errors.New("departed must be true or false")
		}
		return nil
	case "completes":
		p.Completes = p.Kind != spec.KindTool && string(v) == "true"
	case "title":
		if err := p.str(key, v, &p.title); err != nil {
			return err
		}
		p.title = p.keepClean(key, v, p.title)
	case "_meta":
		if v[0] != '{' {
			return errors.New("_meta must be an object")
		}
		p.meta = v
	case "icons":
		p.icons = v
	case "annotations":
		p.annotations(v)
	default:
		return p.kindMember(key, v)
	}
	return nil
}

// pack takes the version of a pack that a tool is of.
func (p *parser) pack(v json.RawMessage) error {
	if p.Kind != spec.KindTool {
		return errors.New("pack: packs have only tools")
	}
	name, _ := rawjson.String(rawjson.Get(v, "name"))
	hash, _ := rawjson.String(rawjson.Get(v, "hash"))
	if name == "" || hash == "" {
		return errors.New("pack must be an object with name and hash")
	}
	p.claim.Pack = spec.PackRef{Name: name, Hash: hash}
	return nil
}

// kindMember takes a member that only objects of one kind have.
func (p *parser) kindMember(key string, v json.RawMessage) error {
	switch {
	case p.Kind == spec.KindTool && key == "inputSchema":
		p.inputSchema = v
	case p.Kind == spec.KindTool && key == "outputSchema":
		p.outputSchema = v
	case p.Kind == spec.KindResource && key == "uri":
		return p.str(key, v, &p.uri)
	case p.Kind == spec.KindResource && key == "uriTemplate":
		p.Template = true
		return p.str(key, v, &p.uri)
	case p.Kind == spec.KindResource && key == "mimeType":
		var text string
		if err := p.str(key, v, &text); err != nil {
			return err
		}
		p.keepClean(key, v, text)
	case p.Kind == spec.KindResource && key == "size":
		if !isSize.is(v) {
			return fmt.Errorf("size must be %s", isSize.text)
		}
		p.keep(key, v)
	case p.Kind == spec.KindPrompt && key == "arguments":
		return p.arguments(key, v)
	}
	return nil
}

// arguments takes a prompt's arguments and reads which are required.
func (p *parser) arguments(key string, v json.RawMessage) error {
	if v[0] != '[' {
		return errors.New("arguments must be an array")
	}
	p.keep(key, editElements(v, func(v json.RawMessage) json.RawMessage {
		valid := validMembers("arguments[]", v, promptArgumentMembers, p.warn)
		name, ok := rawjson.String(rawjson.Get(valid, "name"))
		err := checkText("arguments[].name", name)
		if !ok {
			err = errors.New("arguments[].name is missing")
		}
		if err != nil {
			p.warn(err)
			return nil
		}
		if string(rawjson.Get(valid, "required")) == "true" {
			p.required = append(p.required, name)
		}
		return p.clean(valid, "name")
	}))
	return nil
}

// clean returns an object with its texts cleaned, but for that of the member data.
func (p *parser) clean(object json.RawMessage, data string) json.RawMessage {
	if !p.hides {
		return object
	}
	return edit(object, func(key string, v json.RawMessage) json.RawMessage {
		if key == data {
			return v
		}
		return describe.CleanJSON(v)
	})
}

// keepClean keeps the text of v on one line, cleaned, and returns it.
func (p *parser) keepClean(key string, v json.RawMessage, text string) string {
	clean := describe.Clean(text, spec.MaxTitle)
	if clean != text || rawjson.CheckPortable(v) != nil {
		v = rawjson.AppendString(nil, clean)
	}
	p.keep(key, v)
	return clean
}

func (p *parser) keep(key string, v json.RawMessage) {
	p.members = append(append(rawjson.AppendString(append(p.members, ','), key), ':'), oneLine(v)...)
}

// oneLine returns v, valid JSON, without line breaks: they can only stand between
// tokens, and a stream of lines must not hold them. All other bytes stay.
func oneLine(v json.RawMessage) json.RawMessage {
	if bytes.IndexByte(v, '\n') < 0 && bytes.IndexByte(v, '\r') < 0 {
		return v
	}
	out := bytes.ReplaceAll(v, []byte{'\n'}, []byte{' '})
	return bytes.ReplaceAll(out, []byte{'\r'}, []byte{' '})
}

func (p *parser) str(key string, v json.RawMessage, to *string) error {
	s, ok := rawjson.String(v)
	if !ok {
		return fmt.Errorf("%s must be a string", key)
	}
	*to = s
	return nil
}

// annotations keeps the annotations that are known and reads what the hub acts on.
func (p *parser) annotations(v json.RawMessage) {
	known := otherAnnotationMembers
	if p.Kind == spec.KindTool {
		known = toolAnnotationMembers
	}
	if v = validMembers("annotations", v, known, p.warn); v == nil {
		return
	}
	is := func(name string) bool { return string(rawjson.Get(v, name)) == "true" }
	p.Cache = is("cache")
	if p.Kind == spec.KindTool {
		// Of two hints that contradict each other the stricter one counts.
		switch {
		case is("destructiveHint"), is("consequentialHint"):
			p.Class = policy.Destructive
		case is("readOnlyHint"):
			p.Class = policy.Read
		}
		p.Repeatable = p.Class == policy.Read || is("idempotentHint")
		v, p.hints = mcpHints(v)
	}
	p.keep("annotations", p.clean(v, ""))
}

// hintsOf are the hints of WebMCP, and those of MCP that say the same.
var hintsOf = map[string]string{"consequentialHint": "destructiveHint", "untrustedContentHint": "openWorldHint"}

// mcpHints returns a tool's annotations as MCP has them, and the hints of WebMCP among them.
// MCP's own hints count first. A WebMCP hint that is false says nothing: WebMCP has no other way to
// leave it out, while MCP takes a tool without hints for destructive and open.
func mcpHints(v json.RawMessage) (mcp, hints json.RawMessage) {
	mcp, hints = json.RawMessage{'{'}, json.RawMessage{'{'}
	for key, value := range rawjson.Members(v) {
		same := hintsOf[key]
		if same == "" {
			mcp = rawjson.AppendMember(mcp, key, value)
			continue
		}
		hints = rawjson.AppendMember(hints, key, value)
		if string(value) == "true" && rawjson.Get(v, same) == nil {
			mcp = rawjson.AppendMember(mcp, same, value)
		}
	}
	if len(hints) == 1 {
		return v, nil
	}
	return append(mcp, '}'), append(hints, '}')
}

// finish checks what only the whole object shows.
func (p *parser) finish(provenance func(Claim) (Provenance, error)) (err error) {
	p.Source = p.name
	if p.Kind == spec.KindResource {
		p.Source = p.uri
		if p.uri == "" {
			return errors.New("uri is missing")
		}
		if len(p.uri) > spec.MaxURI {
			return fmt.Errorf("uri is longer than %d bytes", spec.MaxURI)
		}
		if p.Template {
			if p.pattern, err = parseTemplate(p.uri); err != nil {
				return err
			}
		}
		if err := checkText("uri", p.uri); err != nil {
			return err
		}
		if p.name = describe.Clean(p.name, spec.MaxTitle); p.name == "" {
			p.name = p.uri
		}
		p.keep("name", rawjson.AppendString(nil, p.name))
	}
	if err := checkName(p.name, p.Kind); err != nil {
		return err
	}
	if p.Provenance, err = provenance(p.claim); err != nil {
		return err
	}
	if p.icons != nil {
		if icons := p.iconsOf(p.icons, p.warn); icons != nil {
			p.keep("icons", icons)
		}
	}
	if err := p.metaMember(); err != nil {
		return err
	}
	if p.Kind == spec.KindTool {
		p.schemaMembers()
	}
	text := describe.CleanLines(cmp.Or(p.description, p.title, p.name), spec.MaxDescription)
	quoted := rawjson.AppendString(nil, text)
	p.text = quoted[1 : len(quoted)-1]
	p.sum = hashOf(p.members, p.listed, p.output, p.text)
	return nil
}

// metaMember keeps the site's keys of `_meta`, and WebMCP's hints.
func (p *parser) metaMember() error {
	var meta json.RawMessage
	if p.meta != nil {
		if isForApps(rawjson.Get(p.meta, "ui", "visibility")) {
			return errors.New("it is for an app of MCP Apps and not for models, and no client is shown apps of pages")
		}
		meta = metaOf(p.Domain, p.meta)
	}
	if p.hints != nil {
		meta = appendMembers(rawjson.AppendMember([]byte{'{'}, "webmcp/annotations", p.hints), meta)
	}
	if meta != nil {
		p.keep("_meta", meta)
	}
	return nil
}

// isForApps reports whether a tool's visibility says that it is for apps alone.
func isForApps(visibility json.RawMessage) (only bool) {
	for v := range rawjson.Elements(visibility) {
		if only = oneOf(v, "app"); !only {
			return false
		}
	}
	return only
}

func checkName(name string, kind spec.Kind) error {
	if name == "" {
		return errors.New("name is missing")
	}
	if kind == spec.KindResource {
		return nil
	}
	if utf8.RuneCountInString(name) > spec.MaxName {
		return fmt.Errorf("name is longer than %d characters", spec.MaxName)
	}
	return checkText("name", name)
}

// checkText checks a string that a model sees and that cannot be cleaned, since the
// page knows it by each character.
func checkText(what, s string) error {
	if strings.ContainsFunc(s, unicode.IsControl) {
		return fmt.Errorf("%s has a control character", what)
	}
	if r, ok := describe.Forbidden(s); ok {
		return fmt.Errorf("%s holds the character %U, which cannot be seen", what, r)
	}
	return nil
}
