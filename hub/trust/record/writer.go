package record

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"slices"
	"time"
)

// maxWrite is how many bytes of lines are written at once, and one line more.
const maxWrite = 256 << 10

// writer chains lines and appends them to a medium. It begins with the first line, so that an
// empty log leaves no trace. After an error it can try again. One goroutine uses it.
type writer struct {
	medium medium
	o      Options

	begun   bool
	mac     hash.Hash            // of digests; nil before begin
	macSum  Hash                 // of the last of them
	head    Head                 // of the last line written
	notes   []Note               // to be written before the next line
	doubt   *Note                // to be one of them once the disk works again; nil: it does
	late    string               // of the lines, see Line.Late
	synced  uint64               // the last line that is known to be on the disk
	syncAt  time.Time            // when the others are to be; zero: there are none
	retired time.Time            // when that was seen to last, see retire; zero: it is due
	cleared uint64               // the first line of the last piece of which the payloads were removed, see clear
	room    map[party]*allowance // for arguments

	batch batch // is being written
	buf   bytes.Buffer
	json  *json.Encoder // to buf
}

// batch is what is in the buffer of a writer.
type batch struct {
	first uint64 // the number of its first line; 0: there is no batch
	notes int    // how many of its lines are notes
	lines int    // how many are others
	head  Head   // of the last one
}

func newWriter(m medium, o Options) *writer {
	w := &writer{medium: m, o: o}
	w.json = json.NewEncoder(&w.buf)
	w.json.SetEscapeHTML(false)
	return w
}

// write appends the first of lines, and returns how many. What it does not return is to be given
// to it again, first.
func (w *writer) write(ctx context.Context, lines []Line) (n int, err error) {
	began, err := w.append(ctx, lines)
	for errors.Is(err, errMoved) { // which ends, as the other writer's lines do
		w.begun, w.batch = false, batch{}
		began, err = w.append(ctx, lines)
	}
	if err != nil {
		return 0, err
	}
	n = w.batch.lines
	w.head, w.notes = w.batch.head, w.notes[w.batch.notes:]
	w.batch = batch{}
	if began {
		w.retired = time.Time{}
	}
	if w.syncAt.IsZero() {
		w.syncAt = time.Now().Add(syncDelay)
	}
	if w.o.Payloads || w.o.Arguments > 0 {
		err = w.writePayloads(ctx, lines[:n])
	}
	return n, err
}

// append gives the medium the batch that it has not confirmed, or else the next one.
func (w *writer) append(ctx context.Context, lines []Line) (began bool, err error) {
	if !w.begun {
		if err := w.begin(ctx); err != nil {
			return false, err
		}
	}
	if w.batch.first == 0 {
		w.encodeBatch(lines)
	}
	return w.medium.append(ctx, w.batch.first, w.buf.Bytes())
}

// begin finds where the chain goes on.
func (w *writer) begin(ctx context.Context) error {
	note := Note{User: w.o.User}
	head, key, err := w.medium.begin(ctx, &note)
	if err != nil {
		return err
	}
	if w.head.N > head.N { // lines that this writer has written
		note.Missing = w.head.N - head.N
		head.N = w.head.N
	}
	w.begun, w.head, w.late, w.synced, w.mac = true, head, note.Late, head.N, hmac.New(sha256.New, key)
	w.notes = slices.DeleteFunc(w.notes, func(n Note) bool { return n.User != "" }) // of a begin that came to nothing
	w.notes = append(w.notes, note)
	return nil
}

// encodeBatch fills the buffer with the notes, and the first of lines.
func (w *writer) encodeBatch(lines []Line) {
	w.buf.Reset()
	b := batch{first: w.head.N + 1, notes: len(w.notes), head: w.head}
	for i := range w.notes {
		w.encode(&Line{Entry: Entry{Time: time.Now(), Event: Self, Outcome: "ok"}, Note: &w.notes[i]}, &b.head)
	}
	for b.lines < len(lines) && w.buf.Len() < maxWrite {
		w.encode(&lines[b.lines], &b.head)
		b.lines++
	}
	w.batch = b
}

// encode adds a line to the buffer, as the one after head, which it moves.
func (w *writer) encode(l *Line, head *Head) {
	l.N, l.Prev, l.Time, l.Late, l.URL = head.N+1, head.Hash, l.Time.UTC(), w.late, redactAddress(l.URL)
	if l.Args != nil && l.sum == (Hash{}) {
		l.sum = sha256.Sum256(l.Args)
	}
	if l.sum != (Hash{}) {
		l.Digest = w.digest(&l.sum)
	}
	line := l.appendJSON(w.buf.AvailableBuffer())
	*head = Head{l.N, sha256.Sum256(line)}
	w.buf.Write(append(line, '\n'))
}

// digest identifies arguments by their hash. Without the key, nobody can find short arguments
// by trying.
func (w *writer) digest(sum *Hash) string {
	w.mac.Reset()
	w.mac.Write(sum[:])
	w.mac.Sum(w.macSum[:0])
	return hex.EncodeToString(w.macSum[:16])
}

// sync brings all that is written to the disk.
func (w *writer) sync() error {
	if w.syncAt.IsZero() {
		return nil
	}
	w.syncAt = time.Time{}
	if err := w.medium.sync(w.head); err != nil {
		if w.doubt == nil {
			w.doubt = &Note{Unsynced: w.synced + 1, Why: err.Error()}
		}
		w.syncAt = time.Now().Add(syncDelay)
		return err
	}
	if w.doubt != nil { // the system may have dropped what it could not write
		w.notes, w.doubt = append(w.notes, *w.doubt), nil
	}
	w.synced = w.head.N
	return nil
}

// next is when there is something to do without a line to write.
func (w *writer) next() time.Time {
	if len(w.notes) > 0 {
		return time.Time{}
	}
	if !w.syncAt.IsZero() {
		return w.syncAt
	}
	return w.retired.Add(retireDelay)
}
