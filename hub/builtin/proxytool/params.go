package proxytool

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tabhub/hub/builtin"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// The actions.
const (
	actionList    = "list"
	actionInfo    = "info"
	actionCall    = "call"
	actionBatch   = "batch"
	actionOutcome = "outcome"
)

var (
	actions    = []string{actionList, actionInfo, actionCall, actionBatch, actionOutcome}
	kinds      = []string{string(spec.KindTool), string(spec.KindResource), string(spec.KindPrompt)}
	parameters = []string{"action", "type", "path", "args", "limit", "offset", "filter", "operations", "partial", "id"}
	filters    = []string{"prefix", "domain", "tags", "query"}
)

// Limits of the parameters.
const (
	maxLimit      = 1000
	maxOperations = 100
	maxWords      = 32
	maxTags       = 32
	maxPath       = 8 << 10
	maxID         = 64
)

// metaCall names where a result has the id of its call.
const metaCall = `_meta["tabhub/call"]`

// operation is one operation of the tool, whose parameters have been checked.
type operation struct {
	action     string
	kind       spec.Kind
	path       string
	args       json.RawMessage
	limit      int // 0: not given
	offset     int
	paged      bool // limit or offset was given
	filter     filter
	operations []json.RawMessage
	partial    bool
	id         string // of a call; "": the latest
}

// filter selects what list lists.
type filter struct {
	prefix string
	domain string
	tags   []string // at least one of them
	query  string
}

// parse reads and checks the parameters of an operation (spec/PROTOCOL.md,
// "Parameters"). The error names all that is wrong; the operation then
// holds what could be read. A parameter that is null is one that is not given.
func parse(raw json.RawMessage) (*operation, error) {
	op := &operation{}
	var p problems
	if len(raw) > 0 {
		err := rawjson.Object(raw, spec.MaxDepth, func(key string, _ json.RawMessage) error {
			p.known("parameter", key, parameters)
			return nil
		})
		if err != nil {
			return op, refusal("The parameters must be an object: " + err.Error())
		}
	}
	given := builtin.Members(raw)
	op.action = p.choice(given, "action", actions)
	if op.action != actionBatch && op.action != actionOutcome || given["type"] != nil {
		op.kind = spec.Kind(p.choice(given, "type", kinds))
	}
	if v := given["path"]; v != nil {
		var ok bool
		if op.path, ok = rawjson.String(v); !ok {
			p.add("Parameter 'path' must be a string, not %s", show(v))
		}
		if len(op.path) > maxPath {
			p.add("Parameter 'path' has %d bytes; allowed: %d", len(op.path), maxPath)
			op.path = shorten(op.path)
		}
	}
	if v := given["args"]; v != nil {
		op.args = p.container("args", v, '{')
	}
	op.limit = p.integer(given, "limit", 1, maxLimit)
	op.offset = p.integer(given, "offset", 0, 1<<31-1)
	op.paged = given["limit"] != nil || given["offset"] != nil
	if v := given["filter"]; v != nil {
		p.filter(&op.filter, v)
	}
	if v := given["operations"]; v != nil {
		op.operations = p.operations(v)
	}
	switch v := given["partial"]; string(v) {
	case "", "false":
	case "true":
		op.partial = true
	default:
		p.add("Parameter 'partial' is %s; allowed: true, false", show(v))
	}
	if v := given["id"]; v != nil {
		var ok bool
		if op.id, ok = rawjson.String(v); !ok || op.id == "" || len(op.id) > maxID {
			p.add("Parameter 'id' is %s; allowed: the id of a call, as %s of its result has it", show(v), metaCall)
		}
	}
	p.combination(op, given)
	return op, p.err()
}

// combination checks which parameters an action takes.
func (p *problems) combination(op *operation, given map[string]json.RawMessage) {
	if op.action == "" {
		return
	}
	if v := given["path"]; (op.action == actionInfo || op.action == actionCall) && (v == nil || string(v) == `""`) {
		p.add("Parameter 'path' is required for action '%s'", op.action)
	}
	for _, may := range parametersOf {
		switch {
		case given[may.name] == nil || may.name == "path" && op.path == "" || slices.Contains(may.of, op.action):
		case may.name == "path" || may.name == "args":
			p.add("Parameter '%s' should not be provided for action '%s'", may.name, op.action)
		default:
			p.add("Parameter '%s' is only allowed for '%s' action", may.name, may.of[0])
		}
	}
	if op.action == actionBatch && given["operations"] == nil {
		p.add("Parameter 'operations' is required for action 'batch'")
	}
}

// parametersOf says which actions take a parameter; all take those that are not listed.
var parametersOf = []struct {
	name string
	of   []string
}{
	{"path", []string{actionInfo, actionCall}}, {"args", []string{actionCall}},
	{"limit", []string{actionList}}, {"offset", []string{actionList}}, {"filter", []string{actionList}},
	{"id", []string{actionOutcome}}, {"operations", []string{actionBatch}}, {"partial", []string{actionBatch}},
}

