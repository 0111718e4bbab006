package schema

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tabhub/spec/rawjson"
)

// maxRefs is how many distinct references there may be in a schema.
const maxRefs = 128

// reference is a reference that is not yet resolved.
type reference struct {
	from         *node
	keyword, ref string
}

// anchor is a part of the schema that gives itself a name.
type anchor struct {
	name string
	part *rawjson.Value
}

// refer notes a reference of n, which is resolved when the whole schema is known.
func (c *compiler) refer(n *node, key, ref string) {
	c.uses++
	if !strings.HasPrefix(ref, "#") {
		c.fail(`%s %.100q is refused: only references within the schema ("#…") are followed`, key, ref)
	}
	if !slices.Contains(c.refs, ref) {
		c.refs = append(c.refs, ref)
	}
	if len(c.refs) > maxRefs {
		c.fail("more than %d different references", maxRefs)
	}
	// Since 2020-12 there is one dynamic scope, the schema itself: no part with a name
	// of its own may have references.
	if key == "$ref" || key == "$recursiveRef" && c.draft == draft2019 || key == "$dynamicRef" && c.draft == draft2020 {
		c.pending = append(c.pending, reference{n, key, ref})
	}
}

// resolve returns the node that a reference within the schema leads to.
func (c *compiler) resolve(ref string) (*node, error) {
	at, err := url.PathUnescape(ref[len("#"):])
	if err != nil {
		return nil, err
	}
	part := c.doc
	switch {
	case strings.HasPrefix(at, "/"):
		part = c.part(at)
	case at != "":
		part = nil
		n := 0
		for _, a := range c.anchors {
			if a.name == at {
				part = a.part
				n++
			}
		}
		if n > 1 {
			return nil, fmt.Errorf("leads to %d parts of the schema", n)
		}
	}
	if part == nil {
		return nil, errors.New("is not found")
	}
	// It may be in a place that is no schema's.
	n, err := c.wellFormed(part)
	switch {
	case c.err != nil:
		return nil, fmt.Errorf("leads to what is not part of the schema: %w", err)
	case err != nil:
		return nil, fmt.Errorf("leads to what is no schema: %w", err)
	}
	return n, nil
}

// part returns the value at a JSON pointer, nil if there is none.
func (c *compiler) part(at string) *rawjson.Value {
	v := c.doc
	for token := range strings.SplitSeq(at[1:], "/") {
		if i, err := strconv.Atoi(token); v.Kind == rawjson.KindArray && err == nil && i >= 0 && i < len(v.Elements) {
			v = &v.Elements[i]
		} else if v = v.Member(strings.NewReplacer("~1", "/", "~0", "~").Replace(token)); v == nil {
			return nil
		}
	}
	return v
}

// escape returns a token of a JSON pointer.
func escape(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}
