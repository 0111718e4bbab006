package pack

import (
	"encoding/json"
	"fmt"
	"strings"

	"tabhub/describe"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Result returns what a call gives as a CallToolResult of MCP, and whether it has failed. A result
// that does not fit outputSchema has. A failure says what was found in place of what was looked for,
// and of each step whether it was done.
func (t *Tool) Result(r *spec.RunResult) (payload json.RawMessage, failed bool) {
	switch {
	case r == nil:
		return textResult("The browser answered without a result. "+t.LossWords(nil), true), true
	case r.Failed != nil:
		return textResult(t.failure(r), true), true
	}
	value := r.Value
	if len(value) > 0 && rawjson.Valid(value, spec.MaxDepth) != nil {
		value = nil
	}
	if t.Pack.Script != "" {
		return t.scriptResult(value)
	}
	done := t.done(r)
	if t.output != nil {
		if why := t.misfit(value); why != "" {
			said := "The result does not fit the tool's outputSchema: " + why + "."
			if done == "" {
				said += " Nothing was changed. " + t.pageChanged()
			} else {
				said += " All steps were done: do not repeat the call. " + done
			}
			if len(value) > 0 {
				said += "\nWhat was given: " + string(value)
			}
			return textResult(said, true), true
		}
	}
	if len(value) == 0 {
		if done == "" {
			done = "Done."
		}
		return textResult(done, false), false
	}
	text, isText := rawjson.String(value)
	if !isText {
		text = string(value)
	}
	out := append(rawjson.AppendString([]byte(`{"content":[{"type":"text","text":`), text), '}')
	if done != "" {
		out = append(rawjson.AppendString(append(out, `,{"type":"text","text":`...), done), '}')
	}
	out = append(out, ']')
	if value[0] == '{' {
		out = rawjson.AppendMember(out, "structuredContent", value)
	}
	return append(out, '}'), false
}

// scriptResult returns what a tool of a script gives, which is a CallToolResult already.
func (t *Tool) scriptResult(given json.RawMessage) (payload json.RawMessage, failed bool) {
	if len(given) == 0 {
		return textResult("The script gave nothing that can be read. It may have taken effect: do not repeat the call.", true), true
	}
	if t.output != nil && string(rawjson.Get(given, "isError")) != "true" {
		if why := t.misfit(rawjson.Get(given, "structuredContent")); why != "" {
			return textResult("The result does not fit the tool's outputSchema: "+why+". The script may have taken effect: do not repeat the call.\nWhat was given: "+string(given), true), true
		}
	}
	return given, false
}

// misfit says why a value does not fit the tool's outputSchema; "" if it does.
func (t *Tool) misfit(value json.RawMessage) string {
	if len(value) == 0 {
		return "there is none"
	}
	if value[0] != '{' {
		return "it is no object"
	}
	if err := t.output.Check(value); err != nil {
		return err.Error()
	}
	return ""
}

func textResult(text string, failed bool) json.RawMessage {
	out := rawjson.AppendString([]byte(`{"content":[{"type":"text","text":`), text)
	if failed {
		return append(out, `}],"isError":true}`...)
	}
	return append(out, `}]}`...)
}

// done says what the acting steps of a call that has ended well did, in the words of the page; "" if
// there are none.
func (t *Tool) done(r *spec.RunResult) string {
	var all []string
	for i := range t.Steps {
		switch {
		case !Acts(&t.Steps[i]):
		case i >= len(r.Steps) || r.Steps[i].Did != spec.DidYes:
			all = append(all, fmt.Sprintf("%d. whether it was done is not known", i+1))
		default:
			all = append(all, fmt.Sprintf("%d. %s", i+1, reported(r.Steps[i])))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "Done: " + strings.Join(all, "; ")
}

// Bounds of what pages say in words about steps, in bytes.
const (
	maxSaid  = 300
	maxFound = 80
)

// reported returns what a step did.
func reported(s spec.StepReport) string {
	if words := describe.Clean(s.Words, maxSaid); words != "" {
		return words
	}
	return describe.Clean(s.Verb, maxFound)
}

// failure says why a call has failed, and what was done.
func (t *Tool) failure(r *spec.RunResult) string {
	f := r.Failed
	var b strings.Builder
	switch at := f.Step; {
	case len(t.Steps) == 0:
		b.WriteString("The pack's script failed")
	case at < 0 || at >= len(t.Steps):
		b.WriteString("The call failed")
	default:
		fmt.Fprintf(&b, "Step %d of %d (%s) failed", at+1, len(t.Steps), said(&t.Steps[at], nil))
	}
	fmt.Fprintf(&b, " with %s: %s", describe.Clean(string(f.Code), maxFound), strings.TrimSuffix(describe.Clean(f.Message, 2*maxSaid), "."))
	b.WriteString(".")
	if len(f.Found) > 0 {
		var found []string
		for _, s := range f.Found {
			found = append(found, describe.Clean(s, maxFound))
		}
		b.WriteString(" The page has: " + strings.Join(found, "; ") + ".")
	}
	known := t.known(r)
	words, acted := t.state(known, true)
	b.WriteString(" " + words)
	if advice := t.advice(f.Code, acted); advice != "" {
		b.WriteString(" " + advice)
	}
	return b.String()
}

// known says of each step what is known when a call has failed.
func (t *Tool) known(r *spec.RunResult) []spec.Did {
	all := make([]spec.Did, len(t.Steps))
	at := r.Failed.Step
	for i := range all {
		switch {
		case i < len(r.Steps) && r.Steps[i].Verb != Verb(&t.Steps[i]):
			all[i] = spec.DidPerhaps
		case i < len(r.Steps) && (r.Steps[i].Did == spec.DidYes || r.Steps[i].Did == spec.DidNo):
			all[i] = r.Steps[i].Did
		case at >= 0 && i > at && i >= len(r.Steps):
			all[i] = spec.DidNo // a run does nothing after the step that fails
		default:
			all[i] = spec.DidPerhaps
		}
	}
	return all
}

// state says which steps were done, by what is known of each, and whether one that acts was or may
// have been. ended says that nothing more is done.
func (t *Tool) state(known []spec.Did, ended bool) (words string, acted bool) {
	if len(t.Steps) == 0 {
		return "What the script had done by then is not known: it may have taken effect.", true
	}
	var done, perhaps []int
	for i, did := range known {
		if did == spec.DidNo {
			continue
		}
		acted = acted || Acts(&t.Steps[i])
		if did == spec.DidYes {
			done = append(done, i+1)
		} else if Acts(&t.Steps[i]) {
			perhaps = append(perhaps, i+1)
		}
	}
	if !acted {
		return "Nothing was done.", false
	}
	var all []string
	if len(done) > 0 {
		all = append(all, numbers(done)+plural(len(done), " was done", " were done"))
	}
	if len(perhaps) > 0 {
		all = append(all, numbers(perhaps)+" may have been done")
	}
	if last := max(lastOf(done), lastOf(perhaps)); ended && last < len(t.Steps) {
		all = append(all, "nothing after that was")
	}
	words = strings.Join(all, "; ") + "."
	return strings.ToUpper(words[:1]) + words[1:], true
}

// pageChanged says what the owner can do if the site has changed. Without --act a tool that acts is not tried.
func (t *Tool) pageChanged() string {
	act := ""
	if t.Class != policy.Read {
		act = " --act"
	}
	return fmt.Sprintf("The page is perhaps another than when the pack was written: `tabhub pack test %s%s` tries its examples; then change the step in its file, and add it again.", t.Pack.Name, act)
}

// advice says what to do after a failure.
func (t *Tool) advice(code spec.StepCode, acted bool) string {
	var all []string
	if acted {
		all = append(all, "Look at the page before anything is called again.")
	}
	switch code {
	case spec.StepNotFound, spec.StepAmbiguous:
		all = append(all, t.pageChanged())
	case spec.NeedsTrustedCode:
		all = append(all, "The page takes this only from a person: ask the user to do it there.")
	}
	return strings.Join(all, " ")
}

// LossWords says what is known of a call whose browser is lost. did is what the browser has told of
// its first steps; nil if it has told nothing.
func (t *Tool) LossWords(did []spec.StepReport) string {
	acts := false
	for i := range t.Steps {
		acts = acts || Acts(&t.Steps[i])
	}
	switch {
	case len(t.Steps) > 0 && !acts:
		return "Nothing was changed: it only reads."
	case len(did) == 0 || len(t.Steps) == 0:
		return "It may have taken effect."
	}
	known := make([]spec.Did, len(t.Steps))
	for i := range known {
		switch {
		case i >= len(did):
			known[i] = spec.DidPerhaps
		case did[i].Did == spec.DidYes, did[i].Did == spec.DidNo:
			known[i] = did[i].Did
		default:
			known[i] = spec.DidPerhaps
		}
	}
	words, _ := t.state(known, false)
	return words
}

// numbers names steps: "steps 1-3, 5".
func numbers(all []int) string {
	var parts []string
	for i := 0; i < len(all); {
		j := i
		for j+1 < len(all) && all[j+1] == all[j]+1 {
			j++
		}
		part := fmt.Sprint(all[i])
		if j > i {
			part += fmt.Sprintf("-%d", all[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return plural(len(all), "step ", "steps ") + strings.Join(parts, ", ")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func lastOf(all []int) int {
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1]
}
