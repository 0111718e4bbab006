package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/describe"
	"tabhub/tabtransport/pairing"
)

// OneLine is what files and errors say, fit for a line of a terminal.
func OneLine(s string) string { return terminal.OneLine(strings.TrimSpace(s), 500) }

// PrintValue prints a value as JSON.
func (a *App) PrintValue(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return a.PrintJSON(append(b, '\n'))
}

// PrintJSON prints JSON, indented for a person. What would be written out in text is
// escaped, which means the same.
func (a *App) PrintJSON(b []byte) error {
	if terminal.Is(a.Stdout) {
		var buf bytes.Buffer
		if json.Indent(&buf, bytes.TrimSpace(b), "", "  ") == nil {
			b = append(buf.Bytes(), '\n')
		}
	}
	_, err := a.Stdout.Write(describe.VisibleJSON(b))
	return err
}

// PrintAnswer prints an answer of the hub, which is JSON, if there is no error.
func (a *App) PrintAnswer(b []byte, err error) error {
	if err != nil {
		return err
	}
	return a.PrintJSON(append(bytes.TrimSpace(b), '\n'))
}

// Screen is where what a command prints is read.
func (a *App) Screen() terminal.Screen { return terminal.Of(a.Stdout, a.Env) }

// Status returns a line for the person who waits for a command.
func (a *App) Status() *terminal.Status {
	return &terminal.Status{Out: a.Stderr, Screen: terminal.Of(a.Stderr, a.Env)}
}

// OnTerminal reports whether what a command prints is read by a person.
func (a *App) OnTerminal() bool { return terminal.Is(a.Stdout) }

// Table returns a table that is printed where the rest is. Without a header, the first column
// says what the second one is.
func (a *App) Table(header ...string) *terminal.Table {
	return terminal.NewTable(a.Stdout, a.Screen(), header...)
}

// Headline says in one line what the rest is about.
func (a *App) Headline(text string) {
	const width = 300
	fmt.Fprintln(a.Stdout, a.Screen().Text(terminal.Strong, terminal.OneLine(strings.TrimSpace(text), width)))
}

// Hint says more about what was printed.
func (a *App) Hint(format string, args ...any) {
	fmt.Fprintln(a.Stdout, a.Screen().Text(terminal.Soft, describe.Visible(fmt.Sprintf(format, args...))))
}

// Note says to a person what is no part of what was asked for: that there is nothing, and what
// to do next.
func (a *App) Note(format string, args ...any) {
	fmt.Fprintln(a.Stderr, terminal.Of(a.Stderr, a.Env).Text(terminal.Plain, describe.Visible(fmt.Sprintf(format, args...))))
}

func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func NameOf(p pairing.Pairing) string { return cmp.Or(p.Browser, "a browser") }
