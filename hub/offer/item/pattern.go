package item

import (
	"errors"
	"fmt"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"tabhub/spec"
)

// maxVariables bounds the variables of a URI template.
const maxVariables = 16

// pattern matches the URIs that a URI template of RFC 6570 makes, and some more, which the page
// refuses itself. It is immutable. Regular expressions do the same, but
// pages could choose templates that cost megabytes and seconds.
type pattern []piece

// piece is a part of a template: a text or an expression.
type piece struct {
	text  string // "": an expression
	plain bool   // of one: its values have no "/", "?" and "#"
}

// parseTemplate reads a URI template. The error is a reason for the page's author.
func parseTemplate(uri string) (pattern, error) {
	t, err := uritemplate.New(uri)
	if err != nil {
		return nil, errors.New("uriTemplate is not an RFC 6570 template")
	}
	if n := len(t.Varnames()); n > maxVariables || strings.Count(uri, "{") > maxVariables {
		return nil, fmt.Errorf("uriTemplate has more than %d variables", maxVariables)
	}
	var p pattern
	for uri != "" {
		text, rest, found := strings.Cut(uri, "{")
		if text != "" {
			p = append(p, piece{text: text})
		}
		if !found {
			break
		}
		p = append(p, piece{plain: !strings.ContainsAny(rest[:1], "+#./;?&")})
		_, uri, _ = strings.Cut(rest, "}")
	}
	return p, nil
}

// Steps is how much work matching may still take.
type Steps int

// MaxSteps bounds the work of finding the template that makes a URI: some ten
// milliseconds, while a thousand usual templates take less than one.
const MaxSteps Steps = 4 << 20

// match reports whether the template makes a URI. It takes time in proportion to the
// lengths of both, which it takes from left; if nothing is left it reports false.
func (p pattern) match(uri string, left *Steps) bool {
	if len(uri) > spec.MaxURI || len(p) == 0 {
		return false
	}
	*left--
	if !strings.HasPrefix(uri, p[0].text) {
		return false
	}
	// The places in the URI up to which the pieces so far can reach.
	var room [2][spec.MaxURI + 1]bool
	from, to := room[0][:len(uri)+1], room[1][:len(uri)+1]
	from[0] = true
	first := 0
	for _, x := range p {
		if *left -= Steps(len(uri) - first + 1); *left < 0 {
			return false
		}
		clear(to)
		for i := first; i <= len(uri); i++ {
			switch {
			case x.text == "":
				to[i] = from[i] || i > first && to[i-1] && !(x.plain && strings.IndexByte("/?#", uri[i-1]) >= 0)
			case from[i] && strings.HasPrefix(uri[i:], x.text):
				to[i+len(x.text)] = true
			}
		}
		for first <= len(uri) && !to[first] {
			first++
		}
		if first > len(uri) {
			return false
		}
		from, to = to, from
	}
	return from[len(uri)]
}
