// Package draft makes packs of what persons have shown.
package draft

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"tabhub/describe"
	"tabhub/hub/offer/pack"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Make makes a pack with one tool of what a person has shown. With before, the draft of what was shown
// earlier, both must have taken the same steps: the texts in which they differ become arguments.
func Make(r *spec.Recorded, before *spec.Pack) (*spec.Pack, error) {
	if len(r.Steps) == 0 {
		return nil, errors.New("nothing was recorded")
	}
	origin, path := pack.SplitURL(r.URL)
	d := &drafter{input: []byte{'{'}}
	var doc spec.Pack
	var tool spec.PackTool
	if before == nil {
		_, host, _ := strings.Cut(origin, "://")
		doc = spec.Pack{Format: spec.PackFormat, Name: r.Name, Title: describe.Clean("Recorded at "+host, spec.MaxTitle), Match: []string{origin + "/*"}, Start: path}
		if doc.Name == "" {
			doc.Name = cmp.Or(strings.ReplaceAll(slug(host), "_", "-"), "recorded") // an address of digits gives none
		}
		tool = spec.PackTool{Name: toolName(r.Steps), Description: description(r, host), Steps: d.literal(r.Steps)}
		tool.InputSchema = d.schema()
	} else {
		if len(before.Tools) != 1 || before.Script != "" || len(before.Match) == 0 || !strings.HasPrefix(before.Match[0], origin+"/") {
			return nil, fmt.Errorf("the draft %s is not of what was recorded at %s; record it under another name", before.Name, origin)
		}
		doc, tool = *before, before.Tools[0]
		d.take(tool.InputSchema)
		steps, err := d.merge(tool.Steps, r.Steps)
		if err != nil {
			return nil, err
		}
		tool.Steps, tool.InputSchema = steps, d.schema()
		tool.Examples = []spec.PackExample{{At: path, Input: append(d.input, '}')}}
	}
	doc.Tools = []spec.PackTool{tool}
	p, err := pack.New(&doc)
	if err != nil {
		return nil, fmt.Errorf("what was recorded makes no pack: %w", err)
	}
	return &p.Pack, nil
}

// description says what was recorded, until its owner says what it is for.
func description(r *spec.Recorded, host string) string {
	said := "Does what was recorded at " + host
	if title := describe.Clean(r.Title, 80); title != "" {
		said += fmt.Sprintf(" on the page %q", title)
	}
	said += ". Say here what it is for."
	if len(r.Secrets) > 0 {
		var all []string
		for _, s := range r.Secrets {
			all = append(all, describe.Clean(s, 80))
		}
		said += " A person has to fill in: " + strings.Join(all, ", ") + "."
	}
	return describe.Clean(said, spec.MaxDescription)
}

// toolName names a tool by the last element that is clicked.
func toolName(steps []spec.Step) string {
	for i := len(steps) - 1; i >= 0; i-- {
		if c := steps[i].Click; c != nil && slug(c.Target.Name) != "" {
			return slug(c.Target.Name)
		}
	}
	return "recorded"
}

// slug returns a text in letters, digits and _, 32 at most.
func slug(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789", r) }), "_")
	s = strings.TrimLeft(s, "_0123456789")
	return strings.Trim(s[:min(len(s), 32)], "_")
}

// inText is a reference of a text to an argument.
var inText = regexp.MustCompile(`\$\{([^{}]*)\}`)

// drafter finds the arguments of two recordings.
type drafter struct {
	properties []string          // names of arguments, with their schemas
	types      []json.RawMessage // by index of properties
	pairs      []pair            // what arguments stand for
	input      []byte            // an object of what is, by name
}

// pair is what was and what is where an argument stands, as JSON.
type pair struct{ was, is, name string }

// take takes the arguments of the earlier draft.
func (d *drafter) take(schema json.RawMessage) {
	for name, v := range rawjson.Members(rawjson.Get(schema, "properties")) {
		d.properties, d.types = append(d.properties, name), append(d.types, v)
	}
}

// schema returns the schema of the arguments, nil if there are none.
func (d *drafter) schema() json.RawMessage {
	if len(d.properties) == 0 {
		return nil
	}
	properties, required := []byte{'{'}, []byte{'['}
	for i, name := range d.properties {
		properties = rawjson.AppendMember(properties, name, d.types[i])
		if i > 0 {
			required = append(required, ',')
		}
		required = rawjson.AppendString(required, name)
	}
	out := rawjson.AppendMember([]byte(`{"type":"object"`), "properties", append(properties, '}'))
	return append(rawjson.AppendMember(out, "required", append(required, ']')), '}')
}

