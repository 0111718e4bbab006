package pack

import (
	"encoding/json"
	"fmt"
	"math"
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
		all = append(all, fmt.Sprintf("It says that it was made from the %s file %s (SHA-256 %s)", s.Format, quoted(s.File), s.SHA256))
	}
	if p.Script != "" {
		all = append(all, fmt.Sprintf("Its script has %d lines, which tabhub does not check. The hash that a browser shows when it asks you begins with %s", 1+strings.Count(p.Script, "\n"), p.Hash[:12]))
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
			case s.Request != nil: // which its server may take for more than a question
				does = addNew(does, "asks for "+s.Request.Path)
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
	switch {
	case strings.HasPrefix(does, "sends "):
		return 0
	case strings.HasPrefix(does, "asks for "):
		return 1
	}
	return 2
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
		all = append(all, "  takes: "+shape(t.InputSchema))
	}
	if t.OutputSchema != nil {
		all = append(all, "  gives: "+shape(t.OutputSchema))
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
