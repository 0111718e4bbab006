package consent

import (
	"fmt"
	"strings"

	"tabhub/hub/trust/policy"
)

// unreachable is why a call is refused of whose question id nobody could be told.
func (o *Options) unreachable(q *question, id string) *Denied {
	return &Denied{"the owner has to allow this call first, and cannot be asked now" + o.howToAllow(q, id)}
}

// expired is why a call is refused that has waited in vain.
func (o *Options) expired(q *question) *Denied {
	words := fmt.Sprintf("the owner has not answered within %s", minutes(askFor))
	if q.isCall() {
		words += o.howToAllow(q, q.ID)
	}
	return &Denied{words}
}

// idShown is how many characters of an id tell questions apart.
const idShown = 8

// ShortID returns the id of a question as people are shown it: as much as tabhub approve needs.
func ShortID(id string) string { return id[:min(len(id), idShown)] }

// howToAllow says what the owner does so that a call passes: for a model to pass on.
func (o *Options) howToAllow(q *question, id string) string {
	var ways []string
	if o.Dashboard != "" {
		ways = append(ways, "open "+o.Dashboard)
	}
	if line := o.command("approve", ShortID(id)); line != "" {
		ways = append(ways, "run `"+line+"`")
	}
	if len(ways) == 0 {
		return ""
	}
	words := fmt.Sprintf(". Tell the owner to %s within 24 hours, and make the same call again then", strings.Join(ways, ", or "))
	if len(q.beforehand) > 0 {
		if line := o.command(q.beforehand...); line != "" {
			words += fmt.Sprintf(". For work while nobody is there, the owner allows it beforehand%s: `%s`", q.unpinned(), line)
			if q.key.Client == policy.TokenID || q.key.Client == policy.UnnamedID {
				words += fmt.Sprintf(", which is about all programs without a credential of their own (`%s`)", o.command("token", "mint", "--name", "NAME"))
			}
		}
	}
	return words
}

// unpinned says what a rule of the owner's does not bind that an answer would.
func (q *question) unpinned() string {
	if q.key.Layer == policy.ByFlow || q.key.Pin == (policy.Pin{}) {
		return ""
	}
	return ", whatever the tool becomes meanwhile"
}

// command returns one of tabhub's commands as the owner runs it, "" if the owner cannot.
func (o *Options) command(words ...string) string {
	if o.Command != nil {
		return o.Command(words...)
	}
	return strings.Join(append([]string{"tabhub"}, words...), " ")
}

// beforehand returns the words of the command by which the owner allows calls such as c unasked, nil if none
// does.
func beforehand(c *Call) []string {
	a, d := c.Action, &c.Decision
	client := a.Principal.Name
	if isShared(a.Principal.ID) {
		client = a.Principal.ID
	}
	switch {
	case d.Layer == policy.ByFile:
		return nil
	case d.Layer == policy.ByFlow && d.Rule == nil, strings.Contains(a.Name, "*"): // which a rule takes for a pattern
		return nil
	case d.Layer == policy.ByFlow:
		words := []string{"policy", "flow", d.Rule.From, string(a.Site.Domain), "allow", "--client", client}
		if a.Class == policy.Act {
			words = append(words, "--class", className(a.Class))
		}
		return words
	}
	rule := policy.RuleFor(a, policy.Allow)
	if packWide(c) || actWide(c) {
		rule.Tool, rule.Class = "", className(a.Class)
	}
	words := []string{"policy", "set", "allow", "--client", client}
	for _, of := range [][2]string{{"--site", rule.Site}, {"--tool", rule.Tool}, {"--pack", rule.Pack}, {"--class", rule.Class}} {
		if of[1] != "" {
			words = append(words, of[0], of[1])
		}
	}
	return append(words, "--until", "8h")
}

// isShared reports whether an ID is of programs that have no credential of their own.
func isShared(id string) bool {
	return id == policy.OwnerID || id == policy.TokenID || id == policy.UnnamedID
}
