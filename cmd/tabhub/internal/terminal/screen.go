package terminal

import (
	"cmp"
	"os"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// Screen says what the reader of a stream can show. The zero value is for a program.
type Screen struct {
	Columns  int  // its width; 0: unlimited
	Rewrites bool // the cursor can be moved
	Styled   bool // colours and symbols are wanted
}

// usualColumns is the width of a terminal that does not report one.
const usualColumns = 80

// Of returns the Screen of a stream of a process with that environment: COLUMNS overrides the
// terminal's width, TERM=dumb and NO_COLOR (no-color.org) its abilities.
func Of(stream any, env func(string) string) Screen {
	if !Is(stream) {
		return Screen{}
	}
	width, _, _ := term.GetSize(int(stream.(*os.File).Fd()))
	if n, err := strconv.Atoi(env("COLUMNS")); err == nil && n > 0 {
		width = n
	}
	able := env("TERM") != "dumb"
	return Screen{
		Columns:  cmp.Or(width, usualColumns),
		Rewrites: able,
		Styled:   able && env("NO_COLOR") == "",
	}
}

// Is reports whether a stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Tone says how good the meaning of a word is for its reader.
type Tone uint8

// The tones, which the dashboard and the popup have, too.
const (
	Plain Tone = iota
	Strong
	Soft   // of less interest
	Accent // the name of something
	Good
	Wait // for the reader
	Bad
)

var colors = [...]text.Color{
	Strong: text.Bold,
	Soft:   text.Faint,
	Accent: text.FgCyan,
	Good:   text.FgGreen,
	Wait:   text.FgYellow,
	Bad:    text.FgRed,
}

// symbols stand before a state, for readers who do not see its colour.
var symbols = [...]string{Soft: "○ ", Good: "● ", Wait: "◆ ", Bad: "✗ "}

// Paint returns text in a tone, if the Screen is Styled.
func (s Screen) Paint(tone Tone, words string) string {
	if !s.Styled || tone == Plain || words == "" {
		return words
	}
	return colors[tone].EscapeSeq() + words + text.EscapeReset
}

// State returns a state in its tone, with the tone's symbol, if the Screen is Styled.
func (s Screen) State(tone Tone, word string) string {
	if !s.Styled || word == "" {
		return word
	}
	return s.Paint(tone, symbols[tone]+word)
}

// width returns how many columns words take.
func width(words string) int { return text.StringWidthWithoutEscSequences(words) }

// cut returns words of at most n columns.
func cut(words string, n int) string { return text.Snip(words, n, "…") }

// cutWords cuts each word that is longer than n columns.
func cutWords(words string, n int) string {
	if width(words) <= n {
		return words
	}
	fields := strings.Fields(words)
	for i := range fields {
		fields[i] = cut(fields[i], n)
	}
	return strings.Join(fields, " ")
}

// Text returns words in a tone, which may be several lines, wrapped to the Screen's width.
func (s Screen) Text(tone Tone, words string) string {
	lines := strings.Split(words, "\n")
	for i, line := range lines {
		if s.Columns > 0 {
			line = trimmed(text.WrapSoft(line, s.Columns))
		}
		lines[i] = s.Paint(tone, line)
	}
	return strings.Join(lines, "\n")
}

// Indented returns words behind what they begin with, wrapped to the Screen's width, further lines below the
// words. Nothing is left out.
func (s Screen) Indented(begin, words string) string {
	if s.Columns == 0 {
		return begin + words
	}
	const narrowest = 20
	lines := trimmed(text.WrapSoft(words, max(s.Columns-width(begin), narrowest)))
	return begin + strings.ReplaceAll(lines, "\n", "\n"+strings.Repeat(" ", width(begin)))
}

// trimmed removes the spaces that pad lines.
func trimmed(lines string) string {
	all := strings.Split(lines, "\n")
	for i := range all {
		all[i] = strings.TrimRight(all[i], " ")
	}
	return strings.Join(all, "\n")
}
