package schema

import (
	"fmt"
	"math/big"
	"strings"

	"tabhub/hub/offer/keyword"
	"tabhub/spec/rawjson"
)

// Bounds in words: of a number, and of a count by what follows min and max in the keyword.
var (
	comparisons = map[string]string{
		"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "more than", "exclusiveMaximum": "less than", "multipleOf": "a multiple of",
	}
	counted = map[string]string{"Length": "character", "Items": "item", "Properties": "member", "Contains": "matching item"}
)

// what says what one keyword asks for and what it has got.
func (f failure) what() string {
	if comparison := comparisons[f.keyword]; comparison != "" {
		return "must be " + comparison + " " + decimal(f.want.(*big.Rat)) + ", got " + decimal(f.got.(*big.Rat))
	}
	switch f.keyword {
	case "type":
		return "must be " + f.want.(keyword.Types).String() + ", got " + f.got.(keyword.Types).String()
	case "enum":
		return oneOf(f.want.([]rawjson.Value)) + ", got " + shown(f.got.(*rawjson.Value))
	case "uniqueItems":
		twins := f.got.([2]int)
		return fmt.Sprintf("must not repeat an item, items %d and %d are equal", twins[0], twins[1])
	case "oneOf":
		fits := f.got.([2]int)
		return fmt.Sprintf("must fit exactly one alternative, fits the %d. and the %d.", fits[0]+1, fits[1]+1)
	case "not":
		return "is what its schema excludes"
	case "pattern":
		return "must match the pattern " + keyword.Cut(f.want.(string)) + ", got " + shown(f.got.(*rawjson.Value))
	case "false":
		return "is not allowed"
	}
	bound := map[string]string{"min": "at least", "max": "at most"}[f.keyword[:3]]
	thing := counted[f.keyword[3:]]
	if f.want != 1 {
		thing += "s"
	}
	return fmt.Sprintf("must have %s %d %s, has %d", bound, f.want, thing, f.got)
}

func oneOf(values []rawjson.Value) string {
	all := make([]string, len(values))
	for i := range values {
		all[i] = shown(&values[i])
	}
	if len(all) == 1 {
		return "must be " + all[0]
	}
	return "must be one of " + listed(all, 20)
}

func listed(all []string, most int) string {
	if len(all) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
	}
	return strings.Join(all, ", ")
}

// shown returns a value as far as it helps to see it.
func shown(v *rawjson.Value) string {
	switch v.Kind {
	case rawjson.KindString:
		return keyword.Quoted(v.Text)
	case rawjson.KindArray:
		return "an array"
	case rawjson.KindObject:
		return "an object"
	}
	return keyword.Cut(v.Text)
}

func decimal(r *big.Rat) string {
	if r.IsInt() {
		return keyword.Cut(r.Num().String())
	}
	digits, _ := r.FloatPrec()
	return keyword.Cut(r.FloatString(min(digits, 20)))
}
