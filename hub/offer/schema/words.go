package schema

import (
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"tabhub/spec/rawjson"
)

// what says what one keyword asks for and what it has got.
func (f failure) what() string {
	switch f.keyword {
	case "type":
		return "must be " + f.want.(typeSet).String() + ", got " + f.got.(typeSet).String()
	case "enum":
		return oneOf(f.want.([]rawjson.Value)) + ", got " + shown(f.got.(*rawjson.Value))
	case "minimum":
		return f.compared("at least")
	case "maximum":
		return f.compared("at most")
	case "exclusiveMinimum":
		return f.compared("more than")
	case "exclusiveMaximum":
		return f.compared("less than")
	case "multipleOf":
		return f.compared("a multiple of")
	case "minLength", "maxLength":
		return f.counted("character")
	case "minItems", "maxItems":
		return f.counted("item")
	case "minProperties", "maxProperties":
		return f.counted("member")
	case "minContains", "maxContains":
		return f.counted("matching item")
	case "uniqueItems":
		twins := f.got.([2]int)
		return fmt.Sprintf("must not repeat an item, items %d and %d are equal", twins[0], twins[1])
	case "oneOf":
		fits := f.got.([2]int)
		return fmt.Sprintf("must fit exactly one alternative, fits the %d. and the %d.", fits[0]+1, fits[1]+1)
	case "not":
		return "is what its schema excludes"
	case "pattern":
		return "must match the pattern " + cut(f.want.(string)) + ", got " + shown(f.got.(*rawjson.Value))
	}
	return "is not allowed"
}

// compared speaks of a number and a bound.
func (f failure) compared(how string) string {
	return "must be " + how + " " + decimal(f.want.(*big.Rat)) + ", got " + decimal(f.got.(*big.Rat))
}

// counted speaks of a number of things and its bound.
func (f failure) counted(thing string) string {
	if f.want != 1 {
		thing += "s"
	}
	bound := "at least"
	if strings.HasPrefix(f.keyword, "max") {
		bound = "at most"
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
		return quoted(v.Text)
	case rawjson.KindArray:
		return "an array"
	case rawjson.KindObject:
		return "an object"
	}
	return cut(v.Text)
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
