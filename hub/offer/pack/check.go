package pack

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tabhub/hub/offer/listed"
	"tabhub/hub/offer/schema"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// SourceFormats are the formats that packs are imported from.
var SourceFormats = []string{"webmcp-today", "webmcp-gen", "bb-sites", "userscript"}

// What the names of a pack, a tool and an argument, and what a step's As and an attribute may be made
// of. Expressions would take a part of each start of the program.
const (
	lower   = "abcdefghijklmnopqrstuvwxyz"
	digits  = "0123456789"
	letters = lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func isPackName(s string) bool  { return isMadeOf(s, 32, lower+digits, "-") }
func isToolName(s string) bool  { return isMadeOf(s, 64, letters+digits+"_-.", "") }
func isArgument(s string) bool  { return isMadeOf(s, 64, letters+"_", digits+".-") }
func isAs(s string) bool        { return isMadeOf(s, 32, letters+"_", digits) }
func isAttribute(s string) bool { return isMadeOf(s, 64, lower, digits+"-") }
func isSHA256(s string) bool    { return len(s) == 64 && isMadeOf(s, 64, digits+"abcdef", "") }

// isMadeOf reports whether a text is 1 to most of some characters; it does not begin with one of
// later.
func isMadeOf(s string, most int, chars, later string) bool {
	if s == "" || len(s) > most {
		return false
	}
	return strings.Trim(s, chars+later) == "" && strings.IndexByte(chars, s[0]) >= 0
}

// check checks the document and fills in what is known of it.
func (p *Pack) check() (err error) {
	if !isPackName(p.Name) {
		return errors.New("name: must be 1 to 32 lower-case letters, digits and hyphens, and begin with no hyphen")
	}
	for _, m := range []struct {
		at, text string
		most     int
	}{
		{"title", p.Title, maxTitle}, {"description", p.Description, spec.MaxDescription}, {"license", p.License, maxTitle}, {"for", p.For, maxTitle},
	} {
		if err := short(m.at, m.text, m.most); err != nil {
			return err
		}
	}
	if len(p.Match) == 0 {
		return errors.New(`match: is missing; name the pages, such as ["https://shop.example.com/*"]`)
	}
	if p.match, err = patterns("match", p.Match); err != nil {
		return err
	}
	if err := p.checkStart(); err != nil {
		return err
	}
	if s := p.Source; s != nil {
		if !slices.Contains(SourceFormats, s.Format) {
			return fmt.Errorf("source.format: must be one of %s", strings.Join(SourceFormats, ", "))
		}
		if !isSHA256(s.SHA256) {
			return errors.New("source.sha256: must be 64 hex digits")
		}
		if err := short("source.file", s.File, maxPath); err != nil {
			return err
		}
	}
	switch {
	case p.Script == "" && len(p.Tools) == 0:
		return errors.New("tools: is missing; a pack has tools with steps, or a script")
	case len(p.Tools) > maxTools:
		return fmt.Errorf("tools: more than %d", maxTools)
	}
	for i := range p.Tools {
		at := fmt.Sprintf("tools[%d]", i)
		t := &Tool{PackTool: p.Tools[i], Pack: p}
		if p.Tool(t.Name) != nil {
			return fmt.Errorf("%s.name: another tool has the name %s", at, t.Name)
		}
		if err := t.check(at); err != nil {
			return err
		}
		t.define()
		p.tools = append(p.tools, t)
	}
	return nil
}

// checkStart checks the path of the page that a call opens.
func (p *Pack) checkStart() error {
	if p.Start == "" {
		return nil
	}
	path, _, _ := strings.Cut(p.Start, "?")
	if err := literalPath("start", path); err != nil {
		return err
	}
	if len(p.Start) > maxPath || strings.ContainsAny(p.Start, "#{} ") {
		return errors.New("start: must be a path with its query, percent-encoded and without a fragment")
	}
	url := p.match[0].url(p.Start)
	if !slices.ContainsFunc(p.match, func(m Pattern) bool { return m.Matches(url) }) {
		return fmt.Errorf("start: %s is no page of match", url)
	}
	return nil
}

// check checks a tool and finds its class.
func (t *Tool) check(at string) error {
	if !isToolName(t.Name) {
		return fmt.Errorf("%s.name: must be 1 to 64 letters, digits, dots, _ and -", at)
	}
	if t.Description == "" {
		return fmt.Errorf("%s.description: is missing; say what the tool does, and when to use it", at)
	}
	if err := errors.Join(short(at+".title", t.Title, maxTitle), short(at+".description", t.Description, spec.MaxDescription)); err != nil {
		return err
	}
	c := &checker{tool: t}
	if err := c.schemas(at); err != nil {
		return err
	}
	if err := t.checkOn(at); err != nil {
		return err
	}
	hints := t.hints()
	if hints.ReadOnly && hints.Destructive {
		return fmt.Errorf("%s.annotations: readOnlyHint and destructiveHint contradict each other", at)
	}
	t.Class = policy.Write
	if hints.Destructive {
		t.Class = policy.Destructive
	}
	if t.Pack.Script != "" {
		if len(t.Steps) > 0 || t.PackTool.Result != "" {
			return fmt.Errorf("%s: a pack with a script has no steps: the script registers what the tool does", at)
		}
	} else {
		if err := c.steps(at); err != nil {
			return err
		}
		if c.deletes {
			t.Class = policy.Destructive
		}
		if c.acts > 0 && hints.ReadOnly {
			return fmt.Errorf("%s.annotations.readOnlyHint: %s may change something, so the tool does not only read", at, c.firstAct)
		}
		if hints.ReadOnly {
			t.Class = policy.Read
		}
		if err := c.query(at+".result", t.PackTool.Result); err != nil {
			return err
		}
	}
	t.Repeatable = t.Class == policy.Read
	return c.examples(at)
}

// checkOn checks where the tool is offered.
func (t *Tool) checkOn(at string) error {
	on, err := patterns(at+".on", t.On)
	if err != nil {
		return err
	}
	for i, p := range on {
		if !slices.ContainsFunc(t.Pack.match, p.meets) {
			return fmt.Errorf("%s.on[%d]: %s has no page of match, so the tool would never be offered there", at, i, p)
		}
	}
	return nil
}

// meets reports whether a page may match both patterns.
func (p Pattern) meets(q Pattern) bool {
	hosts := p.matchesHost(q.host) || q.matchesHost(p.host)
	return p.scheme == q.scheme && hosts && (p.port == q.port || p.port == "" || q.port == "") && meet(p.path, q.path)
}

// schemas checks the schemas, and finds the names of the arguments.
func (c *checker) schemas(at string) error {
	var compiled schema.Cache
	c.args = map[string]bool{}
	if in := c.tool.InputSchema; in != nil {
		if err := goodSchema(at+".inputSchema", in, listed.Input(in).Wrong); err != nil {
			return err
		}
		s, err := compiled.Compile(in)
		if err != nil {
			return place(at+".inputSchema", err.Error())
		}
		c.input = s
		for name := range rawjson.Members(rawjson.Get(in, "properties")) {
			c.args[name] = false
		}
		for name := range rawjson.Elements(rawjson.Get(in, "required")) {
			s, _ := rawjson.String(name)
			c.args[s] = true
		}
	}
	if out := c.tool.OutputSchema; out != nil {
		if err := goodSchema(at+".outputSchema", out, listed.Output(out).Wrong); err != nil {
			return err
		}
		s, err := compiled.Compile(out)
		if err != nil {
			return place(at+".outputSchema", err.Error())
		}
		c.tool.output = s
	}
	return nil
}

// goodSchema checks a schema, of which wrong is what is not as it must be.
func goodSchema(at string, v json.RawMessage, wrong []string) error {
	if err := schema.Check(v); err != nil {
		return place(at, err.Error())
	}
	if t, _ := rawjson.String(rawjson.Get(v, "type")); v[0] != '{' || t != "object" {
		return place(at, `must be a schema of an object: "type": "object"; a list is a member of one, which "result" can make`)
	}
	if len(wrong) > 0 {
		return place(at, wrong[0])
	}
	return nil
}

// examples checks the examples: their arguments must be such as the tool takes.
func (c *checker) examples(at string) error {
	if len(c.tool.Examples) > maxExamples {
		return fmt.Errorf("%s.examples: more than %d", at, maxExamples)
	}
	for i, e := range c.tool.Examples {
		at := fmt.Sprintf("%s.examples[%d]", at, i)
		if err := short(at+".at", e.At, maxPath); err != nil {
			return err
		}
		if e.Input != nil && e.Input[0] != '{' {
			return place(at+".input", "must be an object")
		}
		if e.At != "" && !c.tool.Pack.has(e.At) {
			return place(at+".at", e.At+" is no page of match")
		}
		if c.input == nil {
			continue
		}
		if err := c.input.Check(e.Input); err != nil {
			return place(at+".input", err.Error())
		}
	}
	return nil
}

const maxExamples = 20

// has reports whether an address, or a path of the first pattern's site, is a page of the pack.
func (p *Pack) has(url string) bool {
	if strings.HasPrefix(url, "/") {
		url = p.match[0].url(url)
	}
	return slices.ContainsFunc(p.match, func(m Pattern) bool { return m.Matches(url) })
}

// short checks the length of a text.
func short(at, s string, most int) error {
	if len(s) > most {
		return fmt.Errorf("%s: is longer than %d bytes", at, most)
	}
	return nil
}
