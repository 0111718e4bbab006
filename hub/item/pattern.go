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

// pattern matches the URIs that a URI template of RFC 6570 makes, whatever the
// values of its variables. It is immutable. Regular expressions do the same, but
// pages choose the templates, and can choose such that cost megabytes and seconds.
type pattern []piece

// piece is a part of a template: a text or, if class is not nil, an expression.
type piece struct {
	text  string // of an expression: what stands before its values, if there are any
	class *class
	sep   byte // stands between values
	seps  int  // how often at most; -1 for any number
}

// class is a set of the characters that a value may hold as they are.
type class [256]bool

const (
	unreserved = "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~"
	reserved   = "!#$&'()*+,/:;=?@[]"
	hexDigits  = "0123456789ABCDEFabcdef"
)

var (
	plainClass = newClass(unreserved + ",")  // values, and lists of them
	namedClass = newClass(unreserved + ",=") // with their names
	anyClass   = newClass(unreserved + reserved)
	hexClass   = newClass(hexDigits)
)

func newClass(chars string) *class {
	var c class
	for i := range len(chars) {
		c[chars[i]] = true
	}
	return &c
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
		var expression string
		expression, uri, _ = strings.Cut(rest, "}")
		p = append(p, parseExpression(expression))
	}
	return p, nil
}

// parseExpression reads what stands between the braces of a valid template.
func parseExpression(s string) piece {
	x := piece{class: plainClass, sep: ',', seps: strings.Count(s, ",")}
	if strings.Contains(s, "*") { // a list of any length, or one with names
		x.class, x.seps = namedClass, -1
	}
	switch op := s[0]; op {
	case '+':
		x.class = anyClass
	case '#':
		x.class, x.text = anyClass, "#"
	case '.', '/':
		x.text, x.sep = s[:1], op
	case ';', '&':
		x.class, x.text, x.sep = namedClass, s[:1], op
	case '?':
		x.class, x.text, x.sep = namedClass, "?", '&'
	}
	return x
}

// Steps is how much work matches may still be.
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
	if p[0].class == nil && !strings.HasPrefix(uri, p[0].text) {
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
		if x.class == nil {
			for i := first; i <= len(uri); i++ {
				if from[i] && strings.HasPrefix(uri[i:], x.text) {
					to[i+len(x.text)] = true
				}
			}
		} else {
			x.reach(uri, first, from, to)
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

// reach marks in to where an expression can end that begins at a place marked in
// from, none of which is before first.
func (x *piece) reach(uri string, first int, from, to []bool) {
	begin := -1 // where values can begin next
	next := -1  // where the values that began last can go on; -1: nowhere
	seps := 0   // between them so far
	for i := first; i <= len(uri); i++ {
		if from[i] {
			to[i] = true // there may be no values at all
			if strings.HasPrefix(uri[i:], x.text) {
				begin = i + len(x.text)
			}
		}
		// Values that begin later can go wherever those that began before can.
		if i == begin {
			next, seps = i, 0
		}
		if i != next {
			continue
		}
		to[i] = true
		switch {
		case i == len(uri):
		case x.class[uri[i]]:
			next++
		case uri[i] == '%' && i+2 < len(uri) && hexClass[uri[i+1]] && hexClass[uri[i+2]]:
			next += 3
		case uri[i] == x.sep && (x.seps < 0 || seps < x.seps):
			next++
			seps++
		default:
			next = -1
		}
	}
}
