package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"tabhub/describe"
)

const (
	gap = "  " // between columns
	// maxCell is the length at which a cell is cut.
	maxCell = 4000
	// narrow is the width of a text column below which a table is printed row by row.
	narrow = 12
)

// Cell is text with a tone.
type Cell struct {
	Text  string
	Tone  Tone
	State bool // the tone's symbol stands before it
}

// Table prints rows in columns. If they do not fit beside each other, cells wrap by words, and a
// word that is longer than its column is cut and ends in …. Cells of the first column stay whole,
// alone on a line if necessary; so do those of the last column of a table without a header. For a
// program, a row is one line.
type Table struct {
	out    io.Writer
	screen Screen
	header []string // empty: the first column names the second
	rows   [][]Cell
}

// NewTable returns a table that prints on out.
func NewTable(out io.Writer, s Screen, header ...string) *Table {
	return &Table{out: out, screen: s, header: header}
}

// Row adds a row: for each column a Cell, or a value that fmt prints.
func (t *Table) Row(cells ...any) {
	row := make([]Cell, len(cells))
	for i, c := range cells {
		cell, ok := c.(Cell)
		if !ok {
			cell.Text = fmt.Sprint(c)
		}
		if i == 0 && cell.Tone == Plain {
			cell.Tone = t.firstTone()
		}
		cell.Text = OneLine(cell.Text, maxCell)
		row[i] = cell
	}
	t.rows = append(t.rows, row)
}

// firstTone is the tone of the first column: a row's name, or the name of a value.
func (t *Table) firstTone() Tone {
	if len(t.header) == 0 {
		return Soft
	}
	return Strong
}

// OneLine returns a text as one line of at most n characters, without control characters.
func OneLine(words string, n int) string {
	r := []rune(describe.Visible(lineBreaks.Replace(words)))
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}

var lineBreaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ")

// Print prints the table.
func (t *Table) Print() error {
	var widths []int
	if t.screen.Columns > 0 {
		var fits bool
		if widths, fits = t.fit(); !fits && len(t.header) > 0 {
			return t.printRowByRow()
		}
	}
	w := table.NewWriter()
	w.SetStyle(style)
	w.SuppressTrailingSpaces()
	columns := len(t.header)
	if len(t.rows) > 0 {
		columns = len(t.rows[0])
	}
	configs := make([]table.ColumnConfig, columns)
	for i := range configs {
		c := table.ColumnConfig{Number: i + 1, Align: text.AlignLeft, AlignHeader: text.AlignLeft, WidthMaxEnforcer: wrap}
		if widths != nil {
			c.WidthMin, c.WidthMax = widths[i], widths[i]
		}
		if len(t.header) == 0 && i == columns-1 {
			c.WidthMaxEnforcer = wrapWhole
		}
		configs[i] = c
	}
	w.SetColumnConfigs(configs)
	if len(t.header) > 0 {
		var names table.Row
		for _, name := range t.header {
			names = append(names, t.screen.Paint(Soft, name))
		}
		w.AppendHeader(names)
	}
	for _, row := range t.rows {
		var cells table.Row
		for _, c := range row {
			cells = append(cells, t.screen.painted(c))
		}
		w.AppendRow(cells)
	}
	text := w.Render()
	if text == "" {
		return nil
	}
	_, err := fmt.Fprintln(t.out, text)
	return err
}

// style is the style of tables without lines.
var style = table.Style{
	Box:    table.BoxStyle{PaddingRight: gap},
	Format: table.FormatOptions{Header: text.FormatDefault},
}

// wrap wraps words into lines of n columns.
func wrap(words string, n int) string { return text.WrapSoft(cutWords(words, n), n) }

// wrapWhole wraps words into lines of n columns, and leaves longer words whole: paths and commands,
// which the reader copies.
func wrapWhole(words string, n int) string {
	var b strings.Builder
	used := 0
	for word := range strings.FieldsSeq(words) {
		switch w := width(word); {
		case used == 0:
			used = w
		case used+1+w <= n:
			b.WriteByte(' ')
			used += 1 + w
		default:
			b.WriteByte('\n')
			used = w
		}
		b.WriteString(word)
	}
	return b.String()
}

// fit returns the width of each column, and whether all of them are readable.
func (t *Table) fit() (widths []int, fits bool) {
	var longest []int // word of each column
	measure := func(i int, words string, whole bool) {
		if i == len(widths) {
			widths, longest = append(widths, 0), append(longest, 0)
		}
		widths[i] = max(widths[i], width(words))
		if whole {
			longest[i] = max(longest[i], width(words))
			return
		}
		for word := range strings.FieldsSeq(words) {
			longest[i] = max(longest[i], min(width(word), narrow))
		}
	}
	for i, name := range t.header {
		measure(i, name, true)
	}
	for _, row := range t.rows {
		for i, c := range row {
			measure(i, t.screen.painted(c), i == 0)
		}
	}
	room := t.screen.Columns - len(gap)*(len(widths)-1)
	// The widest columns shrink until all fit.
	for level := slices.Max(append(widths, 0)); level > 0; level-- {
		sum := 0
		for i := range widths {
			widths[i] = max(longest[i], min(widths[i], level))
			sum += widths[i]
		}
		if sum <= room {
			return widths, true
		}
	}
	return widths, false
}

// printRowByRow prints the first cell of each row, and the other cells below it.
func (t *Table) printRowByRow() error {
	for i, row := range t.rows {
		if i > 0 {
			fmt.Fprintln(t.out)
		}
		fmt.Fprintln(t.out, t.screen.painted(row[0]))
		rest := NewTable(t.out, t.screen)
		for j, c := range row[1:] {
			rest.Row(gap+t.header[1+j], c)
		}
		if err := rest.Print(); err != nil {
			return err
		}
	}
	return nil
}
