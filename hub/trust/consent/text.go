package consent

import (
	"fmt"
	"io"
	"strings"

	"tabhub/describe"
	"tabhub/spec"
)

// ReachWords says what may be answered, for people.
var ReachWords = map[spec.Reach]string{
	spec.ReachNo:      "No, not this time",
	spec.ReachOnce:    "Yes, this once",
	spec.ReachSession: "Yes, until this session of the client ends",
	spec.ReachApp:     "Yes, always for this client",
	spec.ReachAlways:  "Yes, always and for every client",
	spec.ReachNever:   "Never for this client",
}

// actReachWords are what differs of ReachWords where an answer is AboutActs.
var actReachWords = map[spec.Reach]string{
	spec.ReachSession: "Yes, for this site, this session",
	spec.ReachNever:   "Never for this client at this site",
}

const actClass = "act" // as spec.AskTool.Class

// AboutActs reports whether an answer that reaches further is about all that the client does by itself at the
// site.
func AboutActs(q *spec.Ask) bool { return q.AboutSite && q.Tool != nil && q.Tool.Class == actClass }

// Words are those of ReachWords, or what stands for them where the answer is AboutActs.
func Words(r spec.Reach, aboutActs bool) string {
	if words := actReachWords[r]; aboutActs && words != "" {
		return words
	}
	return ReachWords[r]
}

// Text returns a question as plain text: the hub's words, with those of others in quotes.
func Text(q *spec.Ask) string {
	var b strings.Builder
	b.WriteString("tabhub asks: " + quoted(q.Client.Name) + " wants to " + wish(q) + ". Allow it?\n")
	if q.Client.Said != "" {
		fmt.Fprintf(&b, "It calls itself %s.\n", quoted(q.Client.Said))
	}
	if q.Client.Return != "" {
		fmt.Fprintf(&b, "It goes on at: %s\n", quoted(q.Client.Return))
	}
	if t := q.Tool; t != nil {
		if t.Title != "" {
			fmt.Fprintf(&b, "%s calls it %s.\n", maker(t), quoted(t.Title))
		}
		b.WriteString(may(t) + "\n")
	}
	for _, why := range q.Why {
		b.WriteString(why + "\n")
	}
	for i, c := range q.Changes {
		if i == 0 {
			b.WriteString("Since it was allowed, this has changed:\n")
		}
		switch {
		case c.Added:
			fmt.Fprintf(&b, "  %s is new: %s\n", quoted(c.What), quoted(c.Is))
		case c.Removed:
			fmt.Fprintf(&b, "  %s is gone; it was %s\n", quoted(c.What), quoted(c.Was))
		default:
			fmt.Fprintf(&b, "  %s was %s, is %s\n", quoted(c.What), quoted(c.Was), quoted(c.Is))
		}
	}
	if t := q.Tool; t != nil && t.Pack != nil && len(t.Pack.Steps) > 0 {
		b.WriteString("What the pack does:\n")
		for _, step := range t.Pack.Steps {
			b.WriteString("  " + quoted(step) + "\n")
		}
	}
	if t := q.Tool; t != nil {
		writeAct(&b, t)
	}
	args := q.Args
	if t := q.Tool; t != nil && (len(t.Steps) > 0 || t.Script != "") {
		args = nil // the steps have them
	}
	for i, v := range args {
		if i == 0 {
			b.WriteString("With:\n")
		}
		fmt.Fprintf(&b, "  %s: %s", quoted(v.Name), quoted(v.Value))
		if v.Cut > 0 {
			fmt.Fprintf(&b, " (%d characters are left out)", v.Cut)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// wish says what a client wants to do.
func wish(q *spec.Ask) string {
	t := q.Tool
	if t == nil {
		return "use this hub"
	}
	if does := actWish(t); does != "" {
		return does + where(q.Site)
	}
	verb := map[spec.Kind]string{"": "use", spec.KindTool: "run", spec.KindResource: "read", spec.KindPrompt: "get the prompt"}[t.Kind]
	return verb + " " + quoted(t.Name) + whose(t.Pack) + where(q.Site)
}

// actWish says what a client wants to do by itself, "" if the question does not say so.
func actWish(t *spec.AskTool) string {
	switch n := len(t.Steps); {
	case t.Class != actClass: // where an act leads
		return ""
	case t.Script != "":
		return "run a script"
	case n == 1:
		return quoted(t.Steps[0])
	case n > 1:
		return fmt.Sprintf("take %d steps", n)
	}
	return ""
}

// writeAct writes what a client does by itself, as far as its wish does not say it.
func writeAct(b *strings.Builder, t *spec.AskTool) {
	if n := len(t.Steps); n > 1 || n > 0 && (t.Script != "" || t.Class != actClass) {
		b.WriteString("What it does:\n")
		for _, step := range t.Steps {
			b.WriteString("  " + quoted(step) + "\n")
		}
	}
	if t.Script == "" {
		return
	}
	fmt.Fprintf(b, "Its script, %d lines:\n", 1+strings.Count(t.Script, "\n"))
	WriteScript(b, t.Script)
}

// WriteScript writes a script for a terminal, each line with a mark.
func WriteScript(w io.Writer, script string) {
	for l := range strings.SplitSeq(describe.Visible(script), "\n") {
		l = strings.ReplaceAll(l, "\t", "  ")
		mark := "│"
		for first := true; first || l != ""; first = false {
			end := runes(l, maxColumn)
			fmt.Fprintf(w, "  %s %s\n", mark, l[:end])
			l, mark = l[end:], "┆" // which no terminal breaks without its mark
		}
	}
}

// maxColumn is how many characters of a script stand in a line of a terminal.
const maxColumn = 72

// may says what a tool may change.
func may(t *spec.AskTool) string {
	if t.Script != "" {
		return "It can read all of the page and do there what you can; it reaches no other site and no network."
	}
	return classWords[t.Class]
}

// whose says which pack gives a tool.
func whose(p *spec.AskPack) string {
	switch {
	case p == nil:
		return ""
	case p.Added == "":
		return " of your pack " + quoted(p.Name)
	}
	return fmt.Sprintf(" of your pack %s (added by you on %s)", quoted(p.Name), p.Added)
}

// maker is what gives a tool its title.
func maker(t *spec.AskTool) string {
	if t.Pack != nil {
		return "The pack"
	}
	return "Its page"
}

func where(s *spec.AskSite) string {
	switch {
	case s == nil:
		return ""
	case s.Any:
		return ", which may reach every site that the browser shows"
	}
	text := " on " + quoted(strings.TrimPrefix(s.Origin, "https://"))
	if !s.Verified {
		text += " (a site that no browser vouches for)"
	}
	if s.Top != "" {
		text += " within " + quoted(s.Top)
	}
	return text
}

// classWords say what may be changed.
var classWords = map[string]string{
	"read":        "It says of itself that it only reads.",
	"write":       "It may change something.",
	"act":         "It acts on the page as you would; nobody has said what that changes.",
	"destructive": "It may do what cannot be undone, or has consequences.",
}

// quoted returns others' words so that they cannot be taken for the hub's.
func quoted(text string) string {
	return "“" + strings.NewReplacer("“", "'", "”", "'").Replace(text) + "”"
}
