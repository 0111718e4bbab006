package pagecheck

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tabhub/hub/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Page is what a page offers, as the hub has taken it.
type Page struct {
	Items    []Item
	Rejected []spec.Rejection // what was set aside
	Warnings []spec.Rejection // about parts that were left out
	Errors   []ScriptMessage  // that the page's scripts have raised or written
	Busy     string           // why it may not have offered all that it does; "" if it has come to rest
	Budget   int              // tokens that a list of tools may cost
	Tokens   func(bytes int) int
}

// Item is a tool, resource, resource template or prompt.
type Item struct {
	Kind       spec.Kind
	Template   bool
	Name       string          // the page's own: a URI, if it is a resource
	Site       spec.Domain     // of the frame that offers it; "" for the page's own
	Public     string          // as clients see it
	Local      bool            // its site is an address of this machine, not the one that users see
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

const (
	maxToolTokens = 1500 // from where on one tool is large
	manyTools     = 50   // from where on a model gets lost
)

// Examine returns what is to be said of a page without calling anything.
func Examine(p *Page) []Finding {
	r := new(report)
	if len(p.Items) == 0 && len(p.Rejected) == 0 {
		r.add(Error, NothingOffered, "offer tools with document.modelContext.registerTool, or with /tab.js of the hub; if it does so late, pass a longer --wait", "the page offers no tool, resource or prompt")
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
		if strings.HasPrefix(part.Reason, "inputSchema: ") || strings.HasPrefix(part.Reason, "outputSchema: ") {
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
	p.cost(r)
	p.names(r)
	for i := range p.Items {
		it := &p.Items[i]
		r.item = it.Label()
		it.name(r)
		it.description(r)
		it.hints(r)
		if it.Kind == spec.KindTool {
			parameters(r, it.member("inputSchema"))
		}
		inspect(r, it.Registered, p.offered())
	}
	p.alike(r)
	return r.all
}

// cost compares what the list of tools costs with the budget.
func (p *Page) cost(r *report) {
	tools, bytes := 0, 0
	for _, it := range p.Items {
		if it.Kind != spec.KindTool {
			continue
		}
		tools++
		bytes += len(it.Definition) + len(",")
		if n := p.Tokens(len(it.Definition)); n > maxToolTokens {
			large := report{item: it.Label()}
			large.add(Warning, ToolLarge, "say less in descriptions, and split what does several things", "its definition costs a model about %d tokens, more than %d", n, maxToolTokens)
			r.all = append(r.all, large.all...)
		}
	}
	if n := p.Tokens(bytes); n > p.Budget {
		r.add(Warning, BudgetExceeded, "register tools when the page can use them, and shorten what is large", "all %d tools cost about %d tokens, more than the %d within which a hub lists them", tools, n, p.Budget)
	}
	if tools > manyTools {
		r.add(Warning, ToolsMany, "register tools when the page can use them", "%d tools are hard to choose from; more than %d at a time rarely help", tools, manyTools)
	}
}

// offered are the names that the page's own texts may speak of.
func (p *Page) offered() []string {
	var names []string
	for i := range p.Items {
		names = append(names, p.Items[i].Name)
		for name := range rawjson.Members(rawjson.Get(p.Items[i].Registered, "inputSchema", "properties")) {
			names = append(names, name)
		}
	}
	return names
}

// member returns a member of what the page has registered, nil if it is not there.
func (it *Item) member(name string) json.RawMessage { return rawjson.Get(it.Registered, name) }

// text returns a member that is a string.
func (it *Item) text(name string) string {
	s, _ := rawjson.String(it.member(name))
	return s
}

// hints looks at what a tool says that it changes.
func (it *Item) hints(r *report) {
	if it.Kind != spec.KindTool {
		return
	}
	is := func(name string) bool { return string(rawjson.Get(it.Registered, "annotations", name)) == "true" }
	said := func(name string) bool { return rawjson.Get(it.Registered, "annotations", name) != nil }
	destroys := is("destructiveHint") || is("consequentialHint")
	verb := verbOf(it.Name)
	// Chromium hands on consequentialHint if it is true, and destructiveHint never.
	const ask = "set annotations.consequentialHint if it cannot be undone, so that clients ask first; browsers drop destructiveHint"
	switch {
	case is("readOnlyHint") && destroys:
		r.add(Error, HintsContradict, "say one of them; clients take it for one that destroys", "it says that it only reads, and that it is destructive or has consequences")
	case it.Doubtful():
		r.add(Warning, HintDoubtful, "leave readOnlyHint out if it changes anything: clients call it without asking", "readOnlyHint is true, and the name says %q; only --call calls it here", verb)
	case destroys || is("readOnlyHint") || said("destructiveHint") || said("consequentialHint"):
	case slices.Contains(final, verb):
		r.add(Warning, HintMissing, ask, "the name says %q, and no hint says that it cannot be undone", verb)
	case slices.Contains(grave, verb):
		r.add(Note, HintMissing, ask, "the name says %q, and no hint says whether that can be undone", verb)
	case slices.Contains(reading, verb) && !said("readOnlyHint"):
		r.add(Note, HintMissing, "set annotations.readOnlyHint if it changes nothing, so that clients need not ask", "the name says %q, and no hint says that it only reads", verb)
	}
}

// Doubtful reports whether a tool says that it only reads, and its name that it changes
// something.
func (it *Item) Doubtful() bool {
	return it.Kind == spec.KindTool && string(rawjson.Get(it.Registered, "annotations", "readOnlyHint")) == "true" && slices.Contains(changing, verbOf(it.Name))
}

var (
	final    = []string{"delete", "destroy", "erase", "wipe", "purge", "buy", "purchase", "pay", "checkout"}
	grave    = []string{"remove", "drop", "cancel", "order", "transfer", "publish", "unsubscribe", "revoke"}
	changing = slices.Concat(final, grave, []string{"add", "create", "update", "edit", "set", "insert", "write", "save", "upload", "send", "submit", "post", "book", "reserve", "move", "rename", "replace", "clear", "reset"})
	reading  = []string{"get", "list", "search", "find", "read", "show", "view", "fetch", "lookup", "query", "describe", "count"}
)

// verbOf returns the first word of a name, in lower case; "" where it is no verb, as in
// order_history.
func verbOf(name string) string {
	words := wordsOf(name)
	if len(words) == 0 || len(words) > 1 && slices.Contains(nouns, words[len(words)-1]) && slices.Contains(changing, words[0]) {
		return ""
	}
	return words[0]
}

// nouns are last words of names that say what is read.
var nouns = []string{"status", "state", "history", "details", "info", "list", "summary", "total", "count", "preview", "price", "quote", "options", "policy"}

// quoted lists up to most names, and says how many more there are.
func quoted(names []string, most int) string {
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	return strings.Join(names, ", ") + more
}
