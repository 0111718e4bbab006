package recordcli

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// tellCall prints the story of a call, or of those about which a question was asked: what it came to, what
// it was given, and what happened when.
func (l *logSource) tellCall(ctx context.Context) error {
	lines, err := l.linesOf(ctx, l.query.Call)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		return fmt.Errorf("there is no call or question %q in the record; `tabhub log --json` has their ids", l.query.Call)
	}
	own := slices.IndexFunc(lines, func(l record.Line) bool { return l.Event != record.Ask && l.Question != "" })
	if own >= 0 { // a late answer is one to an earlier call
		asked := lines[own].Question
		if !slices.ContainsFunc(lines, func(l record.Line) bool { return l.Event == record.Ask && l.Question == asked }) {
			about, err := l.linesOf(ctx, asked)
			if err != nil {
				return err
			}
			about = slices.DeleteFunc(about, func(l record.Line) bool { return l.Event != record.Ask })
			lines = append(about, lines...)
		}
	}
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
	sum := of.Time.Local().Format("Monday, 2006-01-02 15:04:05 MST")
	if ended {
		sum = fmt.Sprintf("%s, took %s. %s", of.Outcome, tookOf(&of.Entry), sum)
	}
	a.Hint("%s", sum)
	t := a.Table()
	row := func(name, value string) {
		if value != "" {
			t.Row(name, value)
		}
	}
	row("given", cmp.Or(string(p.Args), notKept(of)))
	for _, s := range story {
		at := "time not recorded"
		if !s.At.IsZero() {
			at = s.At.Local().Format("15:04:05.000")
		}
		row(at, tell(&s))
	}
	row("result", string(p.Result))
	row("call", of.Call)
	row("question", of.Question)
	row("client", strings.Join(slices.DeleteFunc([]string{of.Client, of.Said}, func(s string) bool { return s == "" }), ", calls itself "))
	row("session", of.Session)
	row("class", of.Class)
	row("page", cmp.Or(of.URL, of.Origin))
	row("tab", of.Tab)
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
func notKept(l *record.Line) string {
	if l.Digest == "" {
		return ""
	}
	return "not kept"
}

// answeredBy says where an answer was given.
var answeredBy = map[string]string{
	consent.ByWindow: ", in the browser", consent.ByClient: ", in the client", consent.ByDashboard: ", on the dashboard", consent.ByCommand: ", in a terminal",
}

// tell says what a step was.
func tell(s *record.Step) string {
	l := s.Line
	var words string
	switch s.Is {
	case record.Requested:
		words = fmt.Sprintf("%s asked for %s", cmp.Or(l.Name, l.Said, l.Client, "a client"), through(cmp.Or(l.Tool, string(l.Event)), l.Via))
		for _, flow := range l.Flows {
			words += "; it had read before: " + flow
		}
	case record.Asked:
		words = "you were asked"
	case record.Answered:
		words = fmt.Sprintf("the question ended: %s, after %s", l.Outcome, took(l.Asked))
		if said, ok := consent.ReachWords[spec.Reach(l.Reach)]; ok {
			words = fmt.Sprintf("you answered “%s”, after %s", said, took(l.Asked))
		}
		words += answeredBy[l.By]
	case record.Decided:
		switch {
		case l.Decision == "deny":
			words = "refused by your policy"
		case l.Decision != "ask":
			words = "allowed by your policy"
		case l.Outcome == string(spec.FailDenied), l.Reach == string(spec.ReachNo), l.Reach == string(spec.ReachNever):
			words = "refused by your answer"
		default:
			words = "allowed by your answer"
		}
		if l.Rule != "" {
			words += ": rule " + l.Rule
		}
	case record.AboutTo:
		words = "about to be sent: what cannot be undone"
	case record.Sent:
		words = "sent"
		if l.Tab != "" {
			words = "sent to a tab: " + l.Reason
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

// tookOf says how long something took and, beside it, how long its owner did.
func tookOf(e *record.Entry) string {
	words := took(e.Took())
	if e.Asked > 0 {
		words += ", you " + took(e.Asked)
	}
	return words
}
