package item

import (
	"encoding/json"
	"errors"
	"fmt"

	"tabhub/describe"
	"tabhub/hub/offer/listed"
	"tabhub/hub/offer/schema"
)

// schemaMembers reads the schemas, and makes those for clients. A tool is of use without them:
// the page checks its arguments, and the model reads why there is no schema.
func (p *parser) schemaMembers() {
	input := listed.Schema{JSON: listed.Nothing}
	if v := p.inputSchema; v != nil && string(v) != "true" {
		if err := p.usable(v); err != nil {
			p.warn(fmt.Errorf("inputSchema: %w", err))
			p.note = "\n(its parameters' schema is not valid: " + describe.Clean(err.Error(), maxWarning) + ")"
		} else {
			input, p.input = listed.Input(v), v
		}
	}
	if input.About != "" {
		p.note = "\n(" + input.About + ")"
	}
	p.names = input.Names
	p.listed = p.list("inputSchema", input)
	if v := p.outputSchema; v != nil {
		if err := p.usable(v); err != nil {
			p.warn(fmt.Errorf("outputSchema: %w", err))
		} else {
			p.output = p.list("outputSchema", listed.Output(v))
		}
	}
	p.Shape = hashOf(p.inputSchema, p.outputSchema)
}

// usable returns why nothing can be made of a schema, nil if something can.
func (p *parser) usable(v json.RawMessage) error {
	if v[0] != '{' {
		return errors.New("must be an object")
	}
	return schema.Check(v)
}

// list returns a schema for clients, and warns of each change.
func (p *parser) list(key string, s listed.Schema) json.RawMessage {
	for _, wrong := range s.Wrong {
		p.warn(fmt.Errorf("%s: %s", key, wrong))
	}
	for _, change := range s.Changed {
		p.warn(fmt.Errorf("%s%s: %s", ListedOtherwise, key, change))
	}
	return oneLine(s.JSON)
}

// ListedOtherwise is how a warning begins about a part that is not left out, but changed for
// clients.
const ListedOtherwise = "for clients, "
