package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Status is a line about progress that is rewritten until the work ends. A Screen that cannot
// rewrite does not show it.
type Status struct {
	Out    io.Writer
	Screen Screen
	shown  bool
}

// Show replaces the words that are shown. They may be painted.
func (s *Status) Show(words string) {
	if s.Screen.Rewrites {
		fmt.Fprint(s.Out, erase, cut(words, s.Screen.Columns-1))
		s.shown = true
	}
}

// Clear removes the line.
func (s *Status) Clear() {
	if s.shown {
		fmt.Fprint(s.Out, erase)
		s.shown = false
	}
}

// erase empties the cursor's line.
const erase = "\r\x1b[K"

const (
	spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	// Frame is how often a line with a Spinner is redrawn.
	Frame = 100 * time.Millisecond
	// barWidth is the width of a Bar.
	barWidth = 20
)

// Spinner returns a symbol that turns as time passes, if the Screen is Styled.
func (s Screen) Spinner(passed time.Duration) string {
	if !s.Styled {
		return ""
	}
	frames := []rune(spinner)
	return s.Paint(Accent, string(frames[int(passed/Frame)%len(frames)])) + " "
}

// Bar returns a share of work, from 0 to 1, as a bar and in per cent.
func (s Screen) Bar(done float64) string {
	done = min(max(done, 0), 1)
	percent := fmt.Sprintf("%3.0f %%", 100*done)
	if !s.Styled {
		return percent
	}
	n := int(done*barWidth + 0.5)
	return s.Paint(Accent, strings.Repeat("━", n)) + s.Paint(Soft, strings.Repeat("━", barWidth-n)) + " " + percent
}
