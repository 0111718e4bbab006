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

// redactTime is how long one write may search for secrets. Payloads that are left then are not
// stored: lines do not wait for them.
const redactTime = 100 * time.Millisecond

// Payload holds the arguments and the result of a call: a line of the file beside a segment. The
// hub has cut secrets out of it, see redact.
type Payload struct {
	N      uint64          `json:"n"` // of the line that it belongs to
	Args   json.RawMessage `json:"args,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
}

// tooLarge returns what stands for a payload that is not stored; nil for none.
func tooLarge(v json.RawMessage) json.RawMessage {
	if v == nil {
		return nil
	}
	return fmt.Appendf(nil, `{"notKept":%d}`, len(v))
}

// writePayloads writes the payloads of lines that are written.
func (w *writer) writePayloads(ctx context.Context, lines []Line) error {
	w.buf.Reset()
	until := time.Now().Add(redactTime)
	for i := range lines {
		l := &lines[i]
		if l.Args == nil && l.Result == nil {
			continue
		}
		keep := redact
		if time.Now().After(until) {
			keep = tooLarge
		}
		if err := w.json.Encode(Payload{l.N, keep(l.Args), keep(l.Result)}); err != nil {
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
