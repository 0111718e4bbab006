package item

import (
	"cmp"
	"encoding/json"
	"strings"

	"tabhub/describe"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Packed is what the hub itself knows of a tool of a pack.
type Packed struct {
	// Definition is the MCP tool; nil: a script gives it, and its word that it only reads does not count.
	Definition json.RawMessage
	Class      policy.Class
	Repeatable bool
	Digest     string // of what a call does
}

// Packed returns the item of a pack's tool as the hub knows it. Of what the browser has registered the
// place counts, and the definition if the hub has none. The title says that the tool is of the pack.
func (it *Item) Packed(by Packed) (*Item, error) {
	raw := by.Definition
	if raw == nil {
		raw = replace(it.Raw, "annotations", func(v json.RawMessage) json.RawMessage {
			return replace(replace(v, "readOnlyHint", leaveOut), "idempotentHint", leaveOut)
		})
	}
	end := " (pack " + it.Pack.Name + ")"
	title, _ := rawjson.String(rawjson.Get(raw, "title"))
	title = strings.TrimSuffix(cmp.Or(title, it.Source), end)
	raw = set(raw, "title", rawjson.AppendString(nil, describe.Clean(title, spec.MaxTitle-len(end))+end))
	for _, key := range []string{"pack", "frameId", "origin"} {
		if v := rawjson.Get(it.Raw, key); v != nil {
			raw = set(raw, key, v)
		}
	}
	packed, err := Parse(it.Kind, raw, it.schemas, func(Claim) (Provenance, error) { return it.Provenance, nil })
	if err != nil {
		return packed, err
	}
	packed.Departed, packed.Repeatable, packed.digest = it.Departed, by.Repeatable, by.Digest
	if by.Definition != nil || packed.Class < by.Class {
		packed.Class = by.Class
	}
	return packed, nil
}

// leaveOut takes a member out of an object, see replace.
func leaveOut(json.RawMessage) json.RawMessage { return nil }
