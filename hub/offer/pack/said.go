package pack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Said puts a step in words, with the names of its arguments.
func Said(s *spec.Step) string { return said(s, nil) }

// said puts a step in words, with the arguments put in if there are any.
func said(s *spec.Step, args json.RawMessage) string {
	return writer{args: args}.step(s)
}

func (w writer) step(s *spec.Step) string {
	var words string
	switch {
	case s.Request != nil:
		words = w.request(s.Request)
	case s.Open != nil:
		words = "opens the page " + w.path(s.Open.Path) + w.pairs(" with ", s.Open.Query)
	case s.Click != nil:
		words = w.click(s.Click)
	case s.Fill != nil:
		words = w.fill(s.Fill)
	case s.Press != nil:
		words = "presses " + s.Press.Key
		if s.Press.Target != (spec.Target{}) {
			words += " in " + w.acted(&s.Press.Target)
		}
	case s.Read != nil:
		words = w.read(s.Read)
	case s.Wait != nil:
		words = w.wait(s.Wait)
	default:
		words = w.own(s)
	}
	if s.As != "" {
		words += " (called " + s.As + ")"
	}
	return words
}

// writer puts steps in words, with the arguments put in if there are any.
type writer struct {
	args json.RawMessage
	refs map[string]string // what references stand for, in words
}

func (w writer) click(c *spec.ActStep) string {
	how := "clicks "
	if c.Count == 2 {
		how = "double-clicks "
	}
	if c.Button == "right" {
		how = "right-clicks "
	}
	return how + w.acted(&c.Target)
}

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
		from = "each " + strings.TrimPrefix(w.target(r.List), "the ")
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
	case t.Ref != "":
		return cmp.Or(w.refs[t.Ref], t.Ref)
	case t.Selector != "":
		words = "the element " + quoted(t.Selector)
	case t.Label != "":
		words = "the field " + w.name(t.Label)
	case t.Name != "":
		words = t.Role + " " + w.name(t.Name)
	default:
		words = t.Role
	}
	one := strings.TrimPrefix(words, "the ")
	switch {
	case t.Nth == 1:
		words = "the first " + one
	case t.Nth == -1:
		words = "the last " + one
	case t.Nth < 0:
		words = fmt.Sprintf("the %s %s from the end", ordinal(-t.Nth), one)
	case t.Nth > 0:
		words = fmt.Sprintf("the %s %s", ordinal(t.Nth), one)
	}
	if t.In != nil {
		words += " in " + w.target(t.In)
	}
	return words
}

// ordinal returns a number as one that counts: 2nd.
func ordinal(n int) string {
	end := "th"
	if n/10%10 != 1 {
		end = cmp.Or(map[int]string{1: "st", 2: "nd", 3: "rd"}[n%10], end)
	}
	return fmt.Sprint(n) + end
}

// name quotes a name or a label, of which "..." leaves a part open.
func (w writer) name(s string) string {
	before, s, after := openName(s)
	switch s = quoted(w.text(s)); {
	case before && after:
		return "with " + s + " in its name"
	case after:
		return "whose name begins with " + s
	case before:
		return "whose name ends with " + s
	}
	return s
}

// openName returns the text of a name, and on which sides of it "..." stands for the rest.
func openName(s string) (before bool, text string, after bool) {
	text, before = strings.CutPrefix(s, "...")
	text, after = strings.CutSuffix(text, "...")
	return before, text, after
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
		return as(string(number(v)))
	})
}

// number returns a number as the browser writes it, which is not always as it was written. Other values stay.
func number(v json.RawMessage) json.RawMessage {
	var f float64
	if v[0] != '-' && (v[0] < '0' || v[0] > '9') || json.Unmarshal(v, &f) != nil {
		return v
	}
	is, _ := json.Marshal(f) // it is finite
	return is
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
	arg, from := ValueOf(v)
	if named := strings.TrimPrefix(from, "args."); named != from && isAs(named) {
		arg, from = named, "" // it is said as what it is
	}
	switch {
	case from != "":
		return "what " + oneLine(from) + " gives of what it has read", true
	case arg != "" && w.args == nil:
		return "the argument " + arg, true
	case arg != "":
		if v = rawjson.Get(w.args, arg); isAbsent(v) {
			return "", false
		}
		return compact(number(v)), true
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
	if arg, from := ValueOf(v); arg != "" || from != "" {
		words, ok := w.value(v)
		switch {
		case !ok:
			return "nothing"
		case w.args == nil || !json.Valid([]byte(words)):
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
		if w.absent(s) {
			return "nothing"
		}
		return quoted(w.text(s))
	}
	return string(v)
}
