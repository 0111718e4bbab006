package terminal

import (
	"fmt"
	"io"
	"strings"
)

// Lines prints things that come one by one, each on one line. On a terminal the end of a line stands at
// the right edge, and what does not fit between is cut. For a program all is whole.
type Lines struct {
	Out    io.Writer
	Screen Screen
	Widths []int // of the columns; on a terminal the last one has what is left
}

// Print prints a line: its columns, what there is room for of a detail, and its end.
func (l *Lines) Print(columns []Cell, detail, end Cell) error {
	oneLine := func(c Cell) Cell {
		c.Text = OneLine(c.Text, maxCell)
		return c
	}
	detail, end = oneLine(detail), oneLine(end)
	s, last := l.Screen, l.Screen.painted(oneLine(end))
	room := s.Columns - width(last) - len(gap)
	var line strings.Builder
	for i, c := range columns {
		c = oneLine(c)
		w := l.Widths[i]
		if s.Columns > 0 {
			if i == len(columns)-1 {
				w = width(c.Text)
			}
			w = max(0, min(w, room))
			c.Text = cut(c.Text, w)
		}
		room -= w + len(gap)
		line.WriteString(s.painted(c) + strings.Repeat(" ", max(0, w-width(c.Text))) + gap)
	}
	switch {
	case s.Columns == 0:
		line.WriteString(last + gap + detail.Text)
	case detail.Text != "" && room >= narrow-4 || room >= width(detail.Text):
		detail.Text = cut(detail.Text, room)
		line.WriteString(s.painted(detail))
		fallthrough
	default:
		line.WriteString(strings.Repeat(" ", max(0, s.Columns-width(line.String())-width(last))) + last)
	}
	_, err := fmt.Fprintln(l.Out, strings.TrimRight(line.String(), " "))
	return err
}

// painted is a cell as the Screen shows it.
func (s Screen) painted(c Cell) string {
	if c.State {
		return s.State(c.Tone, c.Text)
	}
	return s.Paint(c.Tone, c.Text)
}
