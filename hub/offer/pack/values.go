package pack

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/jmespath/go-jmespath"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// A Value is an argument, what an expression gives, or a literal, in whose texts ${NAME} stands for
// an argument.

// ValueOf reads a Value: the name of an argument, or an expression; both are "" for a literal.
func ValueOf(v json.RawMessage) (arg, from string) {
	n := 0
	for key, value := range rawjson.Members(v) {
		n++
		switch s, ok := rawjson.String(value); {
		case ok && key == "arg":
			arg = s
		case ok && key == "from":
			from = s
		}
	}
	if n != 1 {
		return "", ""
	}
	return arg, from
}

// isValue reports whether JSON is an argument, or what an expression gives.
func isValue(v json.RawMessage) bool {
	arg, from := ValueOf(v)
	return arg != "" || from != ""
}

// value checks a Value that stands for one text, number or truth.
func (c *checker) value(at string, v json.RawMessage) error {
	if arg, from := ValueOf(v); arg != "" || from != "" {
		return c.reference(at, arg, from)
	}
	if len(v) == 0 {
		return place(at, "is missing")
	}
	switch v[0] {
	case '{', '[', 'n':
		return place(at, `must be a text, a number, true, false, {"arg": NAME} or {"from": EXPRESSION}`)
	case '"':
		s, _ := rawjson.String(v)
		return c.text(at, s, false)
	}
	return nil
}

// mistaken reports whether v looks like a Value and is none.
func mistaken(v json.RawMessage) bool {
	n, is := 0, false
	for key, value := range rawjson.Members(v) {
		n++
		is = is || (key == "arg" || key == "from") && (value[0] != '"' || string(value) == `""`)
	}
	return n == 1 && is
}

// reference checks the name of an argument, or an expression.
func (c *checker) reference(at, arg, from string) error {
	if arg != "" {
		if _, ok := c.args[arg]; !ok {
			return place(at, "there is no argument "+shown(arg)+" in inputSchema")
		}
		return nil
	}
	if !ofArguments.MatchString(from) {
		c.tool.sends = true
	}
	return c.query(at+".from", from)
}

// ofArguments matches expressions that are of arguments alone.
var ofArguments = regexp.MustCompile(`^args(\.[A-Za-z_][A-Za-z0-9_]*)+$`)

// values checks a map of Values.
func (c *checker) values(at string, all map[string]json.RawMessage) error {
	if len(all) > maxNames {
		return fmt.Errorf("%s: more than %d members", at, maxNames)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := plainName(member(at, name), name); err != nil {
			return err
		}
		if err := c.value(member(at, name), all[name]); err != nil {
			return err
		}
	}
	return nil
}

// plainName checks the name of a field or of a parameter, which no argument may choose.
func plainName(at, name string) error {
	switch {
	case name == "" || len(name) > maxTarget:
		return place(at, "must be 1 to 512 bytes")
	case strings.Contains(name, "${"):
		return place(at, "no argument may be part of a name")
	case overrides(name):
		return place(at, "would make a server take the request for one of another method")
	}
	return nil
}

// overrides reports whether servers take a field, parameter or header of a name for the method.
func overrides(name string) bool {
	name = strings.ToLower(name)
	plain := strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, name)
	// PHP takes " method", ".method" and "[method" for _method.
	return plain == "method" && name[0] != 'm' || plain == "httpmethod" || strings.Contains(plain, "methodoverride") || strings.Contains(plain, "xhttpmethod")
}

// body checks a body of JSON, each leaf of which may be a Value.
func (c *checker) body(at string, v json.RawMessage) error {
	if arg, from := ValueOf(v); arg != "" || from != "" {
		return c.reference(at, arg, from)
	}
	if mistaken(v) {
		return place(at, `an object with the one member "arg" or "from" is a Value, and that member must be a text`)
	}
	switch v[0] {
	case '{':
		for key, value := range rawjson.Members(v) {
			if err := plainName(member(at, key), key); err != nil {
				return err
			}
			if err := c.body(member(at, key), value); err != nil {
				return err
			}
		}
	case '[':
		i := 0
		for e := range rawjson.Elements(v) {
			if err := c.body(fmt.Sprintf("%s[%d]", at, i), e); err != nil {
				return err
			}
			i++
		}
	case '"':
		s, _ := rawjson.String(v)
		return c.text(at, s, false)
	}
	return nil
}

