package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/describe"
)

// visible writes text so that it can be read on a terminal and does nothing else
// there: control characters, and others that nobody sees, are written out as \x1b or
// \u202e. A character must not be split between two writes, or its bytes are.
type visible struct{ w io.Writer }

func (v visible) Write(b []byte) (int, error) {
	if _, err := io.WriteString(v.w, describe.Visible(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// visibleJSON is visible for JSON, which stays valid and means the same.
type visibleJSON struct{ w io.Writer }

func (v visibleJSON) Write(b []byte) (int, error) {
	if _, err := v.w.Write(describe.VisibleJSON(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// jsonFlag adds --json.
func jsonFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("json", false, "print JSON")
}

// oneLine is what files and errors say, fit for a line of a terminal.
func oneLine(s string) string { return terminal.OneLine(strings.TrimSpace(s), 500) }

// printValue prints a value as JSON.
func (a *app) printValue(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return a.printJSON(append(b, '\n'))
}

// printJSON prints JSON, indented for a person. What would be written out in text is
// escaped, which means the same.
func (a *app) printJSON(b []byte) error {
	if terminal.Is(a.stdout) {
		var buf bytes.Buffer
		if json.Indent(&buf, bytes.TrimSpace(b), "", "  ") == nil {
			b = append(buf.Bytes(), '\n')
		}
	}
	_, err := a.stdout.Write(describe.VisibleJSON(b))
	return err
}

// printAnswer prints an answer of the hub, which is JSON, if there is no error.
func (a *app) printAnswer(b []byte, err error) error {
	if err != nil {
		return err
	}
	return a.printJSON(append(bytes.TrimSpace(b), '\n'))
}

// screen is where what a command prints is read.
func (a *app) screen() terminal.Screen { return terminal.Of(a.stdout, a.env) }

// status returns a line for the person who waits for a command.
func (a *app) status() *terminal.Status {
	return &terminal.Status{Out: a.stderr, Screen: terminal.Of(a.stderr, a.env)}
}

// onTerminal reports whether what a command prints is read by a person.
func (a *app) onTerminal() bool { return terminal.Is(a.stdout) }

// table returns a table that is printed where the rest is. Without a header, the first column
// says what the second one is.
func (a *app) table(header ...string) *terminal.Table {
	return terminal.NewTable(a.stdout, a.screen(), header...)
}

// headline says in one line what the rest is about.
func (a *app) headline(text string) {
	const width = 300
	fmt.Fprintln(a.stdout, a.screen().Text(terminal.Strong, terminal.OneLine(strings.TrimSpace(text), width)))
}

// hint says more about what was printed.
func (a *app) hint(format string, args ...any) {
	fmt.Fprintln(a.stdout, a.screen().Text(terminal.Soft, describe.Visible(fmt.Sprintf(format, args...))))
}

// note says to a person what is no part of what was asked for: that there is nothing, and what
// to do next.
func (a *app) note(format string, args ...any) {
	fmt.Fprintln(a.stderr, terminal.Of(a.stderr, a.env).Text(terminal.Plain, describe.Visible(fmt.Sprintf(format, args...))))
}

// tones of the states that are the same in all faces of the hub. What is none of them is plain.
var tones = map[string]terminal.Tone{
	"active": terminal.Good, "open": terminal.Good, "connected": terminal.Good, "ok": terminal.Good, "allow": terminal.Good, "allowed": terminal.Good,
	"asleep": terminal.Soft, "away": terminal.Soft, "changing page": terminal.Soft, "cancelled": terminal.Soft,
	"waiting for you": terminal.Wait, "in use by you": terminal.Wait, "has a dialog open": terminal.Wait, "does not answer": terminal.Wait, "paused": terminal.Wait, "ask": terminal.Wait, "you would be asked": terminal.Wait, "note": terminal.Wait,
	"deny": terminal.Bad, "denied": terminal.Bad, "problem": terminal.Bad, "refused": terminal.Bad,
}

// stateCell is a cell with a state.
func stateCell(state string) terminal.Cell {
	return terminal.Cell{Text: state, Tone: tones[state], State: true}
}
