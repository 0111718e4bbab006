package pagecheck

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"tabhub/spec/rawjson"
)

// number makes a number near 1 that the schema allows.
func number(v *rawjson.Value) (json.RawMessage, error) {
	at := func(keyword string) *big.Rat {
		if m := v.Member(keyword); m != nil && m.Kind == rawjson.KindNumber && len(m.Text) < 100 && !strings.ContainsAny(m.Text, "eE") {
			n, _ := new(big.Rat).SetString(m.Text)
			return n
		}
		return nil
	}
	step := at("multipleOf")
	whole := typeOf(v) == "integer"
	if step == nil || step.Sign() <= 0 {
		step = big.NewRat(1, 1)
	}
	if whole && !step.IsInt() {
		step = new(big.Rat).SetInt(step.Num()) // the least whole multiple
	}
	n := new(big.Rat).Set(step)
	low, high := at("minimum"), at("maximum")
	above, below := at("exclusiveMinimum"), at("exclusiveMaximum")
	top := high
	if top == nil || below != nil && below.Cmp(top) < 0 {
		top = below
	}
	if high != nil && n.Cmp(high) > 0 || below != nil && n.Cmp(below) >= 0 {
		n = floor(top, step)
		if below != nil && n.Cmp(below) >= 0 {
			n.Sub(n, step)
		}
	}
	bottom := low
	if bottom == nil || above != nil && above.Cmp(bottom) > 0 {
		bottom = above
	}
	if bottom != nil && (n.Cmp(bottom) < 0 || above != nil && n.Cmp(above) <= 0) {
		n = floor(bottom, step)
		for n.Cmp(bottom) < 0 || above != nil && n.Cmp(above) <= 0 {
			n.Add(n, step)
		}
	}
	tooHigh := high != nil && n.Cmp(high) > 0 || below != nil && n.Cmp(below) >= 0
	if tooHigh && !whole && v.Member("multipleOf") == nil && bottom != nil {
		n = new(big.Rat).Add(bottom, top)
		n.Quo(n, big.NewRat(2, 1))
	}
	if n.IsInt() {
		return json.RawMessage(n.Num().String()), nil
	}
	return json.RawMessage(strings.TrimRight(n.FloatString(12), "0")), nil
}

// floor returns the largest multiple of step that is not above n.
func floor(n, step *big.Rat) *big.Rat {
	q := new(big.Rat).Quo(n, step)
	whole := new(big.Int).Div(q.Num(), q.Denom()) // of Euclid, and the denominator is above 0
	return q.Mul(new(big.Rat).SetInt(whole), step)
}

// formats are texts of the formats that JSON Schema names.
var formats = map[string]string{
	"date": "2026-01-31", "time": "12:30:00Z", "date-time": "2026-01-31T12:30:00Z", "duration": "P1D",
	"email": "ann@example.com", "idn-email": "ann@example.com", "hostname": "example.com", "idn-hostname": "example.com",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "uri": "https://example.com/", "url": "https://example.com/", "iri": "https://example.com/",
	"uri-reference": "/", "iri-reference": "/", "uri-template": "/{id}", "uuid": "7d444840-9dc0-11d1-b245-5ffdce74fad2",
	"json-pointer": "/a", "relative-json-pointer": "0", "regex": "a", "color": "#336699",
}

// text makes a text.
func text(v *rawjson.Value) (json.RawMessage, error) {
	s := "text"
	if f := v.Member("format"); f != nil && formats[f.Text] != "" {
		s = formats[f.Text]
	}
	if p := v.Member("pattern"); p != nil {
		made, err := fromPattern(p.Text, s)
		if err != nil {
			return nil, err
		}
		s = made
	}
	least, err := count(v, "minLength", 0)
	if err != nil {
		return nil, err
	}
	if missing := least - len([]rune(s)); missing > 0 {
		s += strings.Repeat("x", missing)
	}
	if m := v.Member("maxLength"); m != nil && len(m.Text) < 4 {
		if most, err := count(v, "maxLength", 0); err == nil && len([]rune(s)) > most {
			s = string([]rune(s)[:most])
		}
	}
	return rawjson.AppendString(nil, s), nil
}

// fromPattern makes a text that a pattern matches: usual if it does, else one with as little
// as the pattern asks for.
func fromPattern(pattern, usual string) (string, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", fmt.Errorf("no text can be made by the pattern %.100q", pattern)
	}
	if re.MatchString(usual) {
		return usual, nil
	}
	made := shortest(pattern)
	if !re.MatchString(made) {
		return "", fmt.Errorf("no text can be made by the pattern %.100q", pattern)
	}
	return made, nil
}