// reference of a text is ${NAME}.
var inText = regexp.MustCompile(`\$\{([^{}]*)\}`)

// text checks that what ${NAME} stands for in a text are arguments, required ones if the text is of
// no use without.
func (c *checker) text(at, s string, required bool) error {
	if c.own {
		return nil // ${NAME} stands for itself
	}
	for _, m := range inText.FindAllStringSubmatch(s, -1) {
		must, ok := c.args[m[1]]
		switch {
		case !ok:
			return place(at, "there is no argument "+shown(m[1])+" in inputSchema")
		case !isArgument(m[1]):
			return place(at, "the name "+shown(m[1])+" has characters that ${} does not take; use letters, digits and _")
		case required && !must:
			return place(at, "the argument "+m[1]+" may be absent; inputSchema must have it in required")
		}
	}
	if strings.Contains(inText.ReplaceAllString(s, ""), "${") {
		return place(at, `has "${" without a name and "}"`)
	}
	return nil
}

// maxPath is how long a path may be, in bytes.
const maxPath = spec.MaxURI

// path checks a path in which ${NAME} stands for an argument, and that match reaches it.
func (c *checker) path(at, s string) error {
	if err := c.text(at, s, true); err != nil {
		return err
	}
	if err := literalPath(at, inText.ReplaceAllString(s, "x")); err != nil {
		return err
	}
	if !c.own && !reaches(c.tool.Pack.match, inText.ReplaceAllString(s, "*")) {
		return place(at, shown(s)+" is outside of match, so each call would be refused")
	}
	return nil
}

// hides reports whether a path has percent-encoded what servers may take for a dot, a slash or a backslash.
func hides(path string) bool {
	path = strings.ToLower(path)
	return strings.Contains(path, "%2e") || strings.Contains(path, "%2f") || strings.Contains(path, "%5c")
}

// literalPath checks that a path means what it looks like to browsers and to servers.
func literalPath(at, s string) error {
	switch {
	case !strings.HasPrefix(s, "/"):
		return place(at, "must begin with a slash: it is a path at the site")
	case len(s) > maxPath:
		return place(at, fmt.Sprintf("is longer than %d bytes", maxPath))
	case strings.Contains(s, "//"), strings.ContainsAny(s, `\*?#;{}"<>^|`+"`"), hides(s):
		return place(at, "must be a path without //, \\, *, ?, #, ; and their percent-encodings; parameters belong in query")
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return place(at, "has characters that an address has percent-encoded only")
		}
	}
	for segment := range strings.SplitSeq(s, "/") {
		if segment == "." || segment == ".." {
			return place(at, "must not have the segments . and ..")
		}
	}
	return nil
}

// functions are those that expressions may call: all of JMESPath's.
var functions = strings.Fields(`abs avg ceil contains ends_with floor join keys length map max max_by merge min min_by not_null
reverse sort sort_by starts_with sum to_array to_number to_string type values`)

// query checks a JMESPath expression over the arguments and what steps gave; "" is none.
func (c *checker) query(at, s string) error {
	ast, err := c.parsed(at, s)
	if err != nil || s == "" {
		return err
	}
	if name := c.unknown(reflect.ValueOf(ast)); name != "" {
		return place(at, fmt.Sprintf("there is no %s here; there are %s", shown(name), strings.Join(append(c.known[:len(c.known):len(c.known)], "args"), ", ")))
	}
	return nil
}

