package spec

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Validate checks a message, a pointer to a struct, against the validate tags of its type. The
// error names each field that is wrong, as the message spells it, and says what it must be. A tab's
// URL or title that is too long is cut rather than refused: the tools that come with it
// are worth more. Validate is safe for concurrent use of different messages.
//
// A tag has rules, separated by commas, of which the first that is broken is told: required,
// omitempty (the rest is not for what is missing), min, max and len (of a number, or of characters
// or elements), printascii, oneof, and dive (the rest is for each element).
func Validate(message any) error {
	if m, ok := message.(interface{ Cut() }); ok {
		m.Cut()
	}
	if problems := checkStruct(reflect.ValueOf(message).Elem()); problems != nil {
		return errors.New(strings.Join(problems, "; "))
	}
	return nil
}

// checked is a field of a struct that has rules, or fields that have.
type checked struct {
	index int
	name  string
	rules []rule
}

type rule struct {
	name, param string
	bound       int // the parameter of min, max and len
}

// checkedOf has the []checked of each type that has come up.
var checkedOf sync.Map

func checkedFields(t reflect.Type) []checked {
	if known, ok := checkedOf.Load(t); ok {
		return known.([]checked)
	}
	var all []checked
	for i := range t.NumField() {
		f := t.Field(i)
		c := checked{index: i, name: jsonName(f)}
		if tag := f.Tag.Get("validate"); tag != "" {
			for one := range strings.SplitSeq(tag, ",") {
				name, param, _ := strings.Cut(one, "=")
				bound, _ := strconv.Atoi(param)
				c.rules = append(c.rules, rule{name, param, bound})
			}
		}
		if f.IsExported() && (c.rules != nil || f.Type.Kind() == reflect.Struct) {
			all = append(all, c)
		}
	}
	checkedOf.Store(t, all)
	return all
}

func checkStruct(v reflect.Value) (problems []string) {
	for _, f := range checkedFields(v.Type()) {
		for _, problem := range check(v.Field(f.index), f.rules) {
			problems = append(problems, f.name+problem)
		}
	}
	return problems
}

// check returns what is wrong with v, to be read after its name.
func check(v reflect.Value, rules []rule) (problems []string) {
	for i, r := range rules {
		broken := false
		switch r.name {
		case "omitempty":
			if v.IsZero() {
				return nil
			}
		case "required":
			broken = v.IsZero()
		case "min":
			broken = sizeOf(v) < r.bound
		case "max":
			broken = sizeOf(v) > r.bound
		case "len":
			broken = sizeOf(v) != r.bound
		case "printascii":
			broken = strings.ContainsFunc(v.String(), func(c rune) bool { return c < ' ' || c > '~' })
		case "oneof":
			broken = !slices.Contains(strings.Fields(r.param), v.String())
		case "dive":
			for at := range v.Len() {
				for _, problem := range check(v.Index(at), rules[i+1:]) {
					problems = append(problems, fmt.Sprintf("[%d]%s", at, problem))
				}
			}
			return problems
		default:
			panic("no rule is named " + r.name)
		}
		if broken {
			return []string{r.problem(v)}
		}
	}
	if v.Kind() == reflect.Struct {
		for _, problem := range checkStruct(v) {
			problems = append(problems, "."+problem)
		}
	}
	return problems
}

// sizeOf is what min, max and len are about.
func sizeOf(v reflect.Value) int {
	switch v = reflect.Indirect(v); v.Kind() {
	case reflect.String:
		return utf8.RuneCountInString(v.String())
	case reflect.Slice, reflect.Map:
		return v.Len()
	}
	return int(v.Int())
}

// problem says what v must be.
func (r rule) problem(v reflect.Value) string {
	switch r.name {
	case "required":
		return " is missing"
	case "printascii":
		return " must be printable ASCII"
	case "oneof":
		return " must be one of " + strings.Join(strings.Fields(r.param), ", ")
	}
	most := map[string]string{"min": "at least ", "max": "at most ", "len": ""}[r.name] + r.param
	switch reflect.Indirect(v).Kind() {
	case reflect.String:
		return " must have " + most + " characters"
	case reflect.Slice, reflect.Map:
		return " must have " + most + " elements"
	}
	return " must be " + most
}

// jsonName returns the name of a field in JSON.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
