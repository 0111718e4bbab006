package keyword

import (
	"slices"

	"tabhub/spec/rawjson"
)

// exclusives are the keywords that draft-04 has true or false for, and those whose bounds they
// exclude.
var exclusives = [][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}}

// Modernize makes of what older drafts have for constraints what 2020-12 has for them, and reports whether
// it changed something. The fields are of the form that All says.
func (f *Fields) Modernize() (changed bool) {
	for _, pair := range exclusives {
		exclusive, bound := pair[0], pair[1]
		switch v := f.Get(exclusive); {
		case v == nil || v[0] != 't' && v[0] != 'f':
			continue
		case v[0] == 't' && f.Has(bound):
			f.Set(exclusive, f.Get(bound))
			f.Drop(bound)
		default:
			f.Drop(exclusive)
		}
		changed = true
	}
	if items := f.Get("items"); items != nil && items[0] == '[' { // draft-2019 and before
		rest := f.Get("additionalItems")
		f.Drop("items")
		if len(Elements(items)) > 0 {
			f.Set("prefixItems", items)
		}
		if rest != nil {
			f.Set("items", rest)
		}
		changed = true
	}
	changed = f.Drop("additionalItems") || changed
	if all, _ := FieldsOf(f.Get("dependencies")); f.Drop("dependencies") { // draft-07 and before
		for _, m := range all {
			key := "dependentSchemas"
			if m.Value[0] == '[' {
				key = "dependentRequired"
			}
			of, _ := FieldsOf(f.Get(key))
			of.Set(m.Key, m.Value)
			f.Set(key, of.JSON())
		}
		changed = true
	}
	required := Strings(f.Get("required"))
	had := len(required)
	properties, _ := FieldsOf(f.Get("properties"))
	for _, p := range properties { // draft-03
		if p.Value[0] == '{' && string(rawjson.Get(p.Value, "required")) == "true" && !slices.Contains(required, p.Key) {
			required = append(required, p.Key)
		}
	}
	if len(required) > had {
		f.Set("required", AppendStrings(nil, required))
		changed = true
	}
	return changed
}
