package pack

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tabhub/describe"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Words says what the pack may do, for its owner: a line for all of it, and then all that it has,
// whole.
func (p *Pack) Words() []string {
	all := []string{p.summary()}
	for _, m := range []struct{ what, text string }{
		{"It says of itself: ", quoted(p.Description)}, {"It says that it is for: ", quoted(p.For)}, {"Its title: ", quoted(p.Title)}, {"Its license: ", quoted(p.License)},
	} {
		if m.text != `""` {
			all = append(all, m.what+m.text)
		}
	}
	all = append(all, "Its pages: "+strings.Join(p.Match, ", "))
	if p.Start != "" {
		all = append(all, "A call opens "+p.StartURL()+" if no tab shows one of its pages")
	}
	if s := p.Source; s != nil {
		all = append(all, fmt.Sprintf("It was made from the %s file %s (SHA-256 %s)", s.Format, quoted(s.File), s.SHA256))
	}
	if p.Script != "" {
		all = append(all, fmt.Sprintf("Its script has %d lines, which tabhub does not check", 1+strings.Count(p.Script, "\n")))
	}
	for _, t := range p.tools {
		all = append(all, t.all()...)
	}
	return all
}

// summary says in one line what the pack may do at most.
func (p *Pack) summary() string {
	var sites, does, worst, flows []string
	for _, m := range p.match {
		sites = addNew(sites, m.sites())
	}
	head := fmt.Sprintf("Pack %s at %s: ", p.Name, listOf(sites))
	if n := len(p.tools); n > 1 {
		head = fmt.Sprintf("Pack %s, %d tools at %s: ", p.Name, n, listOf(sites))
	}
	if p.Script != "" {
		return head + "its script can do anything on these sites: read all that is there for you, act as you, and send it anywhere"
	}
	verbs := map[string]string{"open": "opens pages", "click": "clicks", "fill": "fills fields", "press": "presses keys"}
	for _, t := range p.tools {
		for i := range t.Steps {
			switch s := &t.Steps[i]; {
			case s.Request != nil && Acts(s):
				does = addNew(does, "sends "+method(s.Request)+" "+s.Request.Path)
			case Acts(s):
				does = addNew(does, verbs[Verb(s)])
			}
		}
		if t.Class == policy.Destructive {
			worst = append(worst, t.Name)
		}
		if t.sends {
			flows = append(flows, t.Name)
		}
	}
	slices.SortStableFunc(does, func(a, b string) int { return order(a) - order(b) })
	said := head + "it " + listOf(append(does, "reads pages")) + ", with your session there"
	if len(does) == 0 {
		said = head + "it only reads, with your session there"
	}
	if len(worst) > 0 {
		said += "; what " + listOf(worst) + plural(len(worst), " changes", " change") + " cannot be undone"
	}
	if len(flows) > 0 {
		said += "; what it has read is part of what it sends (" + strings.Join(flows, ", ") + ")"
	}
	return said
}

// order puts requests before what is done on the page.
func order(does string) int {
	if strings.HasPrefix(does, "sends ") {
		return 0
	}
	return 1
}

// classWords say what a call of a class may do.
var classWords = map[policy.Class]string{
	policy.Read: "only reads", policy.Write: "may change something", policy.Destructive: "may change what cannot be undone",
}

// all says all of a tool.
func (t *Tool) all() []string {
	head := fmt.Sprintf("Tool %s %s", t.Name, classWords[t.Class])
	if t.Pack.Script != "" && t.hints().ReadOnly {
		head += ", though it says that it only reads"
	}
	all := []string{head + ". It says of itself: " + quoted(t.Description)}
	if t.Title != "" {
		all = append(all, "  its title: "+quoted(t.Title))
	}
	if len(t.On) > 0 {
		all = append(all, "  only on: "+strings.Join(t.On, ", "))
	}
	if t.InputSchema != nil {
		all = append(all, "  takes: "+compact(t.InputSchema))
	}
	if t.OutputSchema != nil {
		all = append(all, "  gives: "+compact(t.OutputSchema))
	}
	for i := range t.Steps {
		all = append(all, fmt.Sprintf("  %d. %s", i+1, whole(&t.Steps[i])))
	}
	if t.PackTool.Result != "" {
		all = append(all, "  its result: "+oneLine(t.PackTool.Result))
	}
	for _, e := range t.Examples {
		all = append(all, "  an example: "+compact(encode(e)))
	}
	return all
}

// Words says what a call does: its acting steps whole, with the arguments put in, and how often it
// reads. Without args, it has the names of the arguments.
func (t *Tool) Words(args json.RawMessage) (all []string) {
	if len(t.Steps) == 0 {
		return []string{"what the script does is not known: it can do anything on its sites"}
	}
	reads := 0
	for i := range t.Steps {
		if s := &t.Steps[i]; Acts(s) {
			all = append(all, said(s, args))
		} else if s.Wait == nil {
			reads++
		}
	}
	switch {
	case reads == 1:
		all = append(all, "reads once")
	case reads > 1:
		all = append(all, fmt.Sprintf("reads %d times", reads))
	}
	return all
}

