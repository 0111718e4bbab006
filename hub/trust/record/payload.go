package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// maxPayload is the size of the largest arguments and results that are stored.
const maxPayload = 64 << 10

// MaxAnswer is the size of the largest result that is stored with the arguments of a call that may not be
// undone: what an order came to is often in its result alone, and what an act has done is.
const MaxAnswer = 4 << 10

// redactTime is how long one write may search for secrets. Payloads that are left then are not
// stored: lines do not wait for them.
const redactTime = 100 * time.Millisecond

// Payload holds the arguments of a call, and perhaps the result: a line of the file beside a segment.
// The hub has cut secrets out of it, see redact.
type Payload struct {
	N      uint64          `json:"n"` // of the line that it belongs to
	Args   json.RawMessage `json:"args,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	NotKept
}

// NotKept says how many bytes of arguments and results are not stored: those that are too large, and
// those of a flood. It is no part of them, so no client can say it.
type NotKept struct {
	Args   int `json:"argsNotKept,omitempty"`
	Result int `json:"resultNotKept,omitempty"`
}

// An allowance is how many arguments of one party are kept in a flood: what a person lets an agent do
// stays far below, and what thousands of calls a second were given nobody reads. It fills up again with time.
type allowance struct {
	calls, bytes float64
	at           time.Time
}

// party is what an allowance belongs to: a client, and apart from that its calls that may not be undone, so that none can
// use up what is kept of another, nor hide an order behind a thousand lesser calls.
type party struct {
	client string
	final  bool
}

// maxParties bounds the allowances. Beyond it all begin anew.
const maxParties = 256

// roomFor reports whether the arguments of a line may be kept, and counts them.
func (w *writer) roomFor(l *Line, now time.Time) bool {
	of := party{l.Client, l.isFinal()}
	a := w.room[of]
	if a == nil {
		if w.room == nil || len(w.room) == maxParties {
			w.room = map[party]*allowance{}
		}
		a = new(allowance)
		w.room[of] = a
	}
	return a.take(len(l.Args)+len(l.Result), now)
}

const (
	maxKept, keptPerSecond           = 2000, 100
	maxKeptBytes, keptBytesPerSecond = 16 << 20, 256 << 10
)

// take reports whether arguments of n bytes may be kept, and counts them.
func (a *allowance) take(n int, now time.Time) bool {
	passed := now.Sub(a.at).Seconds() // many, the first time
	a.at = now
	a.calls = min(maxKept, a.calls+passed*keptPerSecond)
	a.bytes = min(maxKeptBytes, a.bytes+passed*keptBytesPerSecond)
	if a.calls < 1 || a.bytes < float64(n) {
		return false
	}
	a.calls--
	a.bytes -= float64(n)
	return true
}

// acts reports whether an entry is of a call that may change something.
func (e *Entry) acts() bool { return e.Class != "" && e.Class != "read" }

// isFinal reports whether an entry is of a call that cannot be undone, or of which nobody knows that it can.
func (e *Entry) isFinal() bool { return KeepsAnswer(e.Class) }

// KeepsAnswer reports whether the results of calls of a class are stored as their arguments are, up to MaxAnswer.
func KeepsAnswer(class string) bool { return class == "destructive" || class == "act" }

// writePayloads writes the payloads of lines that are written: all, or the arguments of those that act.
func (w *writer) writePayloads(ctx context.Context, lines []Line) error {
	w.buf.Reset()
	now := time.Now()
	until := now.Add(redactTime)
	for i := range lines {
		l := &lines[i]
		if !w.o.Payloads && (l.Event == Begun || !l.acts()) || l.Args == nil && l.Result == nil && l.notKept == (NotKept{}) {
			continue
		}
		p := Payload{N: l.N, NotKept: l.notKept}
		if (w.o.Payloads || w.roomFor(l, now)) && time.Now().Before(until) {
			p.Args, p.Result = redact(l.Tool, l.Args), redact(l.Tool, l.Result)
		}
		if p.Args == nil {
			p.NotKept.Args += len(l.Args)
		}
		if p.Result == nil {
			p.NotKept.Result += len(l.Result)
		}
		if err := w.json.Encode(p); err != nil {
			return fmt.Errorf("payload of line %d: %w", l.N, err)
		}
	}
	if w.buf.Len() == 0 {
		return nil
	}
	return w.medium.appendPayloads(ctx, w.buf.Bytes())
}

// ReadPayloads returns the payloads, as far as there are any, of lines that Read has returned of the
// record in a directory. It reads only the files that belong to the lines. The error is ctx's
// cause if that ends first.
func ReadPayloads(ctx context.Context, path string, lines []Line) ([]Payload, error) {
	return readPayloads(ctx, dir(path), lines)
}

func readPayloads(ctx context.Context, from source, lines []Line) ([]Payload, error) {
	var found []Payload
	for p, err := range from.pieces(ctx) {
		if err != nil {
			return nil, err
		}
		if len(lines) == 0 {
			break
		}
		first := p.first()
		i, _ := slices.BinarySearchFunc(lines, first, func(l Line, n uint64) int { return cmp.Compare(l.N, n) })
		wanted := make(map[uint64]bool)
		for _, l := range lines[i:] {
			wanted[l.N] = true
		}
		if len(wanted) == 0 {
			continue
		}
		if first > 0 { // else its first line is damaged, and it may have any of the lines
			lines = lines[:i]
		}
		err := p.payloads(ctx, func(raw []byte) error {
			var p Payload
			if json.Unmarshal(raw, &p) == nil && wanted[p.N] {
				found = append(found, p)
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	slices.SortFunc(found, func(a, b Payload) int { return cmp.Compare(a.N, b.N) })
	return found, nil
}
