package record

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tabhub/storage"
)

// aged is a Stream with a piece of each time, the newest first.
type aged struct {
	Stream
	changed []time.Time
}

func (a aged) Pieces(context.Context) iter.Seq2[storage.Piece, error] {
	return func(yield func(storage.Piece, error) bool) {
		for i, at := range a.changed {
			if !yield(storage.Piece{Start: uint64(len(a.changed) - i), Changed: at}, nil) {
				return
			}
		}
	}
}

// The clock of a node may be set to a wrong day. It must not remove records for good, whose times are
// the servers'.
func TestRetireByTheClockOfTheServers(t *testing.T) {
	const day = 24 * time.Hour
	o := Options{Keep: 90 * day}
	o.setDefaults()
	for _, ahead := range []time.Duration{0, 365 * day, -365 * day} {
		servers := time.Now().Add(-ahead)
		w := newWriter(&stream{Stream: aged{changed: []time.Time{servers, servers.Add(-80 * day), servers.Add(-100 * day)}}}, o)
		old, err := w.surplus(t.Context())
		if err != nil || len(old) != 1 || old[0].(streamPiece).Start != 1 {
			t.Errorf("with a clock that is %v ahead it removes %v, %v", ahead, old, err)
		}
	}
}

// A hub that nobody uses any more must not keep for years what it was to keep for 30 days.
func TestArgumentsOfAnIdleHub(t *testing.T) {
	dir := t.TempDir() + "/record"
	o := Options{User: "ann", Arguments: DefaultArguments}
	f := Open(dir, o)
	e := entry("order")
	e.Class, e.Args = "write", json.RawMessage(`{"eur":5}`)
	f.Append(e)
	f.Close()
	kept := func() int {
		found, err := filepath.Glob(dir + "/*.payloads.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	Open(dir, o).Close()
	if kept() != 1 {
		t.Fatalf("%d files of arguments", kept())
	}
	all, err := segments(dir)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	old := time.Now().Add(-DefaultArguments - time.Hour)
	if err := errors.Join(os.Chtimes(all[0].linesFile(), old, old), os.Chtimes(all[0].payloadsFile(), old, old)); err != nil {
		t.Fatal(err)
	}
	Open(dir, o).Close()
	if kept() != 0 {
		t.Error("the arguments are still there")
	}
	intact(t, dir)
}
