package schema

import "strconv"

// unevaluated are the members and elements of a value that no keyword has evaluated
// yet, for unevaluatedProperties and unevaluatedItems. Methods of nil do nothing.
type unevaluated struct {
	members map[string]bool
	items   map[int]bool
}

// unevaluatedOf returns all members or elements of v, nil if it has none.
func unevaluatedOf(v any) *unevaluated {
	var u unevaluated
	switch v := v.(type) {
	case map[string]any:
		u.members = make(map[string]bool, len(v))
		for name := range v {
			u.members[name] = true
		}
	case []any:
		u.items = make(map[int]bool, len(v))
		for i := range v {
			u.items[i] = true
		}
	default:
		return nil
	}
	return &u
}

// member takes out a member that has been evaluated.
func (u *unevaluated) member(name string) {
	if u != nil {
		delete(u.members, name)
	}
}

// item takes out an element that has been evaluated.
func (u *unevaluated) item(i int) {
	if u != nil {
		delete(u.items, i)
	}
}

// intersect takes out what is not in other.
func (u *unevaluated) intersect(other *unevaluated) {
	for name := range u.members {
		if !other.members[name] {
			delete(u.members, name)
		}
	}
	for i := range u.items {
		if !other.items[i] {
			delete(u.items, i)
		}
	}
}

// unevaluated checks what is left after all other keywords.
func (e *evaluation) unevaluated() {
	if v, ok := e.v.(map[string]any); ok && e.n.unevaluatedProperties != nil {
		for name := range e.left.members {
			e.add(e.part(e.n.unevaluatedProperties, v[name], name))
		}
		clear(e.left.members)
	}
	if v, ok := e.v.([]any); ok && e.n.unevaluatedItems != nil {
		for i := range e.left.items {
			e.add(e.part(e.n.unevaluatedItems, v[i], strconv.Itoa(i)))
		}
		clear(e.left.items)
	}
}
