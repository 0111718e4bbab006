package pack

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// ActsMore reports whether a version of a pack may do something that another may not: at more pages,
// by a tool that does more than read and is new, of a higher class or of other steps, or by another script.
func ActsMore(was, is *Pack) bool {
	acts, _ := more(was, is)
	return len(acts) > 0
}

// more says what a version may do that another may not, and what else it reads.
func more(was, is *Pack) (acts, reads []string) {
	for _, m := range is.Match {
		if !slices.Contains(was.Match, m) {
			acts = append(acts, "it is at more pages: "+m)
		}
	}
	if url := is.StartURL(); url != "" && url != was.StartURL() {
		acts = append(acts, "a call may open another page: "+url)
	}
	if is.Script != was.Script && is.Script != "" {
		acts = append(acts, "its script is another, and can do anything on its sites")
	}
	for _, t := range is.tools {
		before := was.Tool(t.Name)
		switch {
		case before == nil && t.Class == policy.Read:
			reads = append(reads, "the tool "+t.Name+" is new and only reads")
		case before == nil:
			acts = append(acts, "the tool "+t.Name+" is new and "+classWords[t.Class])
		case t.Class > before.Class:
			acts = append(acts, fmt.Sprintf("the tool %s %s; it %s before", t.Name, classWords[t.Class], classWords[before.Class]))
		case !slices.Equal(stepsOf(t, true), stepsOf(before, true)):
			acts = append(acts, "the tool "+t.Name+" acts by other steps")
		case t.Class > policy.Read && schemaText(t.InputSchema) != schemaText(before.InputSchema):
			acts = append(acts, "the tool "+t.Name+" takes other arguments")
		case t.Class > policy.Read && wider(before.On, t.On):
			acts = append(acts, "the tool "+t.Name+" is offered on more pages")
		case !before.sends && t.sends:
			acts = append(acts, "the tool "+t.Name+" sends what it has read")
		case t.Class > policy.Read && !slices.Equal(stepsOf(t, false), stepsOf(before, false)):
			acts = append(acts, "the tool "+t.Name+" acts on what other steps read")
		case t.Class > policy.Read && !slices.Equal(stepsOf(t, true, false), stepsOf(before, true, false)):
			acts = append(acts, "the tool "+t.Name+" takes its steps in another order")
		case !slices.Equal(stepsOf(t, false), stepsOf(before, false)):
			reads = append(reads, "the tool "+t.Name+" reads by other steps")
		case t.PackTool.Result != before.PackTool.Result:
			reads = append(reads, "the tool "+t.Name+" gives something else of what it reads")
		}
	}
	return acts, reads
}

// wider reports whether a tool that is narrowed to some patterns is offered elsewhere, too.
func wider(was, is []string) bool {
	return len(was) > 0 && (len(is) == 0 || slices.ContainsFunc(is, func(p string) bool { return !slices.Contains(was, p) }))
}

// stepsOf returns the steps of a tool that act, or those that do not, or all.
func stepsOf(t *Tool, act ...bool) (all []string) {
	for i := range t.Steps {
		if slices.Contains(act, Acts(&t.Steps[i])) {
			all = append(all, string(encode(t.Steps[i])))
		}
	}
	return all
}

// Diff says what is different between two versions of a pack. The first entry says what the newer one
// may do that the other may not.
func Diff(was, is *Pack) []spec.AskChange {
	d := &changes{}
	first := spec.AskChange{What: "what it may do", Was: "as accepted", Is: "nothing more than before"}
	if acts, reads := more(was, is); len(acts) > 0 {
		first.Is = "more than before: " + strings.Join(append(acts, reads...), "; ")
	} else if len(reads) > 0 {
		first.Is = "nothing more than before, but it reads otherwise: " + strings.Join(reads, "; ")
	}
	d.all = append(d.all, first)
	for _, m := range []struct{ what, was, is string }{
		{"title", was.Title, is.Title}, {"description", was.Description, is.Description}, {"for", was.For, is.For},
		{"license", was.License, is.License}, {"start", was.Start, is.Start}, {"source", source(was), source(is)},
	} {
		d.add(m.what, m.was, m.is)
	}
	d.lists("page", was.Match, is.Match)
	d.lines("script", strings.Split(was.Script, "\n"), strings.Split(is.Script, "\n"))
	for _, t := range is.tools {
		if before := was.Tool(t.Name); before == nil {
			d.add("tool "+t.Name, "", strings.Join(t.all(), "\n"))
		} else {
			d.tool(before, t)
		}
	}
	for _, t := range was.tools {
		if is.Tool(t.Name) == nil {
			d.add("tool "+t.Name, strings.Join(t.all(), "\n"), "")
		}
	}
	if len(d.all) == 1 && was.Hash != is.Hash {
		d.add("the document", "the same in another order or spelling", "what each tool does and says is as before")
	}
	return d.all
}

