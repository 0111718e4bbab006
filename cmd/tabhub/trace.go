package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/describe"
	"tabhub/hub/httpd"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/tabtransport"
)

func (a *app) traceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace [SITE [TAB]]",
		Short: "Show what the hub and tabs say to each other",
		Long: `Show what the hub and tabs say to each other, until Ctrl-C: for who writes a page that
offers tools, or a program that joins as one.

→ is a message of the hub to a tab or its browser, ← one of theirs. Of an answer there is
the method that it answers, and how long it took. SITE and TAB are as ` + "`tabhub tabs`" + ` shows
them. Handshakes are not shown, and of what else holds secrets only that it was said.`,
		Example: "  tabhub trace\n  tabhub trace localhost:5173\n  tabhub trace example.com 2 --full",
		Args:    args(cobra.MaximumNArgs(2)),
	}
	asJSON := cmd.Flags().Bool("json", false, "print a line of JSON for each message")
	full := cmd.Flags().Bool("full", false, "print messages to their end")
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		query, err := traceQuery(pos)
		if err != nil {
			return err
		}
		r, err := a.remote()
		if err != nil {
			return err
		}
		p := tracePrinter{app: a, screen: a.screen(), lines: shownLines}
		if *full {
			p.lines = 0
		}
		for b, err := range r.events(cmd.Context(), http.MethodGet, "/api/trace?"+query.Encode(), nil) {
			var m httpd.TraceReport
			switch {
			case cmd.Context().Err() != nil:
				return nil
			case err != nil:
				return err
			case *asJSON:
				_, err = a.stdout.Write(describe.VisibleJSON(b))
			default:
				if err = decode(b, &m); err == nil {
					err = p.print(&m)
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// traceQuery says which tabs are meant.
func traceQuery(pos []string) (url.Values, error) {
	query := url.Values{}
	if len(pos) > 0 {
		site := spec.Domain(pos[0])
		if key, err := naming.DomainOf(pos[0], true); err == nil && !naming.IsDomain(site) {
			site = key // it was pasted from the address bar
		}
		query.Set("site", string(site))
	}
	if len(pos) > 1 {
		if n, err := strconv.Atoi(pos[1]); err != nil || n < 1 {
			return nil, usagef("%q is no tab; it is a number, as `tabhub tabs` shows it", pos[1])
		}
		query.Set("tab", pos[1])
	}
	return query, nil
}

// What is printed of a message, if not all of it is asked for.
const (
	shownLines   = 16
	pipedColumns = 160 // where there is no screen with a width
)

// tracePrinter prints messages for people.
type tracePrinter struct {
	*app
	screen terminal.Screen
	lines  int // of a message; 0: all
}

func (p *tracePrinter) print(m *httpd.TraceReport) error {
	var b strings.Builder
	paint := func(tone terminal.Tone, words string) { b.WriteString(p.screen.Paint(tone, describe.Visible(words))) }
	paint(terminal.Soft, m.Time.Local().Format("15:04:05.000 "))
	where := cmp.Or(oneLine(string(m.Site)), oneLine(m.Browser), m.Tab.Peer.Short())
	if m.Number > 0 {
		where += fmt.Sprintf(" tab %d", m.Number)
	}
	switch {
	case m.Event == tabtransport.EventBegun:
		fmt.Fprintln(p.err, "waiting for messages; Ctrl+C ends")
		return nil
	case m.Event == tabtransport.EventMissed:
		paint(terminal.Bad, m.Text+" were missed: they came too fast\n")
	case m.Event != "":
		paint(terminal.Accent, where)
		paint(terminal.Strong, " "+m.Event+" ")
		paint(terminal.Soft, oneLine(m.Text)+"\n")
	default:
		p.head(paint, m, where)
		p.body(paint, m)
	}
	_, err := p.stdout.Write([]byte(b.String()))
	return err
}

// head tells of a message what it is.
func (p *tracePrinter) head(paint func(terminal.Tone, string), m *httpd.TraceReport, where string) {
	arrow := "→ "
	if m.ToHub {
		arrow = "← "
	}
	paint(terminal.Strong, arrow)
	paint(terminal.Accent, where)
	tone := terminal.Strong
	if m.Failed {
		tone = terminal.Bad
	}
	paint(tone, " "+oneLine(cmp.Or(m.Method, "a message")))
	if m.Tool != "" {
		paint(terminal.Plain, " "+oneLine(m.Tool))
	}
	switch {
	case m.Answer && m.Failed:
		paint(terminal.Bad, " failed")
	case m.Answer:
		paint(terminal.Good, " answered")
	}
	if m.Took > 0 {
		paint(terminal.Plain, " after "+took(m.Took))
	}
	paint(terminal.Soft, fmt.Sprintf(", %d bytes\n", m.Size))
}

// body prints the message itself, indented.
func (p *tracePrinter) body(paint func(terminal.Tone, string), m *httpd.TraceReport) {
	const indent = "    "
	var body bytes.Buffer
	if m.Body == nil || json.Indent(&body, describe.VisibleJSON(m.Body), indent, "  ") != nil {
		paint(terminal.Soft, indent+oneLine(m.Text)+"\n")
		return
	}
	lines := strings.Split(indent+body.String(), "\n")
	more := 0
	if p.lines > 0 && len(lines) > p.lines {
		more = len(lines) - p.lines
		lines = lines[:p.lines]
	}
	for _, line := range lines {
		if p.lines > 0 {
			line = terminal.OneLine(line, cmp.Or(p.screen.Columns, pipedColumns))
		}
		paint(terminal.Plain, line+"\n")
	}
	if more > 0 {
		paint(terminal.Soft, fmt.Sprintf("%s… %d more lines; --full shows them\n", indent, more))
	}
}