// unknown returns a name that a part of an expression wants of what is neither an argument nor the gift of an
// earlier step, "" if there is none: it would be absent in each call, and the step be done without it.
func (c *checker) unknown(node reflect.Value) string {
	children := node.FieldByName("children")
	switch node.FieldByName("nodeType").Int() {
	case int64(jmespath.ASTField):
		if name := nameOfNode(node); name != "args" && !slices.Contains(c.known, name) {
			return name
		}
	case int64(jmespath.ASTSubexpression):
		of, member := children.Index(0), children.Index(1)
		if isField(of) && nameOfNode(of) == "args" && isField(member) {
			if _, ok := c.args[nameOfNode(member)]; !ok {
				return "args." + nameOfNode(member)
			}
		}
		return c.unknown(of)
	case int64(jmespath.ASTPipe), int64(jmespath.ASTIndexExpression), int64(jmespath.ASTProjection), int64(jmespath.ASTFilterProjection), int64(jmespath.ASTFlatten), int64(jmespath.ASTValueProjection):
		return c.unknown(children.Index(0)) // the others are about what this one gives
	case int64(jmespath.ASTExpRef): // about elements of what its function is given
	default:
		for i := range children.Len() {
			if name := c.unknown(children.Index(i)); name != "" {
				return name
			}
		}
	}
	return ""
}

func isField(node reflect.Value) bool {
	return node.FieldByName("nodeType").Int() == int64(jmespath.ASTField)
}

func nameOfNode(node reflect.Value) string { return node.FieldByName("value").Elem().String() }

// parsed parses a JMESPath expression, and checks what it calls and how much it may give.
func (c *checker) parsed(at, s string) (ast jmespath.ASTNode, err error) {
	if s == "" {
		return ast, nil
	}
	if err := short(at, s, maxQuery); err != nil {
		return ast, err
	}
	ast, err = jmespath.NewParser().Parse(s)
	if err != nil {
		return ast, place(at, shown(s)+" is no JMESPath: "+err.Error())
	}
	e := expression{}
	switch grows := e.growth(reflect.ValueOf(ast)); {
	case e.unknown != "":
		return ast, place(at, "JMESPath has no function "+shown(e.unknown))
	case grows > maxGrowth:
		return ast, place(at, shown(s)+" could give far more than it is given: it puts in the same again and again")
	}
	return ast, nil
}

// maxGrowth is how many times as much as it is given an expression may give. It runs in the page, which would
// stand still, or end.
const maxGrowth = 256

// expression is what is known of one.
type expression struct {
	unknown string // the name of a function that there is not
}

// growth returns how many times as much as it is given a part of an expression gives at most. The parser shows
// its nodes to nobody but reflection, which may read them.
func (e *expression) growth(node reflect.Value) float64 {
	value, children := node.FieldByName("value").Elem(), node.FieldByName("children")
	product, sum := 1.0, 0.0
	takesExpression := false
	for i := range children.Len() {
		child := children.Index(i)
		grows := e.growth(child)
		product, sum = product*grows, sum+grows
		takesExpression = takesExpression || child.FieldByName("nodeType").Int() == int64(jmespath.ASTExpRef)
	}
	switch node.FieldByName("nodeType").Int() {
	case int64(jmespath.ASTLiteral):
		return size(value)
	case int64(jmespath.ASTFunctionExpression):
		name := value.String()
		if !slices.Contains(functions, name) {
			e.unknown = name
		}
		switch {
		case name == "to_string": // what is quoted in it already is quoted once more
			return 2 * sum
		case takesExpression:
			return product
		}
		return max(1, sum)
	case int64(jmespath.ASTMultiSelectHash), int64(jmespath.ASTMultiSelectList), int64(jmespath.ASTOrExpression), int64(jmespath.ASTAndExpression),
		int64(jmespath.ASTComparator):
		return max(1, sum)
	}
	return product
}

// size returns how many values a literal has in it.
func size(v reflect.Value) float64 {
	n := 1.0
	switch v.Kind() {
	case reflect.Interface:
		return size(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			n += size(v.Index(i))
		}
	case reflect.Map:
		for all := v.MapRange(); all.Next(); {
			n += size(all.Value())
		}
	}
	return n
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
