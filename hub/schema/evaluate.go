package schema

import (
	"encoding/json"
	"math/big"
	"strconv"
	"unicode/utf8"
)

// failure is one keyword that a value violates.
type failure struct {
	at        *place
	keyword   string
	want, got any // by keyword, see words.go
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
	n    *node
	v    any
	at   *place
	fast bool // the first failure is enough
	left *unevaluated
	all  []failure
}

// evaluate returns how v fails n, as rawjson.Decode returns it. If fast, it stops at
// the first failure. What of v has been evaluated is taken out of left, which may be
// nil; only the result of a success says something.
func (n *node) evaluate(v any, at *place, fast bool, left *unevaluated) []failure {
	e := evaluation{n: n, v: v, at: at, fast: fast, left: left}
	if left == nil && (n.unevaluatedItems != nil || n.unevaluatedProperties != nil) {
		e.left = unevaluatedOf(v)
	}
	switch {
	case n.never:
		e.fail("false", nil, nil)
		return e.all
	// What has another type or value fails the rest for no other reason.
	case !e.hasType(), !e.hasValue():
		return e.all
	}
	for _, check := range [...]func(*evaluation){
		(*evaluation).references, (*evaluation).content, (*evaluation).combinations, (*evaluation).unevaluated,
	} {
		if check(&e); fast && e.all != nil {
			break
		}
	}
	return e.all
}

func (e *evaluation) fail(keyword string, want, got any) {
	e.all = append(e.all, failure{at: e.at, keyword: keyword, want: want, got: got})
}

// same checks the same value against another node.
func (e *evaluation) same(n *node, fast bool) []failure {
	if e.left == nil {
		return n.evaluate(e.v, e.at, fast, nil)
	}
	left := unevaluatedOf(e.v)
	all := n.evaluate(e.v, e.at, fast, left)
	if all == nil {
		e.left.intersect(left)
	}
	return all
}

// part checks a member or an element.
func (e *evaluation) part(n *node, v any, token string) []failure {
	return n.evaluate(v, &place{e.at, token}, e.fast, nil)
}

func (e *evaluation) add(all []failure) { e.all = append(e.all, all...) }

// done reports whether more failures are of no use.
func (e *evaluation) done() bool { return e.fast && e.all != nil }

func (e *evaluation) hasType() bool {
	is := typeOf(e.v)
	if e.n.types == 0 || e.n.types&is != 0 {
		return true
	}
	if number, ok := e.v.(json.Number); ok && e.n.types&typeInteger != 0 && rational(number).IsInt() {
		return true
	}
	e.fail("type", e.n.types, is)
	return false
}

func (e *evaluation) hasValue() bool {
	if e.n.constant != nil && !equal(e.v, *e.n.constant) {
		e.fail("const", []any{*e.n.constant}, e.v)
		return false
	}
	if e.n.enum == nil {
		return true
	}
	for _, v := range e.n.enum {
		if equal(e.v, v) {
			return true
		}
	}
	e.fail("enum", e.n.enum, e.v)
	return false
}

func (e *evaluation) references() {
	for _, to := range e.n.refs {
		e.add(e.same(to, e.fast))
	}
}

func (e *evaluation) content() {
	switch v := e.v.(type) {
	case json.Number:
		e.number(v)
	case string:
		e.text(v)
	case []any:
		e.array(v)
	case map[string]any:
		e.object(v)
	}
}

func (e *evaluation) number(v json.Number) {
	n := e.n
	var r *big.Rat
	check := func(keyword string, want *big.Rat, ok func(cmp int) bool) {
		if want == nil {
			return
		}
		if r == nil {
			r = rational(v)
		}
		if !ok(r.Cmp(want)) {
			e.fail(keyword, want, r)
		}
	}
	check("minimum", n.minimum, func(cmp int) bool { return cmp >= 0 })
	check("maximum", n.maximum, func(cmp int) bool { return cmp <= 0 })
	check("exclusiveMinimum", n.above, func(cmp int) bool { return cmp > 0 })
	check("exclusiveMaximum", n.below, func(cmp int) bool { return cmp < 0 })
	check("multipleOf", n.multipleOf, func(int) bool { return new(big.Rat).Quo(r, n.multipleOf).IsInt() })
}

