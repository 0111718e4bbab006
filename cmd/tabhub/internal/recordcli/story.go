package recordcli

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// tellCall prints the story of a call, or of each of those about which a question was asked: what it came
// to, what it was given, and what happened when.
func (l *logSource) tellCall(ctx context.Context) error {
	lines, err := l.linesOf(ctx, l.query.Call)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		return fmt.Errorf("there is no call or question %q in the record; `tabhub log --json` has their ids", l.query.Call)
	}
	var calls []string
	for _, line := range lines {
		if line.Call != "" && !slices.Contains(calls, line.Call) {
			calls = append(calls, line.Call)
		}
	}
	if calls == nil { // it is about a sign-in
		return l.tellStory(ctx, lines)
	}
	for i, call := range calls {
		if i > 0 {
			fmt.Fprintln(l.App.Stdout)
		}
		lines, err := l.linesOfCall(ctx, call)
		if err != nil {
			return err
		}
		if err := l.tellStory(ctx, lines); err != nil {
			return err
		}
	}
	return nil
}

// linesOfCall returns the lines of a call and of the question about it, for which other calls may have
// waited, too.
func (l *logSource) linesOfCall(ctx context.Context, call string) ([]record.Line, error) {
	lines, err := l.linesOf(ctx, call)
	i := slices.IndexFunc(lines, func(l record.Line) bool { return l.Event != record.Ask && l.Question != "" })
	if err != nil || i < 0 {
		return lines, err
	}
	about, err := l.linesOf(ctx, lines[i].Question)
	about = slices.DeleteFunc(about, func(l record.Line) bool { return l.Event != record.Ask || l.Call == call })
	return append(about, lines...), err
}

func (l *logSource) tellStory(ctx context.Context, lines []record.Line) error {
	story := record.Story(lines)
	of := story[len(story)-1].Line
	ended := slices.IndexFunc(story, func(s record.Step) bool { return s.Is == record.Ended })
	if ended >= 0 {
		of = story[ended].Line
	}
	return printStory(l.App, story, of, ended >= 0, l.payload(ctx, of))
}

// linesOf returns the lines of a call or question, oldest first.
func (l *logSource) linesOf(ctx context.Context, id string) (all []record.Line, err error) {
	of := *l
	of.query = record.Query{Call: id}
	err = of.each(ctx, false, func(line *record.Line) error {
		all = append(all, *line)
		return nil
	})
	return all, err
}

// payload returns the arguments and the result of a call, if they are recorded and may be seen.
func (l *logSource) payload(ctx context.Context, line *record.Line) record.Payload {
	found, err := l.payloads(ctx, line)
	if err != nil {
		return record.Payload{}
	}
	for _, p := range found {
		if p.N == line.N {
			return p
		}
	}
	return record.Payload{}
}

func (l *logSource) payloads(ctx context.Context, line *record.Line) (found []record.Payload, err error) {
	dir, ofHub, err := l.where()
	if err != nil {
		return nil, err
	}
	if !ofHub {
		return record.ReadPayloads(ctx, dir, []record.Line{*line})
	}
	r, err := l.App.Remote()
	if err != nil || line.Call == "" {
		return nil, err
	}
	err = r.Call(ctx, http.MethodGet, "/api/log/payloads?call="+url.QueryEscape(line.Call), nil, &found)
	return found, err
}

