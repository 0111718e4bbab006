package schema

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"tabhub/spec/rawjson"
)

// failure is one keyword that a value violates.
type failure struct {
	at        *place
	keyword   string
	want, got any         // by keyword, see words.go
	optional  bool        // of a null in place of an argument that may be left out
	branches  [][]failure // of each schema of an anyOf or oneOf
}

// place is where a value is within the arguments; nil is all of them.
type place struct {
	parent *place
	token  string
}

// maxCheck is how much work one check may take: a second or so at the very worst.
const maxCheck = 5_000_000

// budget is the work that is left for a check. Without it a page could register a few
// hundred bytes, references that multiply with each other or with the depth of the
// arguments, that keep the hub busy for years.
type budget int

// spend takes what evaluating v costs and reports whether there is enough left.
func (b *budget) spend(n *node, v *rawjson.Value) bool {
	if *b <= 0 {
		return false
	}
	cost := 1 + len(n.required) + len(v.Members) + len(v.Elements)
	for _, values := range n.values {
		cost += len(values)
	}
	*b -= budget(cost)
	if n.values != nil && (v.Members != nil || v.Elements != nil) {
		values(v, func(*rawjson.Value) { *b-- }) // it is compared in depth
	}
	return *b > 0
}

// evaluation checks one value against one node.
type evaluation struct {
	left *budget
	n    *node
	v    *rawjson.Value
	at   *place
	fast bool // the first failure is enough, and nobody asks where it is
	all  []failure
}

// evaluate returns how v fails n. If fast, it stops at the first failure. If nothing is
// left in the end, the result says nothing.
func (left *budget) evaluate(n *node, v *rawjson.Value, at *place, fast bool) []failure {
	if !left.spend(n, v) {
		return nil
	}
	e := evaluation{left: left, n: n, v: v, at: at, fast: fast}
	switch {
	case n.never:
		e.fail("false", nil, nil)
		return e.all
	// What has another type or value fails the rest for no other reason.
	case !e.hasType(), !e.hasValue():
		return e.all
	}
	switch v.Kind {
	case rawjson.KindNumber:
		e.number()
	case rawjson.KindString:
		if n.length != bare[0].length {
			e.size("Length", n.length, utf8.RuneCountInString(v.Text))
		}
		if n.pattern != nil && !n.pattern.MatchString(v.Text) {
			e.fail("pattern", n.pattern.written, v)
		}
	case rawjson.KindArray:
		e.size("Items", n.count, len(v.Elements))
		for i := range v.Elements {
			sub := n.items
			if i < len(n.prefix) {
				sub = n.prefix[i]
			}
			if sub != nil {
				e.add(sub, &v.Elements[i], strconv.Itoa(i))
			}
		}
	case rawjson.KindObject:
		e.object()
	}
	for _, sub := range slices.Concat(n.refs, n.allOf) {
		e.same(sub)
	}
	for _, alternatives := range n.anyOf {
		e.anyOf(alternatives)
	}
	return e.all
}

func (e *evaluation) fail(keyword string, want, got any) {
	e.all = append(e.all, failure{at: e.at, keyword: keyword, want: want, got: got})
}

// done reports whether more failures are of no use.
func (e *evaluation) done() bool { return e.fast && e.all != nil }

// same checks the same value against another node.
func (e *evaluation) same(n *node) {
	if !e.done() {
		e.take(e.left.evaluate(n, e.v, e.at, e.fast))
	}
}

// add checks an element or a member, and returns how it fails.
func (e *evaluation) add(n *node, v *rawjson.Value, token string) []failure {
	if e.done() {
		return nil
	}
	var at *place
	if !e.fast {
		at = &place{e.at, token}
	}
	all := e.left.evaluate(n, v, at, e.fast)
	e.take(all)
	return e.all[len(e.all)-len(all):]
}

// take adds failures of another evaluation. To carry many up costs more than to find them.
func (e *evaluation) take(all []failure) {
	*e.left -= budget(16 * len(all))
	e.all = append(e.all, all...)
}

func (e *evaluation) hasType() bool {
	want, is := e.n.types, typeOf(e.v)
	if want == 0 || want&is != 0 || is == typeNumber && want&typeInteger != 0 && isInt(e.v.Text) {
		return true
	}
	e.fail("type", want, is)
	return false
}

func (e *evaluation) hasValue() bool {
	for _, values := range e.n.values {
		if !slices.ContainsFunc(values, func(v rawjson.Value) bool { return equal(v, *e.v) }) {
			e.fail("enum", values, e.v)
			return false
		}
	}
	return true
}

func (e *evaluation) number() {
	if e.n.bounds == nil {
		return
	}
	got := numberOf(e.v.Text)
	for _, b := range e.n.bounds {
		ok := false
		switch b.keyword {
		case "minimum":
			ok = got.Cmp(b.value) >= 0
		case "maximum":
			ok = got.Cmp(b.value) <= 0
		case "exclusiveMinimum":
			ok = got.Cmp(b.value) > 0
		case "exclusiveMaximum":
			ok = got.Cmp(b.value) < 0
		case "multipleOf":
			ok = isMultipleOf(got, b.value)
		}
		if !ok {
			e.fail(b.keyword, b.value, got)
		}
	}
}

// size checks a count against the keywords min… and max….
func (e *evaluation) size(what string, want size, got int) {
	if got < want.least {
		e.fail("min"+what, want.least, got)
	}
	if want.most >= 0 && got > want.most {
		e.fail("max"+what, want.most, got)
	}
}

func (e *evaluation) object() {
	n := e.n
	var missing []string
	for _, name := range n.required {
		if e.v.Member(name) == nil {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		e.fail("required", nil, missing)
	}
	if n.properties == nil && n.additional == nil {
		return
	}
	for i := range e.v.Members {
		m := &e.v.Members[i]
		sub, known := n.properties[m.Name]
		switch {
		case !known && n.additional == nil:
			continue
		case !known && n.additional.never:
			e.fail("additionalProperties", n, []string{m.Name})
			continue
		case !known:
			sub = n.additional
		}
		all := e.add(sub, &m.Value, m.Name)
		if m.Value.Kind == rawjson.KindNull && !slices.Contains(n.required, m.Name) {
			for i := range all {
				all[i].optional = true
			}
		}
	}
}

func (e *evaluation) anyOf(alternatives []*node) {
	if e.done() {
		return
	}
	var branches [][]failure
	for _, sub := range alternatives {
		all := e.left.evaluate(sub, e.v, e.at, e.fast)
		if all == nil {
			return
		}
		branches = append(branches, all)
	}
	e.all = append(e.all, failure{at: e.at, keyword: "anyOf", branches: branches})
}
