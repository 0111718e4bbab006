package pack

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tabhub/hub/offer/schema"
	"tabhub/spec"
)

// checker checks one tool.
type checker struct {
	tool     *Tool
	args     map[string]bool // the arguments, and whether they are required
	input    *schema.Schema
	known    []string // what steps give, by As
	acts     int
	deletes  bool
	firstAct string
	wait     int  // seconds
	own      bool // the steps are a client's own: there are no arguments, and no match
}

// Acts reports whether a step may change something.
func Acts(s *spec.Step) bool {
	switch {
	case s.Request != nil:
		return method(s.Request) != "GET" || s.Request.Token != nil
	case s.Read != nil, s.Wait != nil, s.Look != nil, s.Dialog != nil:
		return false
	}
	return true
}

// method returns the method of a request.
func method(r *spec.RequestStep) string {
	if r.Method == "" {
		return "GET"
	}
	return r.Method
}

// Verb returns the name of a step's verb, "" if it does not have exactly one.
func Verb(s *spec.Step) string {
	verb, n := "", 0
	for _, v := range []struct {
		name string
		is   bool
	}{
		{"request", s.Request != nil}, {"open", s.Open != nil}, {"click", s.Click != nil}, {"fill", s.Fill != nil},
		{"press", s.Press != nil}, {"read", s.Read != nil}, {"wait", s.Wait != nil}, {"hover", s.Hover != nil}, {"select", s.Select != nil},
		{"scroll", s.Scroll != nil}, {"drag", s.Drag != nil}, {"upload", s.Upload != nil}, {"dialog", s.Dialog != nil}, {"look", s.Look != nil},
	} {
		if v.is {
			verb = v.name
			n++
		}
	}
	if n != 1 {
		return ""
	}
	return verb
}

// steps checks the steps of the tool.
func (c *checker) steps(at string) error {
	t := c.tool
	switch {
	case len(t.Steps) == 0:
		return fmt.Errorf("%s.steps: is missing", at)
	case len(t.Steps) > maxAll:
		return fmt.Errorf("%s.steps: more than %d", at, maxAll)
	}
	for i := range t.Steps {
		if err := c.step(fmt.Sprintf("%s.steps[%d]", at, i), &t.Steps[i]); err != nil {
			return err
		}
	}
	switch {
	case c.acts > maxActing:
		return fmt.Errorf("%s.steps: more than %d of them act", at, maxActing)
	case c.wait > maxWait:
		return fmt.Errorf("%s.steps: their timeouts are more than %d seconds together", at, maxWait)
	}
	return nil
}

// step checks one step.
func (c *checker) step(at string, s *spec.Step) error {
	verb := Verb(s)
	if verb == "" {
		first, more := "request, ", ""
		if c.own {
			first, more = "", "select, hover, scroll, drag, upload, dialog, look, "
		}
		return fmt.Errorf("%s: must have exactly one of %sopen, click, fill, press, %sread and wait", at, first, more)
	}
	if c.own && s.Request != nil {
		return fmt.Errorf("%s.request: is for packs alone, which their owner has read; act on the page", at)
	}
	if s.Timeout < 0 || s.Timeout > maxTimeout {
		return fmt.Errorf("%s.timeout: must be at most %d seconds", at, maxTimeout)
	}
	c.wait += seconds(s)
	c.deletes = c.deletes || s.Request != nil && method(s.Request) == "DELETE"
	if Acts(s) {
		if c.acts++; c.firstAct == "" {
			c.firstAct = at[strings.LastIndex(at, "steps["):] + " (" + verb + ")"
		}
	}
	if err := c.verb(at+"."+verb, s); err != nil {
		return err
	}
	if s.As == "" {
		return nil
	}
	switch {
	case s.Request == nil && s.Read == nil && s.Look == nil:
		return fmt.Errorf("%s.as: %s gives nothing", at, verb)
	case !isAs(s.As) || s.As == "args":
		return fmt.Errorf("%s.as: must be 1 to 32 letters, digits and _, and not args", at)
	case slices.Contains(c.known, s.As):
		return fmt.Errorf("%s.as: another step has the name %s", at, s.As)
	}
	c.known = append(c.known, s.As)
	return nil
}

