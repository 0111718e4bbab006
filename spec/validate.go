package spec

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/go-playground/validator/v10"
)

// Validate checks a message of this package against its validate tags. The error
// names each field that is wrong, as the message spells it, and says what it must
// be. It is safe for concurrent use.
func Validate(message any) error {
	err := checker().Struct(message)
	if err == nil {
		return nil
	}
	var fields validator.ValidationErrors
	if !errors.As(err, &fields) {
		return fmt.Errorf("validate %T: %w", message, err)
	}
	problems := make([]string, len(fields))
	for i, f := range fields {
		problems[i] = fieldPath(f) + " " + rule(f)
	}
	return errors.New(strings.Join(problems, "; "))
}

var checker = sync.OnceValue(func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(f reflect.StructField) string {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return name
	})
	return v
})

// fieldPath returns the field's path without the name of the message type.
func fieldPath(f validator.FieldError) string {
	_, path, found := strings.Cut(f.Namespace(), ".")
	if !found {
		return f.Field()
	}
	return path
}

func rule(f validator.FieldError) string {
	unit := "characters"
	switch f.Kind() {
	case reflect.Slice, reflect.Map, reflect.Array:
		unit = "elements"
	}
	switch f.Tag() {
	case "required":
		return "is missing"
	case "max":
		return fmt.Sprintf("must have at most %s %s", f.Param(), unit)
	case "min":
		return fmt.Sprintf("must have at least %s %s", f.Param(), unit)
	case "len":
		return fmt.Sprintf("must have %s %s", f.Param(), unit)
	case "printascii":
		return "must be printable ASCII"
	}
	return fmt.Sprintf("does not satisfy %q", f.Tag())
}