func source(p *Pack) string {
	if p.Source == nil {
		return ""
	}
	return p.Source.Format + " " + p.Source.File + " " + p.Source.SHA256
}

// changes collects what is different.
type changes struct{ all []spec.AskChange }

func (d *changes) add(what, was, is string) {
	if was != is {
		d.all = append(d.all, spec.AskChange{What: what, Was: shownAs(was), Is: shownAs(is), Added: was == "", Removed: is == ""})
	}
}

// shownAs returns a text as its owner sees it.
func shownAs(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = visibleText(lines[i])
	}
	return strings.Join(lines, "\n")
}

// lists adds what is in one of two lists.
func (d *changes) lists(what string, was, is []string) {
	for _, s := range is {
		if !slices.Contains(was, s) {
			d.add(what, "", s)
		}
	}
	for _, s := range was {
		if !slices.Contains(is, s) {
			d.add(what, s, "")
		}
	}
}

// lines adds what two texts do not have in common, between their first and their last lines that are
// the same.
func (d *changes) lines(what string, was, is []string) {
	first := 0
	for first < min(len(was), len(is)) && was[first] == is[first] {
		first++
	}
	last := 0
	for last < min(len(was), len(is))-first && was[len(was)-1-last] == is[len(is)-1-last] {
		last++
	}
	a, b := was[first:len(was)-last], is[first:len(is)-last]
	if len(a)+len(b) > 0 {
		d.add(fmt.Sprintf("%s, from line %d", what, first+1), strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
}

// tool adds what is different of a tool.
func (d *changes) tool(was, is *Tool) {
	name := "tool " + is.Name + ": "
	for _, m := range []struct{ what, was, is string }{
		{"what it may do", classWords[was.Class], classWords[is.Class]}, {"title", was.Title, is.Title}, {"description", was.Description, is.Description},
		{"takes", schemaText(was.InputSchema), schemaText(is.InputSchema)}, {"gives", schemaText(was.OutputSchema), schemaText(is.OutputSchema)},
		{"hints", hintText(was), hintText(is)}, {"only on", strings.Join(was.On, ", "), strings.Join(is.On, ", ")},
		{"result", was.PackTool.Result, is.PackTool.Result}, {"examples", examplesText(was), examplesText(is)},
	} {
		d.add(name+m.what, m.was, m.is)
	}
	for i := range max(len(was.Steps), len(is.Steps)) {
		d.add(fmt.Sprintf("%sstep %d", name, i+1), stepText(was, i), stepText(is, i))
	}
}

// stepText says a step whole, "" if there is none.
func stepText(t *Tool, i int) string {
	if i >= len(t.Steps) {
		return ""
	}
	return whole(&t.Steps[i])
}

// schemaText returns a schema on one line, "" if there is none.
func schemaText(v json.RawMessage) string {
	if v == nil {
		return ""
	}
	return compact(v)
}

// hintText returns the hints of a tool, "" if it has none.
func hintText(t *Tool) string {
	if t.Annotations == nil {
		return ""
	}
	return compact(encode(t.Annotations))
}

// examplesText returns the examples of a tool, one a line.
func examplesText(t *Tool) string {
	var all []string
	for _, e := range t.Examples {
		all = append(all, compact(encode(e)))
	}
	return strings.Join(all, "\n")
}
