package policy

import (
	"fmt"
	"strings"
	"time"

	"tabhub/describe"
)

// Words says what was decided and why, so that a person and a model understand it.
func (d Decision) Words(a *Action) string {
	who, what := a.Principal.words(), a.what()
	switch d.Layer {
	case ByDashboard:
		return "the dashboard of a hub is for its owner alone"
	case ByPause:
		return "the owner of this hub has paused this for now; `tabhub policy` tells the owner how to end that"
	case ByScope:
		return fmt.Sprintf("the credential of %s is not good for %s", who, what)
	case ByBrowser:
		return fmt.Sprintf("%s is bound to other browsers", who)
	case ByMode:
		return fmt.Sprintf("the hub is in the mode read-only, and %s does more than read", what)
	case ByFlow:
		return fmt.Sprintf("%s has read %s, and could carry something of that to %s: %s", who, d.from(), a.where(), d.says())
	}
	switch {
	case d.Rule == nil:
		return fmt.Sprintf("no rule lets %s use %s", who, what)
	case d.Changed != nil && d.Effect == Ask:
		return fmt.Sprintf("%s has changed since the owner allowed it, so the owner is asked again", what)
	case d.Effect == Allow:
		return fmt.Sprintf("%s may use %s: %s", who, what, d.says())
	case d.Effect == Ask:
		return fmt.Sprintf("%s may use %s only if the owner says so: %s", who, what, d.says())
	}
	return fmt.Sprintf("%s may not use %s: %s", who, what, d.says())
}

// Why says why the owner is asked, in a sentence to them that holds no word of a page or a
// client.
func (d Decision) Why(a *Action) string {
	switch {
	case d.Layer == ByFlow:
		return fmt.Sprintf("The client has read %s, and could carry something of that to %s.", d.from(), a.where())
	case d.Changed != nil:
		return "It has changed since you allowed it."
	case d.Rule == nil:
		return "No rule allows it."
	case d.Rule.By == byPreset:
		return fmt.Sprintf("The mode of the hub asks before this: %s.", d.Rule.Note)
	case d.Rule.By == "file":
		return fmt.Sprintf("The policy file, %s, asks before this.", d.Rule.ID)
	}
	return fmt.Sprintf("Your rule %s asks before this.", d.Rule.ID)
}

// maxListed is how many of a list are named.
const maxListed = 3

// says names the rule that decided, and what it does.
func (d Decision) says() string {
	r, verb := d.Rule, map[Effect]string{Allow: "allows it", Ask: "asks first", Deny: "denies it"}[d.Effect]
	switch r.By {
	case byPreset:
		return fmt.Sprintf("the mode of the hub %s (%s)", verb, r.Note)
	case "file":
		return fmt.Sprintf("the policy file, %s, %s", r.ID, verb)
	}
	if r.Until.IsZero() {
		return fmt.Sprintf("the owner's rule %s %s", r.ID, verb)
	}
	return fmt.Sprintf("the owner's rule %s %s until %s", r.ID, verb, r.Until.Format(time.RFC3339))
}

func (who *Principal) words() string {
	switch {
	case who == nil || who.ID == "":
		return "an unknown client"
	case who.Name == "":
		return who.ID
	}
	return word(who.Name)
}

// what names what is called and where it is. A page has chosen its name, so it is quoted.
func (a *Action) what() string {
	switch {
	case a.Name == "" && a.Pack != "":
		return fmt.Sprintf("what the pack %s does at %s", a.Pack, a.where())
	case a.Name == "":
		return "what is at " + a.where()
	case a.Pack != "":
		return fmt.Sprintf("%q (%s, from the pack %s) of %s", word(a.Name), a.class(), a.Pack, a.where())
	}
	return fmt.Sprintf("%q (%s) of %s", word(a.Name), a.class(), a.where())
}

func (a *Action) where() string {
	switch {
	case a.Site.Any:
		return "any site"
	case a.Site.Domain != "":
		return string(a.Site.Domain)
	case a.Of == OfRelay:
		return "an extension"
	}
	return "the hub"
}

// from lists the sites that the client has read and that decided.
func (d Decision) from() string {
	names := make([]string, 0, maxListed+1)
	for _, site := range d.From[:min(len(d.From), maxListed)] {
		names = append(names, string(site))
	}
	if n := len(d.From) - maxListed; n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}

// word returns a text of a page or a client for a sentence.
func word(s string) string { return describe.Clean(s, 80) }