// argument returns the name of the argument that stands for what differs, of what it is for.
func (d *drafter) argument(of string, was, is json.RawMessage, typ string) string {
	for _, p := range d.pairs {
		if p.was == string(was) && p.is == string(is) {
			return p.name
		}
	}
	if of = slug(of); of == "" {
		of = "value"
	}
	name := of
	for n := 2; slices.Contains(d.properties, name); n++ {
		name = fmt.Sprintf("%s_%d", of, n)
	}
	d.pairs = append(d.pairs, pair{string(was), string(is), name})
	d.properties, d.types = append(d.properties, name), append(d.types, json.RawMessage(`{"type":"`+typ+`"}`))
	d.give(name, is)
	return name
}

// give notes the value of an argument for the example.
func (d *drafter) give(name string, v json.RawMessage) {
	if rawjson.Get(append(d.input[:len(d.input):len(d.input)], '}'), name) == nil {
		d.input = rawjson.AppendMember(d.input, name, v)
	}
}

// literal returns steps whose texts stand for themselves: one in which "${" would begin an argument
// becomes one.
func (d *drafter) literal(steps []spec.Step) []spec.Step {
	steps = slices.Clone(steps)
	for i := range steps {
		if steps[i].Fill == nil {
			continue
		}
		fill := spec.FillStep{Fields: slices.Clone(steps[i].Fill.Fields)}
		for j := range fill.Fields {
			f := &fill.Fields[j]
			if s, _ := rawjson.String(f.Value); strings.Contains(s, "${") {
				f.Value = append(rawjson.AppendString([]byte(`{"arg":`), d.argument(f.Target.Label+f.Target.Name, f.Value, f.Value, "string")), '}')
			}
		}
		steps[i].Fill = &fill
	}
	return steps
}

// merge returns the steps of two recordings, with arguments where they differ.
func (d *drafter) merge(was, is []spec.Step) ([]spec.Step, error) {
	// Of the earlier steps, those that nobody showed are the owner's: they stay.
	var all []spec.Step
	next := 0
	for i := range was {
		if !recorded(&was[i]) {
			all = append(all, was[i])
			continue
		}
		if next == len(is) {
			return nil, fmt.Errorf("this time nothing follows step %d, %s; show the same steps again, or record under another name", next, pack.Said(&was[i]))
		}
		s := was[i]
		if !d.step(&s, &is[next]) {
			return nil, fmt.Errorf("step %d is %s, and was %s; show the same steps again, or record under another name", next+1, pack.Said(&is[next]), pack.Said(&was[i]))
		}
		all = append(all, s)
		next++
	}
	if next < len(is) {
		return nil, fmt.Errorf("step %d, %s, is new; show the same steps again, or record under another name", next+1, pack.Said(&is[next]))
	}
	return all, nil
}

// recorded reports whether a recording has steps of that verb.
func recorded(s *spec.Step) bool { return s.Read == nil && s.Wait == nil && s.Request == nil }

