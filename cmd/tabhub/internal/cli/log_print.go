package cli

import (
	"cmp"
	"fmt"
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
