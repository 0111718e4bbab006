package jsonrpc

import (
	"bytes"
	"errors"
	"io"
	"runtime"
)

var ErrTooLong = errors.New("line too long")

// LineReader cuts lines out of what it reads. Lines are not copied: each is a part
// of a buffer that is not written to again, and may be kept.
type LineReader struct {
	R   io.Reader
	Max int // a longer line is skipped

	buf        []byte
	start, end int // of what is read and not handed out
	err        error
}

const LineBuffer = 64 << 10

// Next returns the next line, without its end, or errTooLong for one that was
// skipped. A last line without an end counts.
func (l *LineReader) Next() ([]byte, error) {
	scanned := l.start
	for skipping := false; ; {
		if i := bytes.IndexByte(l.buf[scanned:l.end], '\n'); i >= 0 {
			line := l.buf[l.start : scanned+i : scanned+i]
			l.start = scanned + i + 1
			if skipping || len(line) > l.Max {
				return nil, ErrTooLong
			}
			return line, nil
		}
		if l.end-l.start > l.Max {
			skipping = true
			l.start = l.end
		}
		if l.err != nil {
			line := l.buf[l.start:l.end:l.end]
			l.start = l.end
			if skipping {
				return nil, ErrTooLong
			}
			if len(line) == 0 {
				return nil, l.err
			}
			return line, nil
		}
		if l.end == len(l.buf) {
			rest := l.buf[l.start:l.end]
			l.buf = make([]byte, max(LineBuffer, 2*len(rest)))
			l.start, l.end = 0, copy(l.buf, rest)
		}
		scanned = l.end
		// Reading from a pipe blocks the thread, and what the last lines have started
		// waits until another has taken its work over: let it go first.
		runtime.Gosched()
		var n int
		n, l.err = l.R.Read(l.buf[l.end:])
		l.end += n
	}
}
