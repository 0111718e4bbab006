package settings

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

const maxNumber = 1 << 30

type textValue string

func text(to *string) pflag.Value { return (*textValue)(to) }

func (v *textValue) Set(s string) error { *v = textValue(s); return nil }
func (v *textValue) String() string     { return string(*v) }
func (v *textValue) Type() string       { return "string" }

type ChoiceValue struct {
	to      *string
	Choices []string
}

func oneOfThese(to *string, is string, choices ...string) pflag.Value {
	*to = is
	return &ChoiceValue{to, choices}
}

func (v *ChoiceValue) Set(s string) error {
	if !slices.Contains(v.Choices, s) {
		last := len(v.Choices) - 1
		return fmt.Errorf("it may be %s or %s", strings.Join(v.Choices[:last], ", "), v.Choices[last])
	}
	*v.to = s
	return nil
}
func (v *ChoiceValue) String() string { return *v.to }
func (v *ChoiceValue) Type() string   { return "string" }

type yesNoValue bool

func yesNo(to *bool) pflag.Value { return (*yesNoValue)(to) }

func (v *yesNoValue) Set(s string) error {
	is, err := strconv.ParseBool(s)
	if err != nil {
		return errors.New("it may be true or false")
	}
	*v = yesNoValue(is)
	return nil
}
func (v *yesNoValue) String() string { return strconv.FormatBool(bool(*v)) }
func (v *yesNoValue) Type() string   { return "bool" }

type numberValue struct {
	to       *int
	min, max int
}

func number(to *int, is, min, max int) pflag.Value {
	*to = is
	return &numberValue{to, min, max}
}

func (v *numberValue) Set(s string) error {
	n, err := strconv.Atoi(s)
	switch {
	case err == nil && n >= v.min && n <= v.max:
		*v.to = n
		return nil
	case v.max < maxNumber:
		return fmt.Errorf("it may be %d to %d", v.min, v.max)
	}
	return fmt.Errorf("it may be a number from %d on", v.min)
}
func (v *numberValue) String() string { return strconv.Itoa(*v.to) }
func (v *numberValue) Type() string   { return "int" }

type periodValue struct {
	to  *time.Duration
	min time.Duration
}

func period(to *time.Duration, is, min time.Duration) pflag.Value {
	*to = is
	return &periodValue{to, min}
}

func (v *periodValue) Set(s string) error {
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return errors.New("write it as 90s or 1h30m")
	case d < v.min:
		return errors.New("it must be above 0")
	}
	*v.to = d
	return nil
}
func (v *periodValue) String() string { return v.to.String() }
func (v *periodValue) Type() string   { return "duration" }

// listValue is a list. Of a flag, each time that it is given adds to it, and commas separate.
type listValue struct {
	to    *[]string
	check func(string) error
	begun bool
}

func list(to *[]string, check func(string) error, is ...string) pflag.Value {
	*to = is
	return &listValue{to: to, check: check}
}

// Replace sets all elements.
func (v *listValue) Replace(words []string) error {
	for _, word := range words {
		if v.check != nil {
			if err := v.check(word); err != nil {
				return fmt.Errorf("%q: %w", word, err)
			}
		}
	}
	*v.to = slices.Clone(words)
	return nil
}

func (v *listValue) Set(s string) error {
	words := splitList(s)
	if v.begun {
		words = append(slices.Clone(*v.to), words...)
	}
	v.begun = true
	return v.Replace(words)
}
func (v *listValue) String() string { return strings.Join(*v.to, ",") }
func (v *listValue) Type() string   { return "strings" }
