package policy

import (
	"fmt"
	"strings"
	"time"

	"tabhub/describe"
)

// Words says why, in a sentence or two that a person and a model understand.
func (d Decision) Words(a *Action) string {
	switch d.Layer {
	case ByPause:
		return "The owner of this hub has paused this for now; `tabhub resume` lets it go on."
	case ByScope:
		return fmt.Sprintf("The credential of %s is not good for %s.", a.Who.words(), a.beyond())
	case ByMode:
		return fmt.Sprintf("The hub is in the mode read-only, and %s does more than read.", a.what())
	case ByFlow:
		return fmt.Sprintf("%s would get %s. %s.", a.where(), a.values(), d.says())
	}
	switch {
	case d.Changed != nil && d.Effect == Ask:
		return fmt.Sprintf("%s of %s has changed since the owner allowed it.", a.what(), a.where())
	case d.Rule == nil:
		return fmt.Sprintf("No rule lets %s do this.", a.Who.words())
	}
	return fmt.Sprintf("%s: %s of %s. %s.", a.Who.words(), a.what(), a.where(), d.says())
}

// says is what the rule that decided says, and whose it is.
func (d Decision) says() string {
	verb := map[Effect]string{Allow: "allows it", Ask: "asks the owner first", Deny: "denies it"}[d.Effect]
	return d.Rule.whose() + " " + verb
}

// whose says where a rule is from.
func (r *Rule) whose() string {
	switch r.By {
	case byPreset:
		return fmt.Sprintf("The mode of the hub (%s)", r.Note)
	case "file":
		return "The policy file, " + r.ID
	}
	text := "The owner's rule " + r.ID
	if !r.Until.IsZero() {
		text += ", which ends " + r.Until.Format(time.DateTime)
	}
	return text
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

// what names what is called, quoted: a page has chosen the name.
func (a *Action) what() string {
	if a.Name == "" {
		return "this"
	}
	return fmt.Sprintf("%q (%s)", word(a.Name), a.class())
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

// values lists the values of other sites in the arguments.
func (a *Action) values() string {
	var out []string
	for _, f := range a.Flows {
		out = append(out, fmt.Sprintf("a value of %s in %q", f.From, word(f.Field)))
		if len(out) == 3 && len(a.Flows) > 3 {
			out = append(out, fmt.Sprintf("%d more", len(a.Flows)-3))
			break
		}
	}
	return strings.Join(out, ", ")
}

// beyond says what of its client's scope an action is beyond.
func (a *Action) beyond() string {
	switch a.Who.Scope.refuses(a) {
	case boundSites:
		return a.where()
	case boundTools:
		return a.what()
	}
	return "what does more than " + strings.Join(classNames(a.Who.Scope.Classes), " or ")
}

func classNames(classes []Class) []string {
	out := make([]string, len(classes))
	for i, c := range classes {
		out[i] = c.String()
	}
	return out
}

// word is a text that others chose, in a sentence.
func word(s string) string { return describe.Clean(s, 80) }
