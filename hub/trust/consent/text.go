package consent

import (
	"fmt"
	"strings"

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
		b.WriteString(classWords[t.Class] + "\n")
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
	for i, v := range q.Args {
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
	verb := map[spec.Kind]string{"": "use", spec.KindTool: "run", spec.KindResource: "read", spec.KindPrompt: "get the prompt"}[t.Kind]
	return verb + " " + quoted(t.Name) + whose(t.Pack) + where(q.Site)
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
	"destructive": "It may do what cannot be undone, or has consequences.",
}

// quoted returns others' words so that they cannot be taken for the hub's.
func quoted(text string) string {
	return "“" + strings.NewReplacer("“", "'", "”", "'").Replace(text) + "”"
}
