package anypage

import (
	"encoding/json"

	"tabhub/spec/rawjson"
)

// named returns the arguments of a call with the words of each reference before it, as a line of a snapshot has them:
// the owner reads what was meant, and the record knows a field of a secret. What is filled in stays as it is.
func named(args json.RawMessage, words map[string]string) json.RawMessage {
	with := func(ref string) string {
		if w := words[ref]; w != "" {
			return w + " " + ref
		}
		return ref
	}
	switch args[0] {
	case '{':
		out := []byte{'{'}
		for key, v := range rawjson.Members(args) {
			if key != "value" && key != "code" {
				v = named(v, words)
			}
			out = rawjson.AppendMember(out, with(key), v)
		}
		return append(out, '}')
	case '[':
		out := []byte{'['}
		for v := range rawjson.Elements(args) {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, named(v, words)...)
		}
		return append(out, ']')
	case '"':
		if s, _ := rawjson.String(args); words[s] != "" {
			return rawjson.AppendString(nil, with(s))
		}
	}
	return args
}