// step puts arguments into a step where another one differs. It reports false if they do not do
// the same.
func (d *drafter) step(s, is *spec.Step) bool {
	verb := pack.Verb(s)
	if verb != pack.Verb(is) {
		return false
	}
	switch verb {
	case "open":
		open := *s.Open
		s.Open = &open
		return d.text(&open.Path, is.Open.Path, "page", true) && d.values(&open.Query, is.Open.Query)
	case "click":
		click := *s.Click
		click.Navigates = click.Navigates || is.Click.Navigates
		s.Click = &click
		return d.target(&click.Target, &is.Click.Target)
	case "press":
		press := *s.Press
		press.Navigates = press.Navigates || is.Press.Navigates
		s.Press = &press
		return press.Key == is.Press.Key && d.target(&press.Target, &is.Press.Target)
	case "fill":
		fill := spec.FillStep{Fields: slices.Clone(s.Fill.Fields)}
		s.Fill = &fill
		if len(fill.Fields) != len(is.Fill.Fields) {
			return false
		}
		for i := range fill.Fields {
			f, other := &fill.Fields[i], &is.Fill.Fields[i]
			of := other.Target.Label + other.Target.Name
			if !d.target(&f.Target, &other.Target) || !d.value(&f.Value, other.Value, of) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(s, is)
}

func (d *drafter) target(t, is *spec.Target) bool {
	if t.Role != is.Role || t.Selector != is.Selector || t.Nth != is.Nth || (t.In == nil) != (is.In == nil) {
		return false
	}
	if t.In != nil {
		in := *t.In
		t.In = &in
		if !d.target(&in, is.In) {
			return false
		}
	}
	return d.text(&t.Name, is.Name, t.Role, false) && d.text(&t.Label, is.Label, "field", false)
}

// dataRoles are roles of elements whose whole names tend to be a site's data.
var dataRoles = []string{"link", "option", "cell", "gridcell", "row", "rowheader", "listitem", "treeitem", "menuitem", "radio", "tab", "heading"}

// text puts an argument for what differs into a text: whole words, in a path segments, and all of a
// name that is data.
func (d *drafter) text(s *string, is, of string, path bool) bool {
	if *s == is {
		return true
	}
	if m := inText.FindStringSubmatchIndex(*s); m != nil { // of an earlier time
		before, after, name := (*s)[:m[0]], (*s)[m[1]:], (*s)[m[2]:m[3]]
		if inText.MatchString(after) || len(is) <= len(before)+len(after) || !strings.HasPrefix(is, before) || !strings.HasSuffix(is, after) {
			return false
		}
		d.give(name, rawjson.AppendString(nil, is[len(before):len(is)-len(after)]))
		return true
	}
	if *s == "" || is == "" {
		return false
	}
	for _, p := range d.pairs { // part of which an argument is already
		was, _ := rawjson.String(json.RawMessage(p.was))
		now, _ := rawjson.String(json.RawMessage(p.is))
		if was != "" && strings.Replace(*s, was, now, 1) == is && !path {
			*s = strings.Replace(*s, was, "${"+p.name+"}", 1)
			return true
		}
	}
	between := " "
	if path {
		between = "/"
	} else if slices.Contains(dataRoles, of) {
		between = "\n"
	}
	a, b := strings.Split(*s, between), strings.Split(is, between)
	first, last := 0, 0
	for first < min(len(a), len(b)) && a[first] == b[first] {
		first++
	}
	for last < min(len(a), len(b))-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	if first+last == len(a) || first+last == len(b) { // nothing stands in one of them where the other has words
		if first > 0 {
			first--
		} else {
			last--
		}
	}
	was, now := strings.Join(a[first:len(a)-last], between), strings.Join(b[first:len(b)-last], between)
	if path && strings.Contains(was+now, "/") || was == "" || now == "" {
		return false
	}
	name := d.argument(of, rawjson.AppendString(nil, was), rawjson.AppendString(nil, now), "string")
	parts := append(append(append([]string(nil), a[:first]...), "${"+name+"}"), a[len(a)-last:]...)
	*s = strings.Join(parts, between)
	return true
}

// value puts an argument in place of a Value that differs.
func (d *drafter) value(v *json.RawMessage, is json.RawMessage, of string) bool {
	if string(*v) == string(is) {
		return true
	}
	if arg, _ := pack.ValueOf(*v); arg != "" {
		d.give(arg, is)
		return true
	}
	if len(*v) == 0 || len(is) == 0 || (*v)[0] != is[0] && !isBool(*v, is) {
		return false
	}
	typ := map[byte]string{'"': "string", 't': "boolean", 'f': "boolean"}[is[0]]
	if typ == "" {
		return false
	}
	*v = append(rawjson.AppendString([]byte(`{"arg":`), d.argument(of, *v, is, typ)), '}')
	return true
}

func isBool(a, b json.RawMessage) bool {
	return (a[0] == 't' || a[0] == 'f') && (b[0] == 't' || b[0] == 'f')
}

func (d *drafter) values(all *map[string]json.RawMessage, is map[string]json.RawMessage) bool {
	if len(*all) != len(is) {
		return false
	}
	made := map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(*all)) {
		v := (*all)[name]
		if is[name] == nil || !d.value(&v, is[name], name) {
			return false
		}
		made[name] = v
	}
	if len(made) > 0 {
		*all = made
	}
	return true
}
