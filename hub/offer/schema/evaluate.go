package schema

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"tabhub/hub/offer/keyword"
	"tabhub/spec/rawjson"
)

// failure is one keyword that a value violates.
type failure struct {
	at        *keyword.Place
	keyword   string
	want, got any         // by keyword, see words.go
	optional  bool        // of a null in place of an argument that may be left out
	branches  [][]failure // of each schema of an anyOf or oneOf
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
	cost := 1 + len(n.required) + len(n.dependencies) + len(v.Members)*(1+len(n.patterns)) + len(v.Elements)
	for _, values := range n.values {
		cost += len(values)
	}
	if n.unique {
		cost += len(v.Elements) * len(v.Elements)
	}
	*b -= budget(cost)
	if (n.values != nil || n.unique) && (v.Members != nil || v.Elements != nil) {
		values(v, func(*rawjson.Value) { *b-- }) // it is compared in depth
	}
	return *b > 0
}

// evaluation checks one value against one node.
type evaluation struct {
	left *budget
	n    *node
	v    *rawjson.Value
	at   *keyword.Place
	fast bool // the first failure is enough, without its place
	all  []failure
}

// evaluate returns how v fails n. If fast, it stops at the first failure. If nothing is
// left in the end, the result says nothing.
func (left *budget) evaluate(n *node, v *rawjson.Value, at *keyword.Place, fast bool) []failure {
	if !left.spend(n, v) {
		return nil
	}
	e := evaluation{left: left, n: n, v: v, at: at, fast: fast}
	switch {
	case n.never:
		e.fail("false", nil, nil)
		return e.all
	// A value of another type would only fail the rest for the same reason.
	case !e.hasType(), !e.hasValue():
		return e.all
	}
	switch v.Kind {
	case rawjson.KindNumber:
		e.number()
	case rawjson.KindString:
		if n.length != anySize {
			e.size("Length", n.length, utf8.RuneCountInString(v.Text))
		}
		if n.pattern != nil && !n.pattern.MatchString(v.Text) {
			e.fail("pattern", n.pattern.Written, v)
		}
	case rawjson.KindArray:
		e.array()
	case rawjson.KindObject:
		e.object()
	}
	for _, sub := range slices.Concat(n.refs, n.allOf) {
		e.same(sub)
	}
	if n.not != nil && e.fits(n.not, v) {
		e.fail("not", nil, nil)
	}
	for _, alternatives := range n.anyOf {
		e.alternatives(alternatives, false)
	}
	if n.oneOf != nil {
		e.alternatives(n.oneOf, true)
	}
	if n.cond != nil && !e.done() {
		e.conditional()
	}
	return e.all
}

// fits reports whether a value fits another node.
func (e *evaluation) fits(n *node, v *rawjson.Value) bool {
	return e.left.evaluate(n, v, nil, true) == nil
}

// conditional checks then or else, whichever if asks for.
func (e *evaluation) conditional() {
	try := func(n *node) []failure {
		if n == nil {
			return nil
		}
		return e.left.evaluate(n, e.v, e.at, e.fast)
	}
	cond := try(e.n.cond)
	if cond == nil {
		e.take(try(e.n.then))
		return
	}
	all := try(e.n.otherwise)
	if !e.fast && !allLenient(all) && allLenient(cond) {
		// A lenient reading takes the condition for met.
		if then := try(e.n.then); allLenient(then) {
			all = append(cond, then...)
		}
	}
	e.take(all)
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
	var at *keyword.Place
	if !e.fast {
		at = &keyword.Place{Parent: e.at, Token: token}
	}
	all := e.left.evaluate(n, v, at, e.fast)
	e.take(all)
	return e.all[len(e.all)-len(all):]
}

// take adds failures of another evaluation. Carrying many up costs more than finding them.
func (e *evaluation) take(all []failure) {
	*e.left -= budget(16 * len(all))
	e.all = append(e.all, all...)
}