func (e *evaluation) text(v string) {
	if e.n.minLength != nil || e.n.maxLength != nil {
		e.size("Length", e.n.minLength, e.n.maxLength, utf8.RuneCountInString(v))
	}
	if e.n.pattern != nil && !e.n.pattern.MatchString(v) {
		e.fail("pattern", e.n.pattern.written, v)
	}
}

// size checks a count against the keywords min… and max….
func (e *evaluation) size(what string, least, most *int, got int) {
	if least != nil && got < *least {
		e.fail("min"+what, *least, got)
	}
	if most != nil && got > *most {
		e.fail("max"+what, *most, got)
	}
}

func (e *evaluation) array(v []any) {
	n := e.n
	e.size("Items", n.minItems, n.maxItems, len(v))
	if n.unique {
		if i, j, found := duplicates(v); found {
			e.fail("uniqueItems", nil, [2]int{i, j})
		}
	}
	for i, element := range v {
		sub := n.items
		if i < len(n.prefix) {
			sub = n.prefix[i]
		}
		if e.done() || sub == nil {
			break
		}
		e.add(e.part(sub, element, strconv.Itoa(i)))
		e.left.item(i)
	}
	if n.contains == nil || e.done() {
		return
	}
	found := 0
	for i, element := range v {
		if n.contains.evaluate(element, nil, true, nil) == nil {
			found++
			if n.containsEvaluates {
				e.left.item(i)
			}
		}
	}
	least := 1
	if n.minContains != nil {
		least = *n.minContains
	}
	e.size("Contains", &least, n.maxContains, found)
}

func (e *evaluation) object(v map[string]any) {
	n := e.n
	e.size("Properties", n.minProperties, n.maxProperties, len(v))
	e.requires("required", n.required, "", v)
	for _, d := range n.dependencies {
		if _, there := v[d.name]; there && !e.done() {
			e.requires("dependentRequired", d.required, d.name, v)
			if d.schema != nil {
				e.add(e.same(d.schema, e.fast))
			}
		}
	}
	if n.properties == nil && n.patternProperties == nil && n.additional == nil && n.names == nil {
		return
	}
	for name, member := range v {
		if e.done() {
			return
		}
		e.member(name, member)
	}
}

// requires fails if members are missing.
func (e *evaluation) requires(keyword string, names []string, because string, v map[string]any) {
	var missing []string
	for _, name := range names {
		if _, there := v[name]; !there {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		e.fail(keyword, because, missing)
	}
}

func (e *evaluation) member(name string, v any) {
	n := e.n
	sub, known := n.properties[name]
	if known {
		e.add(e.part(sub, v, name))
	}
	for pattern, sub := range n.patternProperties {
		if pattern.MatchString(name) {
			known = true
			e.add(e.part(sub, v, name))
		}
	}
	switch {
	case known:
		e.left.member(name)
	case n.additional != nil && n.additional.never:
		e.fail("additionalProperties", n, []string{name})
	case n.additional != nil:
		e.add(e.part(n.additional, v, name))
		e.left.member(name)
	}
	if n.names != nil {
		if all := n.names.evaluate(name, e.at, e.fast, nil); all != nil {
			e.all = append(e.all, failure{at: &place{e.at, name}, keyword: "propertyNames", branches: [][]failure{all}})
		}
	}
}

func (e *evaluation) combinations() {
	n := e.n
	if n.not != nil && n.not.evaluate(e.v, e.at, true, nil) == nil {
		e.fail("not", nil, nil)
	}
	for _, sub := range n.allOf {
		if e.done() {
			return
		}
		e.add(e.same(sub, e.fast))
	}
	e.anyOf()
	e.oneOf()
	if n.cond == nil || e.done() {
		return
	}
	then := n.then
	if e.same(n.cond, true) != nil {
		then = n.elseThe
	}
	if then != nil {
		e.add(e.same(then, e.fast))
	}
}

func (e *evaluation) anyOf() {
	if e.n.anyOf == nil || e.done() {
		return
	}
	var branches [][]failure
	fits := false
	for _, sub := range e.n.anyOf {
		// What several evaluate counts together.
		if fits && e.left == nil {
			break
		}
		all := e.same(sub, e.fast)
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
		all := e.same(sub, e.fast || first >= 0)
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
