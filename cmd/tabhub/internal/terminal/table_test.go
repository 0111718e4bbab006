package terminal

import (
	"bytes"
	"strings"
	"testing"
)

// What a table shows must fit where it is shown, without breaking a word, and a program must
// get each row as one line, whole.
func TestTable(t *testing.T) {
	print := func(s Screen, cells ...any) string {
		t.Helper()
		var b bytes.Buffer
		table := NewTable(&b, s, "NAME", "N", "SAYS")
		table.Row(cells...)
		table.Row("b", 22, "short")
		if err := table.Print(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	long := "words that take more room than there is beside the name"
	for name, c := range map[string]struct {
		screen Screen
		cells  []any
		want   string
	}{
		"for a program": {Screen{}, []any{"a_name", 1, long}, `
NAME    N   SAYS
a_name  1   words that take more room than there is beside the name
b       22  short
`},
		"fits": {Screen{Columns: 80}, []any{"a_name", 1, long}, `
NAME    N   SAYS
a_name  1   words that take more room than there is beside the name
b       22  short
`},
		"wraps": {Screen{Columns: 36}, []any{"a_name", 1, long}, `
NAME    N   SAYS
a_name  1   words that take more
            room than there is
            beside the name
b       22  short
`},
		"cuts": {Screen{Columns: 36}, []any{"a_name", 1, "https://example.com/a/long/path is it"}, `
NAME    N   SAYS
a_name  1   https://example.com/a/l…
            is it
b       22  short
`},
		"row by row": {Screen{Columns: 30}, []any{"a_name_that_is_not_to_be_cut", 1, long}, `
a_name_that_is_not_to_be_cut
  N     1
  SAYS  words that take more
        room than there is
        beside the name

b
  N     22
  SAYS  short
`},
		"wide characters": {Screen{Columns: 20}, []any{"生命", 1, "生命 生命 生命"}, `
NAME  N   SAYS
生命  1   生命 生命
          生命
b     22  short
`},
		"styled": {Screen{Columns: 80, Styled: true}, []any{Cell{Text: "a", Tone: Good, State: true}, 1, Cell{Text: "b c", Tone: Bad}}, `
` + "\x1b[2mNAME\x1b[0m  \x1b[2mN\x1b[0m   \x1b[2mSAYS\x1b[0m\n\x1b[32m● a\x1b[0m   1   \x1b[31mb c\x1b[0m\n\x1b[1mb\x1b[0m     22  short" + `
`},
		"a page that would steer": {Screen{Columns: 80, Styled: true}, []any{"a\x1b[2J", 1, "x\ny\r\u202e\tz"}, `
` + "\x1b[2mNAME\x1b[0m      \x1b[2mN\x1b[0m   \x1b[2mSAYS\x1b[0m" + `
` + "\x1b[1ma\\x1b[2J\x1b[0m  1   x y \\u202e z\n\x1b[1mb\x1b[0m         22  short" + `
`},
	} {
		if got := print(c.screen, c.cells...); got != strings.TrimPrefix(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant%s", name, got, c.want)
		}
	}
}

// A line of the record must stay one line, however narrow the terminal is, and its end must be seen.
func TestLines(t *testing.T) {
	for name, c := range map[string]struct {
		screen Screen
		detail string
		want   string
	}{
		"wide":          {Screen{Columns: 50}, "note to Ann", "10:00:00  claude-d…  pay@shop  note to Ann      ok"},
		"cuts a detail": {Screen{Columns: 48}, "note to Ann, who is away", "10:00:00  claude-d…  pay@shop  note to Ann,…  ok"},
		"no room":       {Screen{Columns: 36}, "note to Ann", "10:00:00  claude-d…  pay@shop     ok"},
		"narrow":        {Screen{Columns: 27}, "", "10:00:00  claude-d…  p…  ok"},
		"a program":     {Screen{}, "note to Ann", "10:00:00   claude-desktop  pay@shop   ok  note to Ann"},
	} {
		var b bytes.Buffer
		lines := Lines{Out: &b, Screen: c.screen, Widths: []int{8, 9, 9}}
		if c.screen.Columns == 0 {
			lines.Widths = []int{9, 9, 9}
		}
		err := lines.Print([]Cell{{Text: "10:00:00"}, {Text: "claude-desktop"}, {Text: "pay@shop"}}, Cell{Text: c.detail}, Cell{Text: "ok"})
		if got := strings.TrimSuffix(b.String(), "\n"); got != c.want || err != nil {
			t.Errorf("%s:\n%q, want\n%q, %v", name, got, c.want, err)
		}
	}
}

// What an owner is asked about is whole, however narrow the terminal is.
func TestIndented(t *testing.T) {
	const words = "clicks button \"Order\" at https://shop.example.com/a/long/path"
	if got := (Screen{}).Indented("- ", words); got != "- "+words {
		t.Errorf("into a pipe: %q", got)
	}
	got := (Screen{Columns: 24}).Indented("  1. ", words)
	if whole := strings.ReplaceAll(strings.ReplaceAll(got, "\n     ", ""), " ", ""); whole != "1."+strings.ReplaceAll(words, " ", "") {
		t.Errorf("on a narrow terminal, it is not whole: %q", got)
	}
	for line := range strings.Lines(got) {
		if n := len(strings.TrimRight(line, "\n")); n > 25 {
			t.Errorf("a line has %d columns: %q", n, line)
		}
	}
}
