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
	b.WriteString("tabhub asks: may " + quoted(q.Client.Name))
	if q.Client.Said != "" {
		fmt.Fprintf(&b, ", which calls itself %s,", quoted(q.Client.Said))
	}
	if q.Kind == spec.AskSignIn {
		b.WriteString(" use this hub?\n")
	}
	if q.Client.Return != "" {
		fmt.Fprintf(&b, "It goes on at: %s\n", quoted(q.Client.Return))
	}
	if t := q.Tool; t != nil {
		fmt.Fprintf(&b, " use %s", quoted(t.Name))
		if t.Title != "" {
			fmt.Fprintf(&b, " (%s)", quoted(t.Title))
		}
		b.WriteString(where(q.Site) + "?\n")
		b.WriteString(classWords[t.Class] + "\n")
	}
	for _, why := range q.Why {
		b.WriteString(why + "\n")
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
	for i, c := range q.Changes {
		if i == 0 {
			b.WriteString("Since it was allowed, this has changed:\n")
		}
		fmt.Fprintf(&b, "  %s: was %s, is %s\n", quoted(c.What), quoted(c.Was), quoted(c.Is))
	}
	return b.String()
}

func where(s *spec.AskSite) string {
	switch {
	case s == nil:
		return ""
	case s.Any:
		return ", which may reach every site that the browser shows"
	}
	text := " on " + quoted(s.Origin)
	if s.Top != "" {
		text += " within " + quoted(s.Top)
	}
	if !s.Verified {
		text += ", a site that no browser vouches for"
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
