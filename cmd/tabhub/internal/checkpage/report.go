package checkpage

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/pagecheck"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/face/mcpserver/expose"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// CheckReport is what --json prints; spec/docs/PAGES.md has its form.
type CheckReport struct {
	Version  int                 `json:"version"`
	URL      string              `json:"url"`    // as given
	Opened   string              `json:"opened"` // after redirects
	Title    string              `json:"title"`
	Tokens   int                 `json:"tokens"` // of all tools' definitions, about
	Budget   int                 `json:"budget"`
	Errors   int                 `json:"errors"`
	Warnings int                 `json:"warnings"`
	Notes    int                 `json:"notes"`
	Items    []CheckItem         `json:"items"`
	Findings []pagecheck.Finding `json:"findings"`
}

// CheckItem is one item that the page offers.
type CheckItem struct {
	Kind     spec.Kind   `json:"kind"`
	Template bool        `json:"template,omitempty"`
	Name     string      `json:"name"`           // as the page calls it
	Site     spec.Domain `json:"site,omitempty"` // of a frame; "": the page's
	Public   string      `json:"public"`         // as clients see it
	Tokens   int         `json:"tokens"`         // of its definition, about
	Class    string      `json:"class"`
	Calls    []CheckCall `json:"calls"`
}

// CheckCall is a call of an item.
type CheckCall struct {
	Arguments    json.RawMessage `json:"arguments,omitempty"`
	Outcome      string          `json:"outcome"` // ok, failed (by the page), or error (without an answer)
	Milliseconds int64           `json:"milliseconds"`
	Bytes        int             `json:"bytes"` // of the result
}

const checkVersion = 2

// count fills in the sums over the findings, the items and their calls.
func (r *CheckReport) count(p *pagecheck.Page, calls []pagecheck.Call) {
	bytes := 0
	r.Items = []CheckItem{}
	for i := range p.Items {
		it := &p.Items[i]
		if it.Kind == spec.KindTool {
			bytes += len(it.Definition) + len(",")
		}
		item := CheckItem{Kind: it.Kind, Template: it.Template, Name: it.Name, Site: it.Site, Public: it.Public, Tokens: expose.Tokens(len(it.Definition)), Class: it.Class.String(), Calls: []CheckCall{}}
		for _, call := range calls {
			if call.Item != it {
				continue
			}
			outcome := "ok"
			switch {
			case call.Failed != "":
				outcome = "error"
			case string(rawjson.Get(call.Result, "isError")) == "true":
				outcome = "failed"
			}
			item.Calls = append(item.Calls, CheckCall{call.Arguments, outcome, call.Took.Milliseconds(), len(call.Result)})
		}
		r.Items = append(r.Items, item)
	}
	r.Tokens = expose.Tokens(bytes)
	if r.Findings == nil {
		r.Findings = []pagecheck.Finding{}
	}
	for _, f := range r.Findings {
		switch f.Severity {
		case pagecheck.Error:
			r.Errors++
		case pagecheck.Warning:
			r.Warnings++
		default:
			r.Notes++
		}
	}
}

// verdict is the error by which the check fails, nil if it does not.
func (r *CheckReport) verdict() error {
	if r.Errors > 0 {
		return fmt.Errorf("the page has %s", r.summary())
	}
	return nil
}

func (r *CheckReport) summary() string {
	var parts []string
	for _, of := range []struct {
		n    int
		what string
	}{{r.Errors, "error"}, {r.Warnings, "warning"}, {r.Notes, "note"}} {
		if of.n > 0 {
			parts = append(parts, command.Plural(of.n, of.what))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing to change")
}

// PrintCheck prints a report for people.
func PrintCheck(a *command.App, r *CheckReport) error {
	a.Headline(r.Opened + "  " + r.Title)
	if !strings.HasPrefix(r.Opened, r.URL) {
		a.Hint("%s led there.", r.URL)
	}
	if len(r.Items) > 0 {
		fmt.Fprintln(a.Out)
		if err := printCheckItems(a, r); err != nil {
			return err
		}
		if r.Tokens > 0 {
			a.Hint("\nAll tools cost a model about %d tokens; hubs list up to %d by default.", r.Tokens, r.Budget)
		}
	}
	if len(r.Findings) > 0 {
		fmt.Fprintln(a.Out)
		if err := printFindings(a, r.Findings); err != nil {
			return err
		}
	}
	if r.Errors == 0 {
		a.Note("%s", r.summary())
	}
	return nil
}

func printCheckItems(a *command.App, r *CheckReport) error {
	t := a.Table("NAME", "KIND", "CHANGES", "TOKENS", "CALLED")
	for _, it := range r.Items {
		kind, tokens := string(it.Kind), fmt.Sprint(it.Tokens)
		if it.Template {
			kind = "template"
		}
		if it.Kind != spec.KindTool {
			tokens = "-"
		}
		t.Row((&pagecheck.Item{Name: it.Name, Site: it.Site}).Label(), kind, changes(it), tokens, called(it.Calls))
	}
	return t.Print()
}

// changes says what an item changes, by its annotations.
func changes(it CheckItem) terminal.Cell {
	if it.Kind != spec.KindTool {
		return terminal.Cell{Text: "-"}
	}
	switch it.Class {
	case policy.Read.String():
		return terminal.Cell{Text: "nothing", Tone: terminal.Good}
	case policy.Destructive.String():
		return terminal.Cell{Text: "for good", Tone: terminal.Bad}
	}
	return terminal.Cell{Text: "something", Tone: terminal.Wait}
}

// called sums up the outcomes of calls.
func called(calls []CheckCall) terminal.Cell {
	if len(calls) == 0 {
		return terminal.Cell{Text: "no", Tone: terminal.Soft}
	}
	var parts []string
	tone := terminal.Good
	for _, c := range calls {
		part := fmt.Sprintf("%s, %d ms", c.Outcome, c.Milliseconds)
		switch c.Outcome {
		case "failed":
			tone = max(tone, terminal.Wait)
		case "error":
			tone = terminal.Bad
		}
		parts = append(parts, part)
	}
	return terminal.Cell{Text: strings.Join(parts, "; "), Tone: tone}
}

// printFindings prints findings in their order.
func printFindings(a *command.App, all []pagecheck.Finding) error {
	t := a.Table()
	for _, f := range all {
		t.Row(severityCell(f.Severity), cmp.Or(f.Item, "the page"), terminal.OneLine(f.Text, 600)+" ["+string(f.Code)+"]")
		if f.Hint != "" {
			t.Row("", "", "fix: "+f.Hint)
		}
	}
	return t.Print()
}

var severityTones = map[pagecheck.Severity]terminal.Tone{pagecheck.Error: terminal.Bad, pagecheck.Warning: terminal.Wait, pagecheck.Note: terminal.Soft}

func severityCell(s pagecheck.Severity) terminal.Cell {
	return terminal.Cell{Text: string(s), Tone: severityTones[s], State: true}
}