// seconds returns how long a step may take.
func seconds(s *spec.Step) int {
	switch {
	case s.Timeout != 0:
		return s.Timeout
	case s.Request != nil, s.Open != nil:
		return 10
	}
	return 5
}

func (c *checker) verb(at string, s *spec.Step) error {
	switch {
	case s.Request != nil:
		return c.request(at, s.Request)
	case s.Open != nil:
		if err := c.path(at+".path", s.Open.Path); err != nil {
			return err
		}
		return c.values(at+".query", s.Open.Query)
	case s.Click != nil:
		if b := s.Click.Button; b != "" && b != "left" && b != "right" || s.Click.Count < 0 || s.Click.Count > 2 {
			return fmt.Errorf("%s: button must be left or right, and count 1 or 2", at)
		}
		return c.target(at+".target", &s.Click.Target, 0)
	case s.Fill != nil:
		return c.fill(at, s.Fill)
	case s.Press != nil:
		if c.own {
			if s.Press.Key == "" || len(s.Press.Key) > maxKey {
				return fmt.Errorf("%s.key: must be a key, such as Enter or Control+A", at)
			}
			return c.optional(at+".target", &s.Press.Target)
		}
		if !slices.Contains(keys, s.Press.Key) && !isLetter(s.Press.Key) {
			return fmt.Errorf("%s.key: must be one of %s, or one letter or digit", at, strings.Join(keys, ", "))
		}
		return c.target(at+".target", &s.Press.Target, 0)
	case s.Read != nil:
		return c.read(at, s.Read)
	case s.Wait == nil:
		return c.ownVerb(at, s)
	}
	return c.waitStep(at, s.Wait)
}

