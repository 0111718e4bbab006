package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"tabhub/hub/record"
)

// lineFormat makes lines of 80 columns. They are printed one by one, as they come.
const lineFormat = "%-14s %-11s %-19s %-20s %s\n"

func (a *app) printLine(l *record.Line) error {
	_, err := fmt.Fprintf(a.out, lineFormat, l.Time.Local().Format("01-02 15:04:05"),
		clip(cmp.Or(l.Name, l.Said, l.Client), 11), clip(string(l.Domain), 19), clip(what(l), 20), clip(ending(&l.Entry), 30))
	return err
}

// what says what a line is about.
func what(l *record.Line) string {
	switch l.Event {
	case record.Call, record.Relay, record.Proxy:
		if l.Via != "" {
			return l.Tool + " (" + l.Via + ")"
		}
		return l.Tool
	case record.Self:
		return "log: " + noteWords(l.Note)
	}
	return strings.TrimSpace(string(l.Event) + " " + cmp.Or(l.Tool, l.Reason))
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
	a, found := l.app, false
	err := l.each(ctx, follow, func(line *record.Line) error {
		if found {
			fmt.Fprintln(a.out)
		}
		found = true
		return a.printEntry(line, l.payload(line))
	})
	if err == nil && !found {
		return fmt.Errorf("there is no call or question %q in the record; `tabhub log --json` has their ids", l.query.Call)
	}
	return err
}

// payload returns what was said in a call, if that is in the files.
func (l *logSource) payload(line *record.Line) record.Payload {
	dir, err := l.dir(l.app)
	if err != nil || l.app.env("TABHUB_TOKEN") != "" {
		return record.Payload{}
	}
	found, err := record.ReadPayloads(dir, []record.Line{*line})
	if err != nil || len(found) == 0 {
		return record.Payload{}
	}
	return found[0]
}

// printEntry prints all of a line.
func (a *app) printEntry(l *record.Line, p record.Payload) error {
	return a.table(fmt.Sprintf("line\t%d, %s", l.N, l.Event), func(w io.Writer) {
		row := func(name, value string) {
			if value != "" {
				fmt.Fprintf(w, "%s\t%s\n", name, clip(value, 4000))
			}
		}
		row("time", l.Time.Local().Format("2006-01-02 15:04:05.000 MST"))
		row("call", l.Call)
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
			row("values", flow)
		}
		row("outcome", l.Outcome)
		row("because", l.Reason)
		row("result", string(p.Result))
		if l.Duration > 0 {
			row("took", took(l.Duration))
		}
	})
}