// printStory prints a story. of is the line with most of it.
func printStory(a *command.App, story []record.Step, of *record.Line, ended bool, p record.Payload) error {
	title := cmp.Or(of.Name, of.Said, of.Client, "a client") + ": " + cmp.Or(of.Tool, string(of.Event))
	if of.Domain != "" {
		title += " at " + string(of.Domain)
	}
	a.Headline(title)
	var t *terminal.Table
	row := func(name, value string) {
		if value != "" {
			t.Row(name, value)
		}
	}
	t = a.Table()
	if ended || of.Event == record.Ask {
		t.Row("outcome", lineEnd(of))
	} else {
		t.Row("outcome", terminal.Cell{Text: "the record has no end of it: it goes on, or the hub was ended and it may have taken effect", Tone: terminal.Wait})
	}
	row("date", of.Time.Local().Format("Monday, "+time.DateOnly))
	script, isScript := "", false
	if of.Class == policy.Act.String() && len(p.Args) > 0 {
		script, isScript = rawjson.String(rawjson.Get(p.Args, "code"))
	}
	if !isScript {
		row("arguments", cmp.Or(string(p.Args), notKept(of, p)))
	}
	did := didIn(p.Result)
	for i, words := range did {
		row(map[bool]string{true: "did"}[i == 0], words)
	}
	if err := t.Print(); err != nil {
		return err
	}
	if isScript {
		fmt.Fprintln(a.Stdout, "\nscript")
		consent.WriteScript(a.Stdout, script)
	}
	fmt.Fprintln(a.Stdout)
	t = a.Table()
	for _, s := range story {
		at, passed := "not recorded", ""
		if !s.At.IsZero() {
			at = s.At.Local().Format("15:04:05.000")
			if d := s.At.Sub(story[0].At); d >= time.Millisecond && !story[0].At.IsZero() {
				passed = "+" + took(d)
			}
		}
		t.Row(at, terminal.Cell{Text: passed, Tone: terminal.Soft}, tell(&s))
	}
	if err := t.Print(); err != nil {
		return err
	}
	fmt.Fprintln(a.Stdout)
	t = a.Table()
	if len(did) == 0 {
		row("result", string(p.Result))
	}
	row("page", cmp.Or(of.URL, of.Origin))
	row("tab", of.Tab)
	row("class", of.Class)
	row("client", strings.Join(slices.DeleteFunc([]string{of.Client, of.Said}, func(s string) bool { return s == "" }), ", calls itself "))
	row("session", of.Session)
	row("call", of.Call)
	row("question", of.Question)
	row("arguments' digest", of.Digest)
	var numbers []string
	for _, s := range story {
		if n := fmt.Sprint(s.Line.N); !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	row("lines", strings.Join(numbers, ", "))
	row("written late by", of.Late)
	return t.Print()
}

// notKept says why there are no arguments, if there were some.
func notKept(l *record.Line, p record.Payload) string {
	if n := p.NotKept.Args; n > 0 {
		return fmt.Sprintf("%d bytes, not kept", n)
	}
	if l.Digest == "" {
		return ""
	}
	return "not kept"
}

// answeredBy says where an answer was given.
var answeredBy = map[string]string{
	consent.ByWindow: ", in the browser", consent.ByClient: ", in the client", consent.ByDashboard: ", on the dashboard", consent.ByCommand: ", in a terminal",
}

// unanswered says how the wait for an answer may end without one.
var unanswered = map[string]string{
	"cancelled": "the client no longer waited for your answer", "expired": "you had not answered", "withdrawn": "the question was withdrawn",
	"asked back": "the client was to bring your answer with a further call", "wrong code": "a wrong code was given",
}

// tell says what a step was.
func tell(s *record.Step) string {
	l := s.Line
	var words string
	switch s.Is {
	case record.Requested:
		words = fmt.Sprintf("%s asked for %s", cmp.Or(l.Name, l.Said, l.Client, "a client"), through(ofPack(cmp.Or(l.Tool, string(l.Event)), l.Pack), l.Via))
		for _, flow := range l.Flows {
			words += "; it had read before: " + flow
		}
	case record.Asked:
		words = "you were asked"
	case record.Answered:
		words = fmt.Sprintf("%s, after %s", cmp.Or(unanswered[l.Outcome], "the question ended: "+l.Outcome), took(l.Asked))
		if said := consent.Words(spec.Reach(l.Reach), l.Class == policy.Act.String()); said != "" {
			words = fmt.Sprintf("you answered “%s”, after %s", said, took(l.Asked))
		}
		words += answeredBy[l.By]
		if l.Outcome == "ok for another" {
			words += ", which was for an identical call of the same client"
		}
	case record.Decided:
		switch {
		case l.Decision == "deny":
			words = "refused"
		case l.Decision != "ask":
			words = "allowed"
		case l.Reach == string(spec.ReachNo), l.Reach == string(spec.ReachNever):
			words = "refused by your answer"
		case l.Outcome == string(spec.FailDenied) && l.Reach == "":
			words = "refused without an answer of yours"
		case l.Outcome == string(spec.FailDenied):
			words = "refused: your answer was not for this"
		default:
			words = "allowed by your answer"
		}
		if l.Rule != "" {
			words += ", by " + ruleWords(l.Rule)
		}
	case record.AboutTo:
		words = "about to be sent: what cannot be undone"
		if l.Class == policy.Act.String() {
			words = "about to act on the page"
		}
	case record.Sent:
		words = "sent"
		if l.Tab != "" {
			words = "sent to a tab"
			if l.Reason != "" {
				words += ": " + l.Reason
			}
		}
	case record.AsTask:
		words = "went on as task " + l.Task
	case record.Ended:
		words = "ended: " + l.Outcome
		if l.Tab == "" && l.Reason != "" {
			words += ", " + l.Reason
		}
		if l.Changed != "" {
			words += "; changed for the client: " + l.Changed
		}
	case record.Again:
		words = "the answer was given again: the client had not got it. The call was not made again"
	}
	return words
}

// ruleWords names what has decided.
func ruleWords(rule string) string {
	if of, ok := strings.CutPrefix(rule, "preset:"); ok {
		return "the mode: " + of
	}
	switch rule {
	case policy.ByScope.String():
		return "the bounds of its credential"
	case policy.ByBrowser.String():
		return "the browsers that it is bound to"
	case policy.ByPause.String():
		return "a pause"
	}
	return "rule " + rule
}