// refusal is an error that a model reads.
type refusal string

func (r refusal) Error() string { return string(r) }

// problems collects what is wrong with the parameters, so that a model can mend all
// at once.
type problems []string

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return refusal(strings.Join(p, "; "))
}

// known says what is wrong with a name that is not one of allowed.
func (p *problems) known(what, name string, allowed []string) {
	if !slices.Contains(allowed, name) {
		p.add("Unknown %s '%s'; allowed: %s", what, shorten(name), strings.Join(allowed, ", "))
	}
}

// choice returns a parameter that must be one of allowed.
func (p *problems) choice(given map[string]json.RawMessage, name string, allowed []string) string {
	v := given[name]
	if v == nil {
		p.add("Parameter '%s' is required: one of %s", name, strings.Join(allowed, ", "))
		return ""
	}
	s, ok := rawjson.String(v)
	if !ok || !slices.Contains(allowed, s) {
		p.add("Parameter '%s' is %s; allowed: %s", name, show(v), strings.Join(allowed, ", "))
		return ""
	}
	return s
}

func (p *problems) integer(given map[string]json.RawMessage, name string, low, high int) int {
	v := given[name]
	if v == nil {
		return 0
	}
	// 10.0 and 1e1 are integers, too, and some clients write them so.
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f != math.Trunc(f) || f < float64(low) || f > float64(high) {
		p.add("Parameter '%s' is %s; allowed: an integer from %d to %d", name, show(v), low, high)
		return 0
	}
	return int(f)
}

// container returns v, which must be an object or array as the bracket says, or a
// JSON string that holds one: models write both.
func (p *problems) container(name string, v json.RawMessage, bracket byte) json.RawMessage {
	what := "an object"
	if bracket == '[' {
		what = "an array"
	}
	inner := v
	if s, ok := rawjson.String(v); ok {
		inner = json.RawMessage(strings.TrimSpace(s))
		if err := rawjson.Valid(inner, spec.MaxDepth); err != nil {
			p.add("Parameter '%s' is a string that is not JSON; allowed: %s, or a string that holds one as JSON: %v", name, what, err)
			return nil
		}
	}
	if inner[0] != bracket {
		p.add("Parameter '%s' is %s; allowed: %s, or a string that holds one as JSON", name, show(v), what)
		return nil
	}
	return inner
}

func (p *problems) operations(v json.RawMessage) (ops []json.RawMessage) {
	if v = p.container("operations", v, '['); v == nil {
		return nil
	}
	n := 0
	rawjson.Array(v, spec.MaxDepth, func(op json.RawMessage) error {
		if n++; n <= maxOperations {
			ops = append(ops, op)
		}
		return nil
	})
	if n == 0 || n > maxOperations {
		p.add("Parameter 'operations' has %d entries; allowed: 1 to %d, so send several batches", n, maxOperations)
	}
	return ops
}

func (p *problems) filter(f *filter, v json.RawMessage) {
	if v = p.container("filter", v, '{'); v == nil {
		return
	}
	for key := range rawjson.Members(v) {
		p.known("filter", key, filters)
	}
	given := builtin.Members(v)
	text := func(name string) string {
		v := given[name]
		s, ok := rawjson.String(v)
		if v != nil && !ok {
			p.add("Filter '%s' must be a string, not %s", name, show(v))
		}
		return s
	}
	f.prefix, f.domain, f.query = text("prefix"), text("domain"), text("query")
	if len(slices.Collect(words(f.query))) > maxWords {
		p.add("Filter 'query' has more than %d words; name what you look for in a few", maxWords)
	}
	if v := given["tags"]; v != nil {
		f.tags = p.tags(v)
	}
}

func (p *problems) tags(v json.RawMessage) (tags []string) {
	err := rawjson.Array(v, 2, func(tag json.RawMessage) error {
		s, ok := rawjson.String(tag)
		if !ok {
			return refusal("not a string")
		}
		tags = append(tags, s)
		return nil
	})
	if err != nil {
		p.add("Filter 'tags' must be an array of strings, not %s", show(v))
	}
	if len(tags) > maxTags {
		p.add("Filter 'tags' has %d entries; allowed: %d", len(tags), maxTags)
	}
	return tags
}

// show describes a value in an error.
func show(v json.RawMessage) string {
	switch {
	case v[0] == '{':
		return "an object"
	case v[0] == '[':
		return "an array"
	case v[0] == '"':
		s, _ := rawjson.String(v)
		return "'" + shorten(s) + "'"
	}
	return shorten(string(v))
}

// shorten cuts what a client sent to what an error may hold of it.
func shorten(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
