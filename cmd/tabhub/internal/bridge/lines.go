package bridge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	bufferSize = 64 << 10
	maxLine    = 256 << 20
)

// lines calls f for each line of chunk, with its line break.
func lines(chunk []byte, f func(line []byte)) {
	for len(chunk) > 0 {
		end := bytes.IndexByte(chunk, '\n') + 1
		if end == 0 {
			end = len(chunk)
		}
		f(chunk[:end])
		chunk = chunk[end:]
	}
}

// lineReader cuts a stream into runs of whole lines.
type lineReader struct {
	r    io.Reader
	buf  []byte
	end  int // what is read so far
	seen int // what was searched for a line break
}

var bom = []byte("\xef\xbb\xbf")

// readLines is each for a client's stream: some begin theirs with a byte order mark,
// or end it without a line break.
func readLines(r io.Reader, f func(lines []byte) (kept bool, err error)) error {
	l := &lineReader{r: r}
	first := true
	err := l.each(func(lines []byte) (bool, error) {
		if first {
			first, lines = false, bytes.TrimPrefix(lines, bom)
		}
		return f(lines)
	})
	if rest := l.buf[:l.end]; errors.Is(err, io.EOF) && len(rest) > 0 {
		if first {
			rest = bytes.TrimPrefix(rest, bom)
		}
		if _, e := f(append(rest, '\n')); e != nil {
			return e
		}
	}
	return err
}

// each calls f with one or more whole lines at a time, as they come, until f returns
// an error or the stream ends; what follows then is not lost to a later each. If f
// says that it has kept a part of the lines, they are not overwritten.
func (l *lineReader) each(f func(lines []byte) (kept bool, err error)) error {
	for {
		if i := bytes.LastIndexByte(l.buf[l.seen:l.end], '\n'); i >= 0 {
			whole := l.seen + i + 1
			kept, err := f(l.buf[:whole:whole])
			l.take(whole, kept)
			if err != nil {
				return err
			}
		}
		l.seen = l.end
		if l.end == len(l.buf) {
			if l.end > maxLine {
				return fmt.Errorf("a message is larger than %d bytes", maxLine)
			}
			l.buf = append(l.buf, make([]byte, max(bufferSize, len(l.buf)))...)
		}
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		if n == 0 && err != nil {
			return err
		}
	}
}

// take removes the first n bytes.
func (l *lineReader) take(n int, kept bool) {
	rest := l.buf[n:l.end]
	if kept || len(l.buf) > 16*bufferSize && len(rest) < bufferSize {
		l.buf = make([]byte, max(bufferSize, 2*len(rest)))
	}
	l.end = copy(l.buf, rest)
	l.seen = 0
}
