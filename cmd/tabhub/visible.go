package main

import (
	"io"

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