// whole puts a step in words, with what bounds it.
func whole(s *spec.Step) string {
	words := said(s, nil)
	if s.Click != nil && s.Click.Navigates || s.Press != nil && s.Press.Navigates {
		words += "; another page follows"
	}
	if s.Read != nil {
		if s.Read.Max != 0 {
			words += fmt.Sprintf("; at most %d rows", s.Read.Max)
		}
		for _, name := range sortedKeys(s.Read.Fields) {
			if s.Read.Fields[name].Optional {
				words += "; " + quoted(name) + " may be absent"
			}
		}
	}
	if s.Timeout != 0 {
		words += fmt.Sprintf("; within %d s", s.Timeout)
	}
	return words
}

// said puts a step in words.
func said(s *spec.Step, args json.RawMessage) string {
	w := writer{args}
	var words string
	switch {
	case s.Request != nil:
		words = w.request(s.Request)
	case s.Open != nil:
		words = "opens the page " + w.path(s.Open.Path) + w.pairs(" with ", s.Open.Query)
	case s.Click != nil:
		words = "clicks " + w.acted(&s.Click.Target)
	case s.Fill != nil:
		words = w.fill(s.Fill)
	case s.Press != nil:
		words = "presses " + s.Press.Key + " in " + w.acted(&s.Press.Target)
	case s.Read != nil:
		words = w.read(s.Read)
	case s.Wait != nil:
		words = w.wait(s.Wait)
	}
	if s.As != "" {
		words += " (called " + s.As + ")"
	}
	return words
}

// writer puts steps in words, with the arguments put in if there are any.
type writer struct{ args json.RawMessage }

func (w writer) request(r *spec.RequestStep) string {
	verb := "asks for"
	if method(r) != "GET" {
		verb = "sends"
	}
	words := verb + " " + method(r) + " " + w.path(r.Path) + w.pairs(" with ", r.Query)
	if method(r) == "GET" {
		words += " (which may still change something there)"
	}
	if r.JSON != nil {
		words += " and the JSON " + w.json(r.JSON)
	}
	words += w.pairs(" and the fields ", r.Form)
	if t := r.Token; t != nil {
		words += ", and the site's token from " + tokenSource(t)
		if t.Header != "" {
			words += " in the header " + t.Header
		} else {
			words += " in the field " + quoted(t.Field)
		}
	}
	if r.Take != "" {
		words += "; takes " + oneLine(r.Take)
	}
	return words
}

// tokenSource says where a token comes from.
func tokenSource(t *spec.TokenRule) string {
	switch {
	case t.Meta != "":
		return "the meta element " + quoted(t.Meta)
	case t.Hidden != "":
		return "the hidden field " + quoted(t.Hidden)
	case t.Cookie != "":
		return "the cookie " + quoted(t.Cookie)
	case t.Storage != "":
		return "the page's storage, key " + quoted(t.Storage)
	}
	attribute := t.Page.Attribute
	if attribute == "" {
		attribute = "value"
	}
	return fmt.Sprintf("the page %s, %s of %s", t.Page.Path, attribute, quoted(t.Page.Selector))
}

func (w writer) fill(f *spec.FillStep) string {
	var all []string
	for i := range f.Fields {
		field := &f.Fields[i]
		if value, ok := w.value(field.Value); ok {
			all = append(all, w.acted(&field.Target)+" with "+value)
		}
	}
	if len(all) == 0 {
		return "leaves the fields as they are"
	}
	return "fills " + strings.Join(all, ", and ")
}

func (w writer) read(r *spec.ReadStep) string {
	var what []string
	from := ""
	switch {
	case r.Table != nil:
		from = "the rows of " + w.target(&r.Table.Target)
		for _, header := range sortedKeys(r.Table.Columns) {
			what = append(what, fmt.Sprintf("%s as %s", quoted(header), quoted(r.Table.Columns[header])))
		}
		if len(what) == 0 {
			what = []string{"all columns"}
		}
	case r.List != nil:
		from = "each " + w.target(r.List)
	default:
		from = "the page"
	}
	for _, name := range sortedKeys(r.Fields) {
		f := r.Fields[name]
		give := f.Give
		switch give {
		case "":
			give = "text"
		case "attribute":
			give = "attribute " + f.Attribute
		}
		of := "it"
		if f.Target != nil {
			of = w.target(f.Target)
		}
		what = append(what, fmt.Sprintf("%s (the %s of %s)", quoted(name), give, of))
	}
	return "reads " + from + ": " + strings.Join(what, ", ")
}

func (w writer) wait(s *spec.WaitStep) string {
	switch {
	case s.For != nil:
		return "waits for " + w.target(s.For)
	case s.Gone != nil:
		return "waits until there is no " + w.target(s.Gone)
	}
	return "waits for a page " + s.URL
}

// acted is target for an element that is acted on.
func (w writer) acted(t *spec.Target) string {
	words := w.target(t)
	if t.Selector != "" {
		words += " (a selector: it does not say what the element is)"
	}
	return words
}

