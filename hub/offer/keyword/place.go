package keyword

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tabhub/spec/rawjson"
)

// Place is where a value stands below a root, which is nil.
type Place struct {
	Parent *Place
	Token  string // the name of a member, or the index of an element
}

// pointers writes a token of a JSON pointer.
var pointers = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer returns the JSON pointer of a place, with long names cut.
func (p *Place) Pointer() string {
	var tokens []string
	for ; p != nil; p = p.Parent {
		tokens = append(tokens, "/"+pointers.Replace(Cut(p.Token)))
	}
	slices.Reverse(tokens)
	return strings.Join(tokens, "")
}

// Path returns the tokens of a reference to a place in the same schema.
func Path(ref string) ([]string, error) {
	fragment, found := strings.CutPrefix(ref, "#")
	if !found {
		return nil, errors.New(Quoted(ref) + ` is refused: only references within the schema ("#…") are followed`)
	}
	at, err := url.PathUnescape(fragment)
	if at == "" && err == nil {
		return nil, nil
	}
	if err != nil || at[0] != '/' {
		return nil, errors.New(`is not followed: only references to a place ("#/…") are`)
	}
	tokens := strings.Split(at[1:], "/")
	for i, token := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	}
	return tokens, nil
}

// Find returns what stands at a path below v, nil if nothing does.
func Find(v json.RawMessage, path []string) json.RawMessage {
	for _, token := range path {
		var found json.RawMessage
		if i, err := strconv.Atoi(token); err == nil && v[0] == '[' {
			if all := Elements(v); i >= 0 && i < len(all) {
				found = all[i]
			}
		} else {
			found = rawjson.Get(v, token)
		}
		if found == nil {
			return nil
		}
		v = found
	}
	return v
}

// Quoted returns a string as JSON, cut.
func Quoted(s string) string { return string(rawjson.AppendString(nil, Cut(s))) }

// Cut keeps what a message shows of a text short.
func Cut(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == most {
			return s[:i] + "…"
		}
	}
	return s
}