var keys = []string{"Enter", "Escape", "Tab", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"}

func isLetter(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && n == len(s) && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func (c *checker) fill(at string, f *spec.FillStep) error {
	if len(f.Fields) == 0 || len(f.Fields) > maxNames {
		return fmt.Errorf("%s.fields: must be 1 to %d fields", at, maxNames)
	}
	for i := range f.Fields {
		at := fmt.Sprintf("%s.fields[%d]", at, i)
		if err := c.target(at+".target", &f.Fields[i].Target, 0); err != nil {
			return err
		}
		if err := c.value(at+".value", f.Fields[i].Value); err != nil {
			return err
		}
	}
	return nil
}

// Bounds of targets, in bytes, and of how many are in one another.
const (
	maxTarget  = 512
	maxNesting = 4
	maxRows    = 1000
)

// target checks a target that is within so many others.
func (c *checker) target(at string, t *spec.Target, within int) error {
	if t.Ref != "" {
		if !isRef(t.Ref) || (*t != spec.Target{Ref: t.Ref}) {
			return fmt.Errorf("%s.ref: must be a reference of a snapshot, such as kfa3, and stand alone", at)
		}
		return nil
	}
	by := 0
	for _, is := range []bool{t.Role != "" || t.Name != "", t.Label != "", t.Selector != ""} {
		if is {
			by++
		}
	}
	if by != 1 {
		return fmt.Errorf("%s: must have role and name, or label, or selector", at)
	}
	if t.Name != "" && t.Role == "" {
		return fmt.Errorf("%s.role: is missing; say what has the name, such as button, link or textbox", at)
	}
	if t.Role != "" && !slices.Contains(roles, t.Role) {
		return fmt.Errorf("%s.role: %s is no role of WAI-ARIA", at, shown(t.Role))
	}
	if !c.own && strings.Contains(t.Selector, "${") {
		return fmt.Errorf("%s.selector: no argument may be part of a selector", at)
	}
	for _, m := range []struct{ name, text string }{{"name", t.Name}, {"label", t.Label}, {"selector", t.Selector}} {
		if err := short(at+"."+m.name, m.text, maxTarget); err != nil {
			return err
		}
		if err := c.text(at+"."+m.name, m.text, true); err != nil {
			return err
		}
		if _, text, _ := openName(m.text); m.text != "" && strings.TrimSpace(text) == "" {
			return fmt.Errorf("%s.%s: says nothing of what it is; leave it out", at, m.name)
		}
	}
	if t.In == nil {
		return nil
	}
	if within == maxNesting {
		return fmt.Errorf("%s.in: more than %d elements around one", at, maxNesting)
	}
	return c.target(at+".in", t.In, within+1)
}

// roles are those of WAI-ARIA 1.2 that elements of a page have.
var roles = strings.Fields(`alert alertdialog application article banner blockquote button caption cell checkbox code
columnheader combobox complementary contentinfo definition deletion dialog directory document emphasis feed figure form
generic grid gridcell group heading img image insertion link list listbox listitem log main marquee math menu menubar menuitem
menuitemcheckbox menuitemradio meter navigation note option paragraph progressbar radio radiogroup region row
rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong subscript superscript switch tab
table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem`)

// gives are what can be read of an element.
var (
	gives    = []string{"", "text", "number", "value", "checked", "link", "attribute"}
	givesOwn = append(gives[:len(gives):len(gives)], "ref", "role", "name")
)

func (c *checker) read(at string, r *spec.ReadStep) error {
	if r.Max < 0 || r.Max > maxRows {
		return fmt.Errorf("%s.max: must be at most %d", at, maxRows)
	}
	if t := r.Table; t != nil {
		if r.List != nil || len(r.Fields) > 0 {
			return fmt.Errorf("%s: has table, and list or fields", at)
		}
		if len(t.Columns) > maxNames {
			return fmt.Errorf("%s.table.columns: more than %d", at, maxNames)
		}
		return c.target(at+".table.target", &t.Target, 0)
	}
	if len(r.Fields) == 0 || len(r.Fields) > maxNames {
		return fmt.Errorf("%s.fields: must be 1 to %d, unless there is a table", at, maxNames)
	}
	if r.List != nil {
		if r.List.Nth != 0 {
			return fmt.Errorf("%s.list.nth: a list is of all elements that are found", at)
		}
		if err := c.target(at+".list", r.List, 0); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(r.Fields) {
		f, at := r.Fields[name], at+".fields."+name
		gives := gives
		if c.own {
			gives = givesOwn
		}
		switch {
		case !slices.Contains(gives, f.Give):
			return fmt.Errorf("%s.give: must be one of %s", at, strings.Join(gives[1:], ", "))
		case (f.Give == "attribute") != (f.Attribute != ""):
			return fmt.Errorf(`%s.attribute: is there with "give": "attribute", and only then`, at)
		case f.Attribute != "" && !isAttribute(f.Attribute):
			return fmt.Errorf("%s.attribute: must be the name of an attribute", at)
		case f.Target == nil && r.List == nil:
			return fmt.Errorf("%s.target: is missing", at)
		case f.Target != nil:
			if err := c.target(at+".target", f.Target, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checker) waitStep(at string, w *spec.WaitStep) error {
	n := 0
	for _, is := range []bool{w.For != nil, w.Gone != nil, w.URL != ""} {
		if is {
			n++
		}
	}
	switch {
	case n != 1:
		return fmt.Errorf("%s: must have exactly one of for, gone and url", at)
	case w.For != nil:
		return c.target(at+".for", w.For, 0)
	case w.Gone != nil:
		return c.target(at+".gone", w.Gone, 0)
	}
	p, err := ParsePattern(w.URL)
	if err == nil && !c.own && !slices.ContainsFunc(c.tool.Pack.match, p.meets) {
		err = fmt.Errorf("%s is no page of match", w.URL)
	}
	if err != nil {
		return fmt.Errorf("%s.url: %w", at, err)
	}
	return nil
}