// target says which element a target finds.
func (w writer) target(t *spec.Target) string {
	var words string
	switch {
	case t.Selector != "":
		words = "the element " + quoted(t.Selector)
	case t.Label != "":
		words = "the field " + w.name(t.Label)
	case t.Name != "":
		words = t.Role + " " + w.name(t.Name)
	default:
		words = t.Role
	}
	switch {
	case t.Nth == -1:
		words = "the last of " + words
	case t.Nth < 0:
		words = fmt.Sprintf("number %d from the end of %s", -t.Nth, words)
	case t.Nth > 0:
		words = fmt.Sprintf("number %d of %s", t.Nth, words)
	}
	if t.In != nil {
		words += " in " + w.target(t.In)
	}
	return words
}

// name quotes a name or a label, of which "..." leaves a part open.
func (w writer) name(s string) string {
	begin, end := strings.HasSuffix(s, "..."), strings.HasPrefix(s, "...")
	s = strings.TrimPrefix(strings.TrimSuffix(s, "..."), "...")
	switch s = quoted(w.text(s)); {
	case begin && end:
		return "with " + s + " in its name"
	case begin:
		return "whose name begins with " + s
	case end:
		return "whose name ends with " + s
	}
	return s
}

// path puts the arguments into a path, as the browser does.
func (w writer) path(s string) string { return w.put(s, url.PathEscape) }

// text puts the arguments into a text.
func (w writer) text(s string) string { return w.put(s, func(s string) string { return s }) }

func (w writer) put(s string, as func(string) string) string {
	if w.args == nil {
		return s
	}
	return inText.ReplaceAllStringFunc(s, func(ref string) string {
		v := rawjson.Get(w.args, ref[2:len(ref)-1])
		if v == nil {
			return ref
		}
		if s, ok := rawjson.String(v); ok {
			return as(s)
		}
		return as(string(v))
	})
}

// absent reports whether a text needs an argument that is not there.
func (w writer) absent(s string) bool {
	if w.args == nil {
		return false
	}
	for _, m := range inText.FindAllStringSubmatch(s, -1) {
		if isAbsent(rawjson.Get(w.args, m[1])) {
			return true
		}
	}
	return false
}

// isAbsent reports whether an argument counts as absent.
func isAbsent(v json.RawMessage) bool { return v == nil || string(v) == "null" }

// value says what a Value stands for; ok is false if that is an argument that is not there.
func (w writer) value(v json.RawMessage) (words string, ok bool) {
	switch arg, from := valueOf(v); {
	case from != "":
		return "what " + oneLine(from) + " gives of what it has read", true
	case arg != "" && w.args == nil:
		return "the argument " + arg, true
	case arg != "":
		v = rawjson.Get(w.args, arg)
		return compact(v), !isAbsent(v)
	}
	if s, isText := rawjson.String(v); isText {
		return quoted(w.text(s)), !w.absent(s)
	}
	return compact(v), true
}

// pairs says what the Values of a map stand for, after some words; "" if there are none.
func (w writer) pairs(words string, all map[string]json.RawMessage) string {
	var said []string
	for _, name := range sortedKeys(all) {
		if value, ok := w.value(all[name]); ok {
			if strings.Trim(name, letters+digits+"_.[]-") != "" {
				name = quoted(name)
			}
			said = append(said, name+"="+value)
		}
	}
	if len(said) == 0 {
		return ""
	}
	return words + strings.Join(said, ", ")
}

// json writes a body with what its Values stand for.
func (w writer) json(v json.RawMessage) string {
	if arg, from := valueOf(v); arg != "" || from != "" {
		words, ok := w.value(v)
		switch {
		case !ok:
			return "nothing"
		case w.args == nil || from != "":
			return "<" + words + ">"
		}
		return words
	}
	var parts []string
	switch v[0] {
	case '{':
		for key, value := range rawjson.Members(v) {
			if said := w.json(value); said != "nothing" {
				parts = append(parts, quoted(key)+":"+said)
			}
		}
		return "{" + strings.Join(parts, ",") + "}"
	case '[':
		for e := range rawjson.Elements(v) {
			parts = append(parts, w.json(e))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case '"':
		s, _ := rawjson.String(v)
		return quoted(w.text(s))
	}
	return string(v)
}

// quoted returns a text in quotes, on one line, with what a reader does not see as escapes.
func quoted(s string) string { return visibleText(strconv.Quote(s)) }

// visibleText shows what a reader does not see as escapes.
func visibleText(s string) string { return describe.Visible(s) }

// oneLine returns a text on one line.
func oneLine(s string) string { return describe.Clean(s, math.MaxInt) }

// compact returns JSON on one line.
func compact(v json.RawMessage) string {
	return string(describe.VisibleJSON(rawjson.Compact(nil, v)))
}

// listOf joins words as a sentence has them.
func listOf(all []string) string {
	if n := len(all); n > 1 {
		return strings.Join(all[:n-1], ", ") + " and " + all[n-1]
	}
	return strings.Join(all, "")
}

func addNew(all []string, s string) []string {
	if slices.Contains(all, s) {
		return all
	}
	return append(all, s)
}
