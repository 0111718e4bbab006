package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"tabhub/spec/rawjson"
)

// leaf says what one keyword asks for.
func leaf(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "must be " + strings.Join(k.Want, " or ") + ", got " + k.Got
	case *kind.Enum:
		return oneOf(k.Want) + ", got " + shown(k.Got)
	case *kind.Const:
		return oneOf([]any{k.Want}) + ", got " + shown(k.Got)
	case *kind.Minimum:
		return "must be at least " + decimal(k.Want) + ", got " + decimal(k.Got)
	case *kind.Maximum:
		return "must be at most " + decimal(k.Want) + ", got " + decimal(k.Got)
	case *kind.ExclusiveMinimum:
		return "must be more than " + decimal(k.Want) + ", got " + decimal(k.Got)
	case *kind.ExclusiveMaximum:
		return "must be less than " + decimal(k.Want) + ", got " + decimal(k.Got)
	case *kind.MultipleOf:
		return "must be a multiple of " + decimal(k.Want) + ", got " + decimal(k.Got)
	case *kind.MinLength:
		return count("at least", k.Want, "character", k.Got)
	case *kind.MaxLength:
		return count("at most", k.Want, "character", k.Got)
	case *kind.MinItems:
		return count("at least", k.Want, "item", k.Got)
	case *kind.MaxItems:
		return count("at most", k.Want, "item", k.Got)
	case *kind.MinProperties:
		return count("at least", k.Want, "member", k.Got)
	case *kind.MaxProperties:
		return count("at most", k.Want, "member", k.Got)
	case *kind.Pattern:
		return "must match the pattern " + cut(k.Want) + ", got " + shown(k.Got)
	case *kind.UniqueItems:
		return fmt.Sprintf("must not repeat an item, items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.OneOf:
		return fmt.Sprintf("must fit exactly one alternative, fits the %d. and the %d.", k.Subschemas[0]+1, k.Subschemas[1]+1)
	case *kind.Contains:
		return "must contain an item of the kind that its schema asks for"
	case *kind.Not:
		return "is what its schema excludes"
	case *kind.FalseSchema:
		return "is not allowed"
	case nil:
		return "is not valid"
	}
	return k.LocalizedString(message.NewPrinter(language.English))
}

func count(bound string, want int, thing string, got int) string {
	if want != 1 {
		thing += "s"
	}
	return fmt.Sprintf("must have %s %d %s, has %d", bound, want, thing, got)
}

func oneOf(values []any) string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = shown(v)
	}
	if len(all) == 1 {
		return "must be " + all[0]
	}
	return "must be one of " + list(all, 20)
}

func list(all []string, most int) string {
	if len(all) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
	}
	return strings.Join(all, ", ")
}

// shown returns a value as far as it helps to see it.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return quoted(v)
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	case json.Number:
		return cut(string(v))
	}
	return fmt.Sprint(v)
}

func quoted(s string) string { return string(rawjson.AppendString(nil, cut(s))) }

// cut keeps what is shown short.
func cut(s string) string {
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

func decimal(r *big.Rat) string {
	if r.IsInt() {
		return cut(r.Num().String())
	}
	digits, _ := r.FloatPrec()
	return cut(r.FloatString(min(digits, 20)))
}
