package clientconf

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

const blank = " \t\r\n"

func isBlank(space hujson.Extra) bool { return len(bytes.Trim(space, blank)) == 0 }

// insert puts a member first, where nothing that follows has to move and no comma is to
// be added to what is another's.
func (o *object) insert(name string, value hujson.ValueTrimmed) {
	m := hujson.ObjectMember{
		Name:  hujson.Value{Value: hujson.Literal(marshal(name))},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value},
	}
	switch {
	case len(o.Members) > 0:
		next := &o.Members[0].Name
		m.Name.BeforeExtra, next.BeforeExtra = o.split(string(next.BeforeExtra))
	case o.inline:
		m.Name.BeforeExtra = o.AfterExtra
		o.AfterExtra = nil
	default:
		// Comments of the empty object stay, before the member.
		m.Name.BeforeExtra = hujson.Extra(strings.TrimRight(string(o.AfterExtra), blank) + o.line(o.depth+1))
		o.AfterExtra = hujson.Extra(o.line(o.depth))
	}
	o.Members = append([]hujson.ObjectMember{m}, o.Members...)
}

// split shares the space before the first member between a new one and that. A comment
// on the brace's own line stays there; those on later lines are the next member's.
func (o *object) split(space string) (first, next hujson.Extra) {
	if o.inline {
		comments := strings.TrimLeft(space, blank)
		lead := space[:len(space)-len(comments)]
		if lead == "" {
			space = " " + space
		}
		return hujson.Extra(lead), hujson.Extra(space)
	}
	head := ""
	if i := strings.IndexByte(space, '\n'); strings.HasPrefix(strings.TrimLeft(space, " \t"), "//") {
		head = strings.TrimRight(space[:i], "\r")
		space = space[len(head):]
	}
	return hujson.Extra(head + o.line(o.depth+1)), hujson.Extra(space)
}

// remove takes a member away, if there is one. Comments around it stay.
func (o *object) remove(name string) {
	i := o.index(name)
	if i < 0 {
		return
	}
	gone := o.Members[i]
	o.Members = append(o.Members[:i:i], o.Members[i+1:]...)
	switch {
	case i == 0 && len(o.Members) == 0:
		o.AfterExtra = o.join(gone.Name.BeforeExtra, o.AfterExtra)
		if isBlank(o.AfterExtra) {
			o.AfterExtra = nil
		}
	case i == 0 && o.inline && isBlank(gone.Name.BeforeExtra):
		next := &o.Members[0].Name
		next.BeforeExtra = append(bytes.Clone(gone.Name.BeforeExtra), bytes.TrimLeft(next.BeforeExtra, blank)...)
	case i < len(o.Members):
		next := &o.Members[i].Name
		next.BeforeExtra = o.join(gone.Name.BeforeExtra, next.BeforeExtra)
	default:
		// A comma follows the last member if and only if its AfterExtra is not nil.
		last := &o.Members[i-1].Value
		o.AfterExtra = o.join(gone.Name.BeforeExtra, o.AfterExtra)
		switch {
		case gone.Value.AfterExtra == nil && last.AfterExtra != nil:
			o.AfterExtra = o.join(last.AfterExtra, o.AfterExtra)
			last.AfterExtra = nil
		case gone.Value.AfterExtra != nil && last.AfterExtra == nil:
			last.AfterExtra = hujson.Extra{}
		}
	}
}

// join returns the space that is left when what stood between two spaces is gone: the
// second, after the comments of the first.
func (o *object) join(first, second hujson.Extra) hujson.Extra {
	comments := bytes.TrimRight(first, blank)
	switch {
	case len(comments) == 0:
		return second
	case !bytes.ContainsRune(second, '\n'):
		// What follows must not become part of a comment.
		second = append(hujson.Extra(o.style.newline), second...)
	}
	return append(bytes.Clone(comments), second...)
}