func (e *evaluation) hasType() bool {
	want, is := e.n.types, typeOf(e.v)
	if want == 0 || want&is != 0 || is == keyword.Float && want&keyword.Integer != 0 && isInt(e.v.Text) {
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
	got := keyword.Rat(e.v.Text)
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

func (e *evaluation) array() {
	n, elements := e.n, e.v.Elements
	e.size("Items", n.count, len(elements))
	if n.unique {
		if i, j, found := duplicates(elements); found {
			e.fail("uniqueItems", nil, [2]int{i, j})
		}
	}
	for i := range elements {
		sub := n.items
		if i < len(n.prefix) {
			sub = n.prefix[i]
		}
		if sub != nil {
			e.add(sub, &elements[i], strconv.Itoa(i))
		}
	}
	if n.contains != nil && !e.done() {
		found := 0
		for i := range elements {
			if e.fits(n.contains, &elements[i]) {
				found++
			}
		}
		e.size("Contains", n.matching, found)
	}
}

func (e *evaluation) object() {
	n := e.n
	e.size("Properties", n.members, len(e.v.Members))
	e.requires("required", n.required, "")
	for _, d := range n.dependencies {
		if e.v.Member(d.name) != nil {
			e.requires("dependentRequired", d.required, d.name)
			if d.node != nil {
				e.same(d.node)
			}
		}
	}
	if n.properties == nil && n.patterns == nil && n.additional == nil && n.names == nil {
		return
	}
	for i := range e.v.Members {
		m := &e.v.Members[i]
		if sub, known := e.member(m); sub != nil {
			e.property(sub, m)
		} else if !known {
			e.fail("additionalProperties", n, []string{m.Name})
		}
		if n.names != nil && !e.done() {
			name := rawjson.Value{Kind: rawjson.KindString, Text: m.Name}
			if all := e.left.evaluate(n.names, &name, e.at, e.fast); all != nil {
				e.all = append(e.all, failure{at: &keyword.Place{Parent: e.at, Token: m.Name}, keyword: "propertyNames", branches: [][]failure{all}})
			}
		}
	}
}

// member checks a member by the patterns that its name matches. It returns the node that it is to fit
// besides, nil if there is none, and whether there may be a member of that name.
func (e *evaluation) member(m *rawjson.Member) (sub *node, known bool) {
	sub, known = e.n.properties[m.Name]
	for _, p := range e.n.patterns {
		if p.pattern.MatchString(m.Name) {
			known = true
			e.property(p.node, m)
		}
	}
	if !known {
		sub = e.n.additional
		if known = sub == nil || !sub.never; !known {
			sub = nil
		}
	}
	return sub, known
}

// property checks a member against a node.
func (e *evaluation) property(n *node, m *rawjson.Member) {
	all := e.add(n, &m.Value, m.Name)
	if m.Value.Kind == rawjson.KindNull && !slices.Contains(e.n.required, m.Name) {
		for i := range all {
			all[i].optional = true
		}
	}
}

// requires fails if members are missing.
func (e *evaluation) requires(keyword string, names []string, because string) {
	var missing []string
	for _, name := range names {
		if e.v.Member(name) == nil {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		e.fail(keyword, because, missing)
	}
}

// alternatives checks that the value fits one of some schemas, and no second one if it is to be one
// alone.
func (e *evaluation) alternatives(of []*node, alone bool) {
	if e.done() {
		return
	}
	var branches [][]failure
	first := -1
	for i, sub := range of {
		all := e.left.evaluate(sub, e.v, e.at, e.fast || first >= 0)
		switch {
		case all != nil:
			branches = append(branches, all)
		case !alone:
			return
		case first >= 0:
			e.fail("oneOf", nil, [2]int{first, i})
			return
		default:
			first = i
		}
	}
	if first < 0 {
		e.all = append(e.all, failure{at: e.at, keyword: "anyOf", branches: branches})
	}
}
