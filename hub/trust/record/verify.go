package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"
)

// Report is what Verify has found.
type Report struct {
	First, Last Head      // of the lines that are there
	Since, To   time.Time // of the first one, and the latest of all
	// Retired is the last line that was removed for its age, or to make room.
	Retired Head
	// Attested is the head beside the record. Up to it no line can have been cut off unnoticed.
	Attested Head
	// Problems are what is wrong, in the order of the lines.
	Problems []Problem
}

// Problem is something that is wrong with a record.
type Problem struct {
	File string // the name of the segment, "" if it is not about one
	N    uint64 // the first line that is wrong
	What string
}

// Verify reads all of the record in a directory and checks its chain. known are heads that
// somebody has noted elsewhere.
func Verify(path string, known ...Head) (*Report, error) {
	head, headErr := ReadHead(path) // before the lines, of which there may be more in a moment
	v := verifier{}
	if err := v.source(context.Background(), dir(path)); err != nil {
		return nil, err
	}
	if errors.Is(headErr, fs.ErrNotExist) && v.Last.N > 0 {
		if _, err := ReadHead(path); err == nil { // the record began meanwhile
			return Verify(path, known...)
		}
	}
	switch {
	case headErr == nil:
		v.Attested = head
		v.check(head, "the head")
	case v.Last.N > 0 || !errors.Is(headErr, fs.ErrNotExist):
		v.problem(v.Last.N, "it is not known how far the record went: %s", headErr)
	}
	return v.report(known), nil
}

// VerifyLines is Verify for the lines that Raw has written. Only known heads show that lines are
// missing at their end.
func VerifyLines(in io.Reader, known ...Head) (*Report, error) {
	v := verifier{}
	torn, err := eachLineIn(context.Background(), in, func(raw []byte) error { v.line(raw); return nil })
	if err != nil {
		return nil, err
	}
	if torn > 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return v.report(known), nil
}

// verifier follows the chain.
type verifier struct {
	Report
	file   string
	prev   Hash   // of the first line
	heads  []Head // of all lines, in order
	broken bool   // the last line did not follow, which is the last problem
}

// source takes all lines that there are.
func (v *verifier) source(ctx context.Context, from source) error {
	all, err := piecesOf(ctx, from)
	if err != nil {
		return err
	}
	for i, p := range all {
		v.file = p.name()
		torn, err := p.lines(ctx, func(raw []byte) error { v.line(raw); return nil })
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // else it was retired just now
			return err
		}
		if torn > 0 && i < len(all)-1 { // of the last one the rest may be being written
			v.problem(v.Last.N+1, "the file ends in an unfinished line")
		}
	}
	v.file = ""
	return nil
}

// report returns the report, after all lines.
func (v *verifier) report(known []Head) *Report {
	for _, h := range known {
		v.check(h, "the head that you noted")
	}
	v.checkFront()
	return &v.Report
}

func (v *verifier) problem(n uint64, format string, args ...any) {
	v.Problems = append(v.Problems, Problem{v.file, n, fmt.Sprintf(format, args...)})
}

// line takes the next line.
func (v *verifier) line(raw []byte) {
	l, ok := decodeLine(raw)
	next := v.Last.next(raw)
	broken := false
	switch {
	case !ok:
		v.problem(next.N, "this is no line of a record")
	case v.First.N == 0:
		v.prev, v.Since = l.Prev, l.Time
	case l.N == v.Last.N+1 && l.Prev == v.Last.Hash:
	case l.N == v.Last.N+1 && v.broken:
		v.Problems[len(v.Problems)-1].N = v.Last.N // which neither follows nor is followed
	case l.N == v.Last.N+1:
		v.problem(v.Last.N, "this line has been changed")
		broken = true
	case l.N > v.Last.N+1 && l.Note != nil && l.Note.Missing == l.N-v.Last.N-1:
		v.problem(v.Last.N+1, "lines %d to %d were gone when the hub started at %s", v.Last.N+1, l.N-1, l.Time.Format(time.RFC3339))
	case l.N > v.Last.N+1:
		v.problem(v.Last.N+1, "lines %d to %d are gone", v.Last.N+1, l.N-1)
	case v.find(l.N-1).Hash == l.Prev:
		v.problem(l.N, "from this line to line %d there are two of each: another hub had taken over, or they were put there", v.Last.N)
		at, _ := v.index(l.N)
		v.heads = v.heads[:at]
	default:
		v.problem(l.N, "this line stands behind line %d: it was put there, or moved", v.Last.N)
		return // what comes next follows from the last one
	}
	v.broken = broken
	if v.First.N == 0 {
		v.First = next
	}
	v.heads, v.Last = append(v.heads, next), next
	if ok {
		if l.Time.After(v.To) { // else it is late
			v.To = l.Time
		}
		if l.Note != nil && l.Note.Retired != nil {
			v.Retired = *l.Note.Retired
		}
	}
}

func (v *verifier) index(n uint64) (at int, found bool) {
	return slices.BinarySearchFunc(v.heads, n, func(h Head, n uint64) int { return cmp.Compare(h.N, n) })
}

// find returns the line of a number, or the zero Head.
func (v *verifier) find(n uint64) Head {
	if at, ok := v.index(n); ok {
		return v.heads[at]
	}
	return Head{}
}

// check compares a head that is kept elsewhere.
func (v *verifier) check(h Head, what string) {
	switch there := v.find(h.N); {
	case h.N > v.Last.N:
		v.problem(v.Last.N+1, "lines %d to %d are gone: %s has them", v.Last.N+1, h.N, what)
	case there.N > 0 && there.Hash != h.Hash:
		v.problem(h.N, "this is not the line that %s has: it or one before it has been changed", what)
	}
}

// checkFront finds out whether the lines before the first one were retired.
func (v *verifier) checkFront() {
	before := v.First.N - 1
	switch {
	case v.First.N == 0 || before == 0 && v.prev == (Hash{}):
	case before < v.Retired.N || before == v.Retired.N && v.prev == v.Retired.Hash:
	default:
		v.problem(1, "lines 1 to %d are gone, and the log has not removed them", before)
	}
}
