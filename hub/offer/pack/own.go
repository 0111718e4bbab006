package pack

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"tabhub/describe"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Steps of a client's own are those of a pack's tool and further ones, for the page that it has before it: nobody
// has read them before, so they have no arguments, and no pages to match.

// Bounds of steps of a client's own.
const (
	maxKey     = 64
	maxOwnWait = 600 // seconds of all steps
	maxPages   = 1000
)

// isRef reports whether a text has the form of a reference.
var isRef = regexp.MustCompile(`^[a-z]{3,8}[1-9][0-9]{0,8}$`).MatchString

// IsRef reports whether a text has the form of a reference to an element.
func IsRef(s string) bool { return isRef(s) }

// IsRole reports whether a text is a role of WAI-ARIA by which a Target finds elements.
func IsRole(s string) bool {
	for _, r := range roles {
		if r == s {
			return true
		}
	}
	return false
}

// OwnSteps reads the steps of a client's own, an array. The error names the place.
func OwnSteps(raw json.RawMessage) ([]spec.Step, error) {
	if err := rawjson.CheckPortable(raw); err != nil {
		return nil, err
	}
	if err := strict("steps", reflect.TypeFor[[]spec.Step](), raw, true); err != nil {
		return nil, err
	}
	var steps []spec.Step
	if err := json.Unmarshal(raw, &steps); err != nil {
		return nil, err
	}
	if len(steps) == 0 || len(steps) > maxAll {
		return nil, fmt.Errorf("steps: must be 1 to %d", maxAll)
	}
	c := checker{tool: own(steps), own: true}
	for i := range steps {
		if err := c.step(fmt.Sprintf("steps[%d]", i), &steps[i]); err != nil {
			return nil, err
		}
	}
	if c.wait > maxOwnWait {
		return nil, fmt.Errorf("steps: their timeouts are more than %d seconds together", maxOwnWait)
	}
	return steps, nil
}

// own returns steps as those of a tool.
func own(steps []spec.Step) *Tool {
	return &Tool{PackTool: spec.PackTool{Steps: steps}, Pack: &Pack{}}
}

// optional checks a target that may be left out.
func (c *checker) optional(at string, t *spec.Target) error {
	if t == nil || *t == (spec.Target{}) {
		return nil
	}
	return c.target(at, t, 0)
}

// ownVerb checks the verbs that packs do not have.
func (c *checker) ownVerb(at string, s *spec.Step) error {
	switch {
	case s.Hover != nil:
		return c.target(at+".target", &s.Hover.Target, 0)
	case s.Select != nil:
		if n := len(s.Select.Options); n == 0 || n > maxNames {
			return fmt.Errorf("%s.options: must be 1 to %d labels", at, maxNames)
		}
		return c.target(at+".target", &s.Select.Target, 0)
	case s.Scroll != nil:
		if p := s.Scroll.Pages; p > maxPages || p < -maxPages || p == 0 && s.Scroll.Target == nil {
			return fmt.Errorf("%s: must have a target, or pages other than 0", at)
		}
		return c.optional(at+".target", s.Scroll.Target)
	case s.Drag != nil:
		return errors.Join(c.target(at+".target", &s.Drag.Target, 0), c.target(at+".to", &s.Drag.To, 0))
	case s.Upload != nil:
		if n := len(s.Upload.Files); n == 0 || n > maxNames {
			return fmt.Errorf("%s.files: must be 1 to %d names", at, maxNames)
		}
		return c.target(at+".target", &s.Upload.Target, 0)
	case s.Look != nil:
		return c.optional(at+".target", s.Look.Target)
	}
	return nil // a dialog may say anything
}

// own puts a step in words whose verb packs do not have.
func (w writer) own(s *spec.Step) string {
	switch {
	case s.Hover != nil:
		return "moves the pointer over " + w.acted(&s.Hover.Target)
	case s.Select != nil:
		var options []string
		for _, o := range s.Select.Options {
			options = append(options, quoted(o))
		}
		return "selects " + strings.Join(options, ", ") + " in " + w.acted(&s.Select.Target)
	case s.Scroll != nil && s.Scroll.Pages == 0:
		return "scrolls to " + w.target(s.Scroll.Target)
	case s.Scroll != nil:
		what := "the page"
		if s.Scroll.Target != nil {
			what = w.target(s.Scroll.Target)
		}
		return fmt.Sprintf("scrolls %s by %g pages", what, s.Scroll.Pages)
	case s.Drag != nil:
		return "drags " + w.acted(&s.Drag.Target) + " to " + w.acted(&s.Drag.To)
	case s.Upload != nil:
		var files []string
		for _, f := range s.Upload.Files {
			files = append(files, fmt.Sprintf("%s (%s)", quoted(f.Name), size64(base64.StdEncoding.WithPadding(base64.NoPadding).DecodedLen(len(strings.TrimRight(f.Data, "="))))))
		}
		return "uploads " + strings.Join(files, ", ") + " to " + w.acted(&s.Upload.Target)
	case s.Dialog != nil && !s.Dialog.Accept:
		return "dismisses the dialog that a later step opens"
	case s.Dialog != nil && s.Dialog.Text != "":
		return "accepts the dialog that a later step opens, with " + quoted(s.Dialog.Text)
	case s.Dialog != nil:
		return "accepts the dialog that a later step opens"
	}
	return "looks at the page"
}

