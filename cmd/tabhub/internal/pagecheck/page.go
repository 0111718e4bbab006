package pagecheck

import (
	"encoding/json"
	"strings"

	"tabhub/hub/offer/item"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// Page is what a page offers, as the hub has taken it.
type Page struct {
	Items    []Item
	Rejected []spec.Rejection // what was set aside
	Warnings []spec.Rejection // about parts that were left out
	Errors   []ScriptMessage  // that the page's scripts have raised or written
	Busy     string           // why it may not have offered all that it does; "" if it has come to rest
}

// Item is a tool, resource, resource template or prompt.
type Item struct {
	Kind       spec.Kind
	Template   bool
	Name       string          // the page's own: a URI, if it is a resource
	Site       spec.Domain     // of the frame that offers it; "" for the page's own
	Public     string          // as clients see it
	Registered json.RawMessage // as the page gave it
	Definition json.RawMessage // as clients are listed it
	Class      policy.Class
}

// Label names the item for people: a frame of another site may have one of the same name.
func (it *Item) Label() string {
	if it.Site == "" {
		return it.Name
	}
	return it.Name + " @ " + string(it.Site)
}

// ScriptMessage is what a script of the page has raised or written to the console.
type ScriptMessage struct {
	Thrown bool   // and not caught
	Dialog string // "alert", "confirm" or "prompt", if it was shown in one
	Text   string
	Where  string // URL:line
}

func (m ScriptMessage) String() string {
	if m.Where == "" {
		return m.Text
	}
	return m.Text + " (" + m.Where + ")"
}

// Examine returns the findings about a page; it calls no tool.
func Examine(p *Page) []Finding {
	r := new(report)
	if len(p.Items) == 0 && len(p.Rejected) == 0 {
		r.add(Error, NothingOffered, "offer tools with document.modelContext.registerTool, or with /tab.js of the hub", "the page offers no tool, resource or prompt")
	}
	if p.Busy != "" {
		r.add(Warning, PageBusy, "offer tools as soon as the page can run them, or give it more --timeout", "%s; this is about what was there until then", p.Busy)
	}
	for _, no := range p.Rejected {
		r.item = no.Name
		r.add(Error, SetAside, "", "it is not taken: %s", no.Reason)
	}
	for _, part := range p.Warnings {
		r.item = part.Name
		if change, ok := strings.CutPrefix(part.Reason, item.ListedOtherwise); ok {
			r.add(Note, ListedOtherwise, "", "clients are listed it otherwise: %s", change)
		} else if strings.HasPrefix(part.Reason, "inputSchema: ") || strings.HasPrefix(part.Reason, "outputSchema: ") {
			r.add(Error, SchemaInvalid, "", "it is left out: %s", part.Reason)
		} else {
			r.add(Warning, PartLeftOut, "", "it is left out: %s", part.Reason)
		}
	}
	r.item = ""
	for _, m := range p.Errors {
		switch {
		case m.Thrown:
			r.add(Warning, ScriptError, "", "a script of the page has failed: %s", m)
		case m.Dialog != "":
			r.add(Warning, DialogShown, "say it in the page, or in the tool's result", "the page calls %s(), and stands still until a person answers: %s", m.Dialog, m)
		default:
			r.add(Note, ConsoleError, "", "the console has an error: %s", m)
		}
	}
	return r.all
}
