package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"

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

// clip shortens what a page chose, for a line of a table.
func clip(s string, n int) string {
	r := []rune(describe.Visible(lineBreaks.Replace(s)))
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}

var lineBreaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ")

// oneLine is what files and errors say, fit for a line of a terminal.
func oneLine(s string) string { return clip(strings.TrimSpace(s), 500) }

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
	if isTerminal(a.stdout) {
		var buf bytes.Buffer
		if json.Indent(&buf, bytes.TrimSpace(b), "", "  ") == nil {
			b = append(buf.Bytes(), '\n')
		}
	}
	_, err := a.stdout.Write(describe.VisibleJSON(b))
	return err
}

// table prints rows in columns.
func (a *app) table(header string, rows func(w io.Writer)) error {
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	cells := visible{w} // before it counts their characters
	fmt.Fprintln(cells, header)
	rows(cells)
	return w.Flush()
}

// onTerminal reports whether what a command prints is read by a person.
func (a *app) onTerminal() bool { return isTerminal(a.stdout) }

// isTerminal reports whether a person is at the other end of a stream.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
