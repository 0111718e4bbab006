package command

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// Names has the names of clients by the ids of their credentials. Rules and lines of the record
// have either. App must be set.
type Names struct {
	App  *App
	read sync.Once
	byID map[string]string
}

// clientID is the form of an id.
var clientID = regexp.MustCompile(`^[a-z2-7]{16}$`)

// Of names the client of a rule, by its id or its name; "" is any.
func (n *Names) Of(client string) string {
	switch client {
	case "":
		return "any client"
	case policy.OwnerID:
		return "you"
	case policy.TokenID:
		return "programs with the hub's token"
	case policy.UnnamedID:
		return "programs without a credential"
	}
	if !clientID.MatchString(client) {
		return client
	}
	n.read.Do(func() {
		n.byID = map[string]string{}
		ctx, cancel := context.WithTimeout(context.Background(), AnswerTimeout)
		defer cancel()
		// Without the names, the rest is still worth reading.
		_ = WithClients(n.App, func(s ClientStore) error {
			all, err := s.List(ctx)
			for _, c := range all {
				n.byID[c.ID] = c.Name
			}
			return err
		})
	})
	if name := n.byID[client]; name != "" {
		return name
	}
	return "a client that is gone"
}

// ShortTime is a time, as short as it can be told from others; "" for none.
func ShortTime(t time.Time) string {
	switch t = t.Local(); {
	case t.IsZero():
		return ""
	case t.Format(time.DateOnly) == time.Now().Format(time.DateOnly):
		return t.Format("15:04")
	case t.Year() == time.Now().Year():
		return t.Format("Jan 2 15:04")
	}
	return t.Format("2006-01-02")
}

// RuleSubject says what a rule is about, its client apart.
func RuleSubject(r *policy.Rule) string {
	what, class := r.Tool, map[string]string{"read": "if it reads", "write": "if it writes", "act": "if it acts", "destructive": "if it cannot be undone"}[r.Class]
	switch {
	case what != "" && class != "":
		what += ", " + class + ","
	case what != "" || r.Class == "":
	default:
		what = map[string]string{
			"read": "what reads", "write": "what writes", "act": "acts on pages", "destructive": "what cannot be undone", "hub": "the hub's own tools", "relay": "requests to extensions",
		}[r.Class]
	}
	if what == "" {
		what = "everything"
	}
	switch r.Pack {
	case "":
	case "*":
		what += " of packs"
	default:
		what += " of the pack " + r.Pack
	}
	switch {
	case r.Site != "":
		what += " at " + map[string]string{"verified": "sites that a browser vouches for", "unverified": "sites that no browser vouches for"}[r.Site]
		if strings.HasSuffix(what, " at ") {
			what += r.Site
		}
	case r.Class != "hub" && r.Class != "relay":
		what += " at any site"
	}
	switch r.From {
	case "":
	case "private":
		what = "after reading a private site: " + what
	default:
		what = "after reading " + r.From + ": " + what
	}
	if r.Late {
		what += ", from pages that offer it late"
	}
	return what
}

// ToolAt names a tool and its site.
func ToolAt(tool string, site spec.Domain) string {
	if site == "" || tool == "" {
		return tool + string(site)
	}
	return tool + "@" + string(site)
}
