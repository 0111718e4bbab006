package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// entryPrinter prints lines of the record one by one, as they come.
type entryPrinter struct {
	*command.App
	widths  []int
	headed  bool
	day     string // of the line before, which its time does not say
	printed int
}

func newEntryPrinter(a *command.App) *entryPrinter {
	columns := a.Screen().Columns
	if columns == 0 {
		return &entryPrinter{App: a, widths: []int{14, 11, 19, 20, 0}}
	}
	const time, gaps = 8, 4 * 2
	rest := max(columns-time-gaps, 40)
	client, site, what := rest*18/100, rest*26/100, rest*28/100
	return &entryPrinter{App: a, widths: []int{time, client, site, what, rest - client - site - what}}
}

// printHeader prints the header, once.
func (p *entryPrinter) printHeader() error {
	if p.headed {
		return nil
	}
	p.headed = true
	t := p.Table("TIME", "CLIENT", "SITE", "WHAT", "OUTCOME")
	t.SetWidths(p.widths...)
	return t.Print()
}

func (p *entryPrinter) print(l *record.Line) error {
	end := ending(&l.Entry)
	if l.Late != "" {
		end += ", late"
	}
	return p.printAt(l.Time, cmp.Or(l.Name, l.Said, l.Client), l.Domain, what(l), terminal.Cell{Text: end, Tone: outcomeTone(l.Outcome)})
}

// printAt prints a line about something that has happened at a time.
func (p *entryPrinter) printAt(at time.Time, client string, site spec.Domain, what string, outcome terminal.Cell) error {
	if err := p.printHeader(); err != nil {
		return err
	}
	at = at.Local()
	clock := at.Format("01-02 15:04:05")
	if p.OnTerminal() {
		clock = at.Format(time.TimeOnly)
		if day := at.Format("Monday, " + time.DateOnly); day != p.day {
			p.day = day
			p.Hint("%s", day)
		}
	}
	p.printed++
	t := p.Table()
	t.SetWidths(p.widths...)
	t.Row(clock, client, site, what, outcome)
	return t.Print()
}

// outcomeTone is the tone of how something has ended: what is in capitals is a failure's code.
func outcomeTone(outcome string) terminal.Tone {
	if outcome != "" && strings.ToUpper(outcome) == outcome {
		return terminal.Bad
	}
	return command.Tones[outcome]
}

// what says what a line is about.
func what(l *record.Line) string {
	switch l.Event {
	case record.Call, record.Relay, record.Proxy:
		return through(l.Tool, l.Via)
	case record.Self:
		return "log: " + noteWords(l.Note)
	}
	return strings.TrimSpace(string(l.Event) + " " + cmp.Or(l.Tool, l.Reason))
}

// through names a tool, and that of the hub by which it was called, if it was.
func through(tool, via string) string {
	if via != "" {
		tool += " (" + via + ")"
	}
	return tool
}

// toolAt names a tool and its site.
func toolAt(tool string, site spec.Domain) string {
	if site == "" {
		return tool
	}
	return tool + "@" + string(site)
}

// noteWords says what the log says of itself.
func noteWords(n *record.Note) string {
	switch {
	case n == nil:
		return ""
	case n.Missing > 0:
		return fmt.Sprintf("%d lines before this one are gone", n.Missing)
	case n.Lost != nil:
		return fmt.Sprintf("%d entries were lost: %s", n.Lost.Count, n.Why)
	case n.Torn > 0:
		return "the last line was unfinished"
	case n.Unsynced > 0:
		return fmt.Sprintf("lines from %d on may be gone: %s", n.Unsynced, n.Why)
	case n.Late != "":
		return "late lines of " + n.Late
	case n.Retired != nil:
		return fmt.Sprintf("up to line %d all was removed", n.Retired.N)
	}
	return "begins"
}

// ending says how something has ended.
func ending(e *record.Entry) string {
	words := e.Outcome
	if e.Duration > 0 {
		words += " " + took(e.Duration)
	}
	if e.Event != record.Ask && e.Question != "" {
		words += ", asked"
	}
	return words
}

func took(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

// tellCall prints all that is known of a call.
func (l *logSource) tellCall(ctx context.Context, follow bool) error {
	a, found := l.App, false
	err := l.each(ctx, follow, func(line *record.Line) error {
		if found {
			fmt.Fprintln(a.Out)
		}
		found = true
		return printEntry(a, line, l.payload(ctx, line))
	})
	if err == nil && !found {
		return fmt.Errorf("there is no call or question %q in the record; `tabhub log --json` has their ids", l.query.Call)
	}
	return err
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

// printEntry prints all of a line.
func printEntry(a *command.App, l *record.Line, p record.Payload) error {
	t := a.Table()
	row := func(name, value string) {
		if value != "" {
			t.Row(name, value)
		}
	}
	t.Row("line", fmt.Sprintf("%d, %s", l.N, l.Event))
	row("time", l.Time.Local().Format("2006-01-02 15:04:05.000 MST"))
	row("written late by", l.Late)
	row("call", l.Call)
	row("task", l.Task)
	row("client", l.Name)
	row("client id", l.Client)
	row("says it is", l.Said)
	row("session", l.Session)
	row("through", l.Via)
	row("site", string(l.Domain))
	row("page", cmp.Or(l.URL, l.Origin))
	row("tab", l.Tab)
	row("tool", l.Tool)
	row("class", l.Class)
	row("arguments", cmp.Or(string(p.Args), l.Digest))
	row("decision", l.Decision)
	row("rule", l.Rule)
	row("question", l.Question)
	row("answered by", l.By)
	row("good for", l.Reach)
	if l.Asked > 0 {
		row("asked for", took(l.Asked))
	}
	for _, flow := range l.Flows {
		row("flow", flow)
	}
	row("outcome", l.Outcome)
	row("because", l.Reason)
	row("result", string(p.Result))
	row("changed for the client", l.Changed)
	if l.Duration > 0 {
		row("took", took(l.Duration))
	}
	return t.Print()
}
