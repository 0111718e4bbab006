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
	want, got any  // by keyword, see words.go
	optional  bool // of a null in place of an argument that may be left out
	// branches are the failures of each schema of an anyOf or oneOf, or of the name
	// for propertyNames.
	branches [][]failure
}

// place is where a value is within the arguments; nil is all of them.
type place struct {
	parent *place
	token  string
}

// evaluation checks one value against one node.
type evaluation struct {
	left *budget
	n    *node
	v    *rawjson.Value
	at   *place
	fast bool // the first failure is enough, and nobody asks where it is
	// evaluated marks the members or elements that a keyword has evaluated, for
	// unevaluatedProperties and unevaluatedItems; nil if nobody asks.
	evaluated []bool
	all       []failure
}

// evaluate returns how v fails n. If fast, it stops at the first failure. What of v
// has been evaluated is marked in evaluated, which may be nil; only the marks of a
// success say something. If nothing is left in the end, the result says nothing.
func (left *budget) evaluate(n *node, v *rawjson.Value, at *place, fast bool, evaluated []bool) []failure {
	if !left.spend(n, v) {
		return nil
	}
	e := evaluation{left: left, n: n, v: v, at: at, fast: fast, evaluated: evaluated}
	if evaluated == nil && (n.unevaluatedItems != nil || n.unevaluatedProperties != nil) {
		e.evaluated = e.marks()
	}
	switch {
	case n.never:
		e.fail("false", nil, nil)
		return e.all
	// What has another type or value fails the rest for no other reason.
	case !e.hasType(), !e.hasValue():
		return e.all
	}
	for _, to := range n.refs {
		e.same(to)
	}
	switch v.Kind {
	case rawjson.KindNumber:
		e.number()
	case rawjson.KindString:
		e.text()
	case rawjson.KindArray:
		e.array()
	case rawjson.KindObject:
		e.object()
	}
	e.combinations()
	e.unevaluated()
	return e.all
}

// marks returns a mark for each member or element.
func (e *evaluation) marks() []bool { return make([]bool, len(e.v.Members)+len(e.v.Elements)) }

// mark marks a member or element as evaluated.
func (e *evaluation) mark(i int) {
	if e.evaluated != nil {
		e.evaluated[i] = true
	}
}

func (e *evaluation) fail(keyword string, want, got any) {
	e.all = append(e.all, failure{at: e.at, keyword: keyword, want: want, got: got})
}

// add adds failures of another evaluation. To carry many up costs more than to find them.
func (e *evaluation) add(all []failure) {
	*e.left -= budget(16 * len(all))
	e.all = append(e.all, all...)
}

// done reports whether more failures are of no use.
func (e *evaluation) done() bool { return e.fast && e.all != nil }

// same checks the same value against another node.
func (e *evaluation) same(n *node) {
	if !e.done() {
		e.add(e.try(n, e.fast))
	}
}

// try returns how the same value fails another node.
func (e *evaluation) try(n *node, fast bool) []failure {
	if e.evaluated == nil {
		return e.left.evaluate(n, e.v, e.at, fast, nil)
	}
	evaluated := e.marks()
	all := e.left.evaluate(n, e.v, e.at, fast, evaluated)
	if all == nil {
		for i, is := range evaluated {
			e.evaluated[i] = e.evaluated[i] || is
		}
	}
	return all
}

// element checks the i-th element.
func (e *evaluation) element(n *node, i int) {
	var at *place
	if !e.fast {
		at = &place{e.at, strconv.Itoa(i)}
	}
	e.add(e.left.evaluate(n, &e.v.Elements[i], at, e.fast, nil))
	e.mark(i)
}

// member checks the i-th member.
func (e *evaluation) member(n *node, i int) {
	m := &e.v.Members[i]
	var at *place
	if !e.fast {
		at = &place{e.at, m.Name}
	}
	all := e.left.evaluate(n, &m.Value, at, e.fast, nil)
	if m.Value.Kind == rawjson.KindNull && !slices.Contains(e.n.required, m.Name) {
		for i := range all {
			all[i].optional = true
		}
	}
	e.add(all)
	e.mark(i)
}

func (e *evaluation) hasType() bool {
	want, is := e.n.types, typeOf(e.v)
	if want == 0 || want&is != 0 || is == typeNumber && want&typeInteger != 0 && numberOf(e.v.Text).isInt() {
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
		var ok bool
		switch b.keyword {
		case "minimum":
			ok = got.compare(b.value) >= 0
		case "maximum":
			ok = got.compare(b.value) <= 0
		case "exclusiveMinimum":
			ok = got.compare(b.value) > 0
		case "exclusiveMaximum":
			ok = got.compare(b.value) < 0
		case "multipleOf":
			ok = got.isMultipleOf(b.value)
		}
		if !ok {
			e.fail(b.keyword, b.value, got)
		}
	}
}

