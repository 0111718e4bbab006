package spec

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/go-playground/validator/v10"
)

// Validate checks a message against the validate tags of its type. The error names each
// field that is wrong, as the message spells it, and says what it must be. A tab's URL or
// title that is too long is cut rather than refused: the tools that come with it
// are worth more. Validate is safe for concurrent use of different messages.
func Validate(message any) error {
	if m, ok := message.(interface{ Cut() }); ok {
		m.Cut()
	}
	err := checker().Struct(message)
	fields, ok := errors.AsType[validator.ValidationErrors](err)
	if !ok {
		return err // nil, or message is no pointer to a struct
	}
	problems := make([]string, len(fields))
	for i, f := range fields {
		problems[i] = fieldPath(f) + " " + rule(f)
	}
	return errors.New(strings.Join(problems, "; "))
}

// checker caches what it has read of each type's tags.
var checker = sync.OnceValue(func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(jsonName)
	return v
})

// jsonName returns the name of a field in JSON.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// fieldPath returns the field's path without the name of the message type.
func fieldPath(f validator.FieldError) string {
	_, path, found := strings.Cut(f.Namespace(), ".")
	if !found {
		return f.Field()
	}
	return path
}

// rule says what a field must be.
func rule(f validator.FieldError) string {
	bound := func(most string) string {
		switch f.Kind() {
		case reflect.String:
			return fmt.Sprintf("must have %s%s characters", most, f.Param())
		case reflect.Slice, reflect.Map, reflect.Array:
			return fmt.Sprintf("must have %s%s elements", most, f.Param())
		}
		return fmt.Sprintf("must be %s%s", most, f.Param())
	}
	switch f.Tag() {
	case "required":
		return "is missing"
	case "max":
		return bound("at most ")
	case "min":
		return bound("at least ")
	case "len":
		return bound("")
	case "printascii":
		return "must be printable ASCII"
	case "oneof":
		return "must be one of " + strings.Join(strings.Fields(f.Param()), ", ")
	}
	return fmt.Sprintf("does not satisfy %q", f.Tag())
}