// size64 says how large a file is.
func size64(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1_000_000)
}

// OwnWords says what steps of a client's own do, a step each, as in "to click button \"Order\"". refs has what
// references stand for.
func OwnWords(steps []spec.Step, refs map[string]string) []string {
	all := make([]string, len(steps))
	for i := range steps {
		all[i] = infinitive(writer{refs: refs}.step(&steps[i]))
	}
	return all
}

// infinitive makes "click it" of "clicks it".
func infinitive(words string) string {
	verb, rest, _ := strings.Cut(words, " ")
	if verb == "presses" || verb == "dismisses" {
		verb = strings.TrimSuffix(verb, "e")
		verb = strings.TrimSuffix(verb, "es")
	} else {
		verb = strings.TrimSuffix(verb, "s")
	}
	return verb + " " + rest
}

// OwnOutcome says in words which steps of a client's own were done when a run has failed, and whether one that acts
// was or may have been. Of a script the steps are those that it has begun.
func OwnOutcome(steps []spec.Step, r *spec.RunResult) (words string, acted bool) {
	if len(steps) == 0 {
		return reports(r)
	}
	t := own(steps)
	known := t.known(r)
	if len(steps) > 1 {
		return t.state(known, true)
	}
	switch {
	case !Acts(&steps[0]) || known[0] == spec.DidNo:
		return "Nothing was done.", false
	case known[0] == spec.DidYes:
		return "It was done nevertheless.", true
	}
	return "It may have been done.", true
}

// reports says what the steps of a script have done.
func reports(r *spec.RunResult) (words string, acted bool) {
	var done, perhaps []string
	for _, s := range r.Steps {
		switch {
		case s.Verb == "read" || s.Verb == "wait" || s.Verb == "look" || s.Verb == "dialog" || s.Did == spec.DidNo:
		case s.Did == spec.DidYes:
			done = append(done, reported(s))
		default:
			perhaps = append(perhaps, reported(s))
		}
	}
	var all []string
	if len(done) > 0 {
		all = append(all, "Done before: "+strings.Join(done, "; ")+".")
	}
	if len(perhaps) > 0 {
		all = append(all, "Perhaps done: "+strings.Join(perhaps, "; ")+".")
	}
	if len(all) == 0 {
		return "Nothing was done.", false
	}
	return strings.Join(all, " "), true
}

// OwnReport says what the acting steps of a run did, in the words of the page: those that were done or may have been,
// or all. Steps up to the end of the run of which it says nothing may have been done; what was not asked for is not told.
// A script has no steps. What the client has filled in is in no report.
func OwnReport(steps []spec.Step, r *spec.RunResult, all bool) []string {
	did := []string{}
	reports := r.Steps
	if len(steps) > 0 {
		reports = reports[:min(len(reports), len(steps))]
	}
	for i, s := range reports {
		switch {
		case len(steps) > 0 && s.Verb != Verb(&steps[i]):
			if Acts(&steps[i]) {
				did = append(did, "perhaps: "+Verb(&steps[i]))
			}
		case s.Verb == "read" || s.Verb == "wait" || s.Verb == "look" || s.Verb == "dialog" && s.Words == "":
		case s.Did == spec.DidYes:
			did = append(did, reported(s))
		case s.Did == spec.DidPerhaps:
			did = append(did, "perhaps: "+reported(s))
		case all:
			did = append(did, "not done: "+reported(s))
		}
	}
	for i := len(reports); i < len(steps); i++ {
		if Acts(&steps[i]) && (r.Failed == nil || r.Failed.Step < 0 || i <= r.Failed.Step) {
			did = append(did, "perhaps: "+Verb(&steps[i]))
		}
	}
	return did
}

// OwnFailure says why a run of a client's own has failed: the step with its words, and what the page has instead.
func OwnFailure(words []string, r *spec.RunResult) string {
	f := r.Failed
	var b strings.Builder
	if len(words) > 1 && f.Step >= 0 && f.Step < len(words) {
		fmt.Fprintf(&b, "Step %d of %d (%s): ", f.Step+1, len(words), words[f.Step])
	}
	if f.Code == spec.StepScript {
		b.WriteString("The script failed: ")
	}
	b.WriteString(strings.TrimSuffix(describe.CleanLines(f.Message, 2*maxSaid), ".") + ".")
	var found []string
	for _, s := range f.Found {
		found = append(found, describe.Clean(s, maxFound))
	}
	if len(found) > 0 {
		b.WriteString(" The page has: " + strings.Join(found, "; ") + ".")
	}
	return b.String()
}