func (e *evaluation) text() {
	if e.n.length != bare[0].length {
		e.size("Length", e.n.length, utf8.RuneCountInString(e.v.Text))
	}
	if e.n.pattern != nil && !e.n.pattern.MatchString(e.v.Text) {
		e.fail("pattern", e.n.pattern.written, e.v)
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
	n := e.n
	e.size("Items", n.count, len(e.v.Elements))
	if n.unique {
		if i, j, found := duplicates(e.v.Elements); found {
			e.fail("uniqueItems", nil, [2]int{i, j})
		}
	}
	for i := range e.v.Elements {
		sub := n.items
		if i < len(n.prefix) {
			sub = n.prefix[i]
		}
		if e.done() || sub == nil {
			break
		}
		e.element(sub, i)
	}
	if n.contains == nil || e.done() {
		return
	}
	found := 0
	for i := range e.v.Elements {
		if e.left.evaluate(n.contains, &e.v.Elements[i], nil, true, nil) == nil {
			found++
			if n.containsEvaluates {
				e.mark(i)
			}
		}
	}
	e.size("Contains", n.matching, found)
}

func (e *evaluation) object() {
	n := e.n
	e.size("Properties", n.members, len(e.v.Members))
	e.requires("required", n.required, "")
	for _, d := range n.dependencies {
		if e.v.Member(d.name) != nil && !e.done() {
			e.requires("dependentRequired", d.required, d.name)
			if d.schema != nil {
				e.same(d.schema)
			}
		}
	}
	if n.properties == nil && n.patternProperties == nil && n.additional == nil && n.names == nil {
		return
	}
	for i := range e.v.Members {
		if e.done() {
			return
		}
		e.property(i)
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

// property checks the i-th member by what the node says of its name.
func (e *evaluation) property(i int) {
	n, name := e.n, e.v.Members[i].Name
	sub, known := n.properties[name]
	if known {
		e.member(sub, i)
	}
	for _, p := range n.patternProperties {
		if p.pattern.MatchString(name) {
			known = true
			e.member(p.schema, i)
		}
	}
	switch {
	case known || n.additional == nil:
	case n.additional.never:
		e.fail("additionalProperties", n, []string{name})
	default:
		e.member(n.additional, i)
	}
	if n.names != nil {
		if all := e.left.evaluate(n.names, &rawjson.Value{Kind: rawjson.KindString, Text: name}, e.at, e.fast, nil); all != nil {
			e.all = append(e.all, failure{at: &place{e.at, name}, keyword: "propertyNames", branches: [][]failure{all}})
		}
	}
}

func (e *evaluation) combinations() {
	n := e.n
	if n.not != nil && e.left.evaluate(n.not, e.v, nil, true, nil) == nil {
		e.fail("not", nil, nil)
	}
	for _, sub := range n.allOf {
		e.same(sub)
	}
	e.anyOf()
	e.oneOf()
	if n.cond != nil && !e.done() {
		e.add(e.conditional())
	}
}

// conditional returns how the value fails then or else, whichever if asks for.
func (e *evaluation) conditional() []failure {
	try := func(n *node) []failure {
		if n == nil {
			return nil
		}
		return e.try(n, e.fast)
	}
	cond := e.try(e.n.cond, e.fast)
	if cond == nil {
		return try(e.n.then)
	}
	all := try(e.n.otherwise)
	if e.fast || allLenient(all) || !allLenient(cond) {
		return all
	}
	// A lenient reading takes the condition for met.
	if then := try(e.n.then); allLenient(then) {
		return append(cond, then...)
	}
	return all
}

func (e *evaluation) anyOf() {
	if e.n.anyOf == nil || e.done() {
		return
	}
	var branches [][]failure
	fits := false
	for _, sub := range e.n.anyOf {
		// What several evaluate counts together.
		if fits && e.evaluated == nil {
			break
		}
		all := e.try(sub, e.fast)
		fits = fits || all == nil
		branches = append(branches, all)
	}
	if !fits {
		e.all = append(e.all, failure{at: e.at, keyword: "anyOf", branches: branches})
	}
}

func (e *evaluation) oneOf() {
	if e.n.oneOf == nil || e.done() {
		return
	}
	var branches [][]failure
	first := -1
	for i, sub := range e.n.oneOf {
		all := e.try(sub, e.fast || first >= 0)
		switch {
		case all != nil:
			branches = append(branches, all)
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

// unevaluated checks what no other keyword has evaluated. What has failed may have
// evaluated anything.
func (e *evaluation) unevaluated() {
	if e.all != nil {
		return
	}
	if sub := e.n.unevaluatedProperties; sub != nil {
		for i := range e.v.Members {
			if !e.evaluated[i] {
				e.member(sub, i)
			}
		}
	}
	if sub := e.n.unevaluatedItems; sub != nil {
		for i := range e.v.Elements {
			if !e.evaluated[i] {
				e.element(sub, i)
			}
		}
	}
}
