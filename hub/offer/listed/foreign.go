package listed

import (
	"fmt"

	"tabhub/hub/offer/keyword"
	"tabhub/spec/rawjson"
)

// foreign returns what to do about the schema object of a TypeScript library in place of a JSON
// Schema, "" if it is none. At the top there may be an object of such schemas, too, as MCP's SDK
// takes them.
func (l *lister) foreign(f keyword.Fields, top bool) string {
	for _, m := range f {
		if library, convert := libraryOf(m); library != "" {
			return fmt.Sprintf("it looks like a schema of %s: give %s", library, convert)
		}
		if _, known := keyword.All[m.Key]; top && !known {
			for _, of := range l.fields(m.Value) {
				if library, convert := libraryOf(of); library != "" {
					return fmt.Sprintf("its members look like schemas of %s: make an object of them there, and give %s", library, convert)
				}
			}
		}
	}
	return ""
}

// libraryOf returns the library that gives its schemas such a member, and how to convert them.
func libraryOf(m keyword.Field) (library, convert string) {
	text := func(v []byte) string { s, _ := rawjson.String(v); return s }
	switch m.Key {
	case "_def":
		if rawjson.Get(m.Value, "typeName") != nil {
			return "Zod", "z.toJSONSchema(schema) of Zod 4, or zodToJsonSchema(schema) of zod-to-json-schema"
		}
	case "def":
		if text(rawjson.Get(m.Value, "type")) != "" {
			return "Zod", "z.toJSONSchema(schema)"
		}
	case "domain":
		if text(m.Value) != "" {
			return "ArkType", "schema.toJsonSchema()"
		}
	case "~standard":
		switch vendor := text(rawjson.Get(m.Value, "vendor")); vendor {
		case "":
		case "zod":
			return "Zod", "z.toJSONSchema(schema)"
		case "valibot":
			return "Valibot", "toJsonSchema(schema) of @valibot/to-json-schema"
		default:
			return vendor, "the JSON Schema that it stands for"
		}
	}
	return "", ""
}
