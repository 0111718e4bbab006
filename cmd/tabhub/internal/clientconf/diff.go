package clientconf

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"

	"github.com/aymanbagabas/go-udiff"
	"github.com/tailscale/hujson"
)

// Diff shows how the file at path changes. It shows the values of the server name, and only the
// structure of all else: the keys of other servers are not for the screen.
func (c Client) Diff(path, name string, before, after []byte) (string, error) {
	from := path
	if len(before) == 0 {
		from = "/dev/null"
	}
	old, err := c.mask(before, name)
	if err != nil {
		return "", err
	}
	next, err := c.mask(after, name)
	if err != nil {
		return "", err
	}
	return udiff.Unified(from, path, old, next), nil
}

// mask returns the text with all values and comments hidden, except for the command or URL of the
// server name.
func (c Client) mask(text []byte, name string) (string, error) {
	body := bytes.ReplaceAll(bytes.TrimPrefix(text, bom), []byte("\r\n"), []byte("\n"))
	if len(bytes.TrimSpace(body)) == 0 {
		return "", nil
	}
	v, err := hujson.Parse(body)
	if err != nil {
		return "", fmt.Errorf("show the change: %w", err)
	}
	hide(&v, [][]string{{c.section}, {name}, {"command", "args", c.url, "type"}})
	return string(v.Pack()), nil
}

// nothing makes hide show nothing of a value.
var nothing = [][]string{nil}

// hide hides the strings, numbers and comments in v. shown are the members, level by level, that
// lead to those that stay.
func hide(v *hujson.Value, shown [][]string) {
	v.BeforeExtra, v.AfterExtra = hideComments(v.BeforeExtra), hideComments(v.AfterExtra)
	if len(shown) == 0 {
		return
	}
	switch x := v.Value.(type) {
	case hujson.Literal:
		if k := x.Kind(); k == '"' || k == '0' {
			v.Value = hujson.String("***")
		}
	case *hujson.Array:
		for i := range x.Elements {
			hide(&x.Elements[i], nothing)
		}
		x.AfterExtra = hideComments(x.AfterExtra)
	case *hujson.Object:
		for i := range x.Members {
			m := &x.Members[i]
			below := nothing
			if slices.Contains(shown[0], nameOf(*m)) {
				below = shown[1:]
			}
			m.Name.BeforeExtra, m.Name.AfterExtra = hideComments(m.Name.BeforeExtra), hideComments(m.Name.AfterExtra)
			hide(&m.Value, below)
		}
		x.AfterExtra = hideComments(x.AfterExtra)
	}
}

var comment = regexp.MustCompile(`//[^\n]*|(?s:/\*.*?\*/)`)

// hideComments keeps nil, which says that there is no trailing comma.
func hideComments(e hujson.Extra) hujson.Extra {
	if len(e) == 0 {
		return e
	}
	return comment.ReplaceAllFunc(e, func(c []byte) []byte {
		if bytes.HasPrefix(c, []byte("//")) {
			return []byte("// ***")
		}
		return []byte("/* *** */")
	})
}
