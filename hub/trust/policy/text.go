package policy

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// The names of effects, classes and layers, by their values.
var (
	effects = []string{"", "allow", "ask", "deny"}
	classes = []string{"", "read", "write", "act", "destructive"}
	layers  = []string{"nothing", "own page", "pause", "scope", "browser", "mode", "flow", "file", "rule", "preset"}
)

// By names what decided: a rule by its ID, or the bound above the rules.
func (d Decision) By() string {
	switch {
	case d.Rule != nil:
		return d.Rule.ID
	case d.Effect == Unset:
		return ""
	}
	return d.Layer.String()
}

func (e Effect) String() string { return effects[e] }
func (c Class) String() string  { return classes[c] }
func (l Layer) String() string  { return layers[l] }
func (p Pin) String() string    { return hex.EncodeToString(p[:]) }

func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }
func (c Class) MarshalText() ([]byte, error)  { return []byte(c.String()), nil }
func (l Layer) MarshalText() ([]byte, error)  { return []byte(l.String()), nil }
func (p Pin) MarshalText() ([]byte, error)    { return []byte(p.String()), nil }

func (e *Effect) UnmarshalText(text []byte) (err error) {
	*e, err = parse[Effect]("the effect", effects, text)
	return err
}

func (c *Class) UnmarshalText(text []byte) (err error) {
	*c, err = parse[Class]("the class", classes, text)
	return err
}

func (l *Layer) UnmarshalText(text []byte) error {
	i := slices.Index(layers, string(text))
	if i < 0 {
		return fmt.Errorf("there is no layer %.40q", text)
	}
	*l = Layer(i)
	return nil
}

func (p *Pin) UnmarshalText(text []byte) error {
	if n, err := hex.Decode(p[:], text[:min(len(text), 2*len(p))]); err != nil || n < len(p) || len(text) > 2*len(p) {
		return fmt.Errorf("the pin is %.80q; it must be %d hex digits", text, 2*len(p))
	}
	return nil
}

// parse returns the value that a text names. The first of names stands for no value.
func parse[T ~uint8](what string, names []string, text []byte) (T, error) {
	if i := slices.Index(names[1:], string(text)); i >= 0 {
		return T(i + 1), nil
	}
	return 0, fmt.Errorf("%s is %.40q; it may be %s", what, text, or(names[1:]))
}

// or lists what something may be.
func or(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
