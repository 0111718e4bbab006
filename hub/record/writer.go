package record

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	maxWrite       = 256 << 10      // bytes of lines that are written at once, and one line more
	maxSegment     = 16 << 20       // bytes of lines
	minSegment     = 64 << 10       // however little is kept
	maxSegmentAge  = 24 * time.Hour // so that what is kept for days is not kept for longer
	segmentsOfKept = 16             // of the size that is kept, if they are that small
)

var errSuperseded = errors.New("another hub has taken over the record")

// file is what a writer needs of an *os.File that it appends to.
type file interface {
	io.Writer
	Truncate(size int64) error
	Sync() error
	Close() error
}

func create(path string) (file, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
}

// writer appends to the files of the record, as one epoch. It takes the epoch with the first
// line, so that a log that nothing is appended to leaves no trace. What fails can be tried
// again. It is used by one goroutine.
type writer struct {
	dir    string
	o      Options
	create func(path string) (file, error)

	key     []byte    // of digests
	mac     hash.Hash // with key; nil before the first digest
	segment segment
	file    file // of the segment; nil: there is none yet
	size    int64
	since   time.Time // when the segment began
	failed  bool      // a write has failed: what stands beyond size is to be cut off
	head    Head      // of the last line written
	notes   []Note    // to be written before the next line
	doubt   *Note     // to be one of them once the disk works again; nil: it does
	synced  uint64    // the last line that is known to be on the disk
	syncAt  time.Time // when the others are to be; zero: there are none
	retired time.Time // when that was seen to last, see retire

	payloads file // of the segment; nil: there is none yet
	buf      bytes.Buffer
	json     *json.Encoder // to buf
}

func newWriter(dir string, o Options, create func(string) (file, error)) *writer {
	w := &writer{dir: dir, o: o, create: create}
	w.json = json.NewEncoder(&w.buf)
	w.json.SetEscapeHTML(false)
	return w
}

// write appends the first of lines, and returns how many.
func (w *writer) write(lines []Line) (n int, err error) {
	if err := w.prepare(); err != nil {
		return 0, err
	}
	w.buf.Reset()
	head := w.head
	for i := range w.notes {
		w.encode(&Line{Entry: Entry{Time: time.Now(), Event: Self, Outcome: "ok"}, Note: &w.notes[i]}, &head)
	}
	for n < len(lines) && w.buf.Len() < maxWrite {
		w.encode(&lines[n], &head)
		n++
	}
	if _, err := w.file.Write(w.buf.Bytes()); err != nil {
		w.failed = true
		return 0, err
	}
	w.size += int64(w.buf.Len())
	w.head, w.notes = head, nil
	if w.syncAt.IsZero() {
		w.syncAt = time.Now().Add(syncDelay)
	}
	if w.o.Payloads {
		err = w.writePayloads(lines[:n])
	}
	return n, err
}

// encode adds a line to the buffer, as the one after head, which it moves.
func (w *writer) encode(l *Line, head *Head) {
	l.N, l.Prev, l.Time = head.N+1, head.Hash, l.Time.UTC()
	if l.Args != nil && l.sum == (Hash{}) {
		l.sum = sha256.Sum256(l.Args)
	}
	if l.sum != (Hash{}) {
		l.Digest = w.digest(l.sum)
	}
	start := w.buf.Len()
	if err := w.json.Encode(l); err != nil {
		panic(err) // a Line holds nothing that has no JSON
	}
	line := w.buf.Bytes()[start:]
	*head = Head{l.N, sha256.Sum256(line[:len(line)-1])}
}

// digest identifies arguments by their hash. Who has not got the key cannot guess short ones
// from it.
func (w *writer) digest(sum Hash) string {
	if w.mac == nil {
		w.mac = hmac.New(sha256.New, w.key)
	}
	w.mac.Reset()
	w.mac.Write(sum[:])
	return hex.EncodeToString(w.mac.Sum(nil)[:16])
}

// prepare makes the segment ready for a line.
func (w *writer) prepare() error {
	if w.file == nil {
		return w.begin()
	}
	// Another log that is opened takes the next epoch, and goes on from the last line that
	// is there then.
	if _, err := os.Lstat(segment{w.segment.epoch + 1, 1}.lines(w.dir)); err == nil {
		return errSuperseded
	}
	if w.failed {
		if err := w.file.Truncate(w.size); err != nil {
			return err
		}
		w.failed = false
	}
	if w.size >= w.maxSize() || time.Since(w.since) >= maxSegmentAge {
		return w.rotate()
	}
	return nil
}

func (w *writer) maxSize() int64 {
	return max(minSegment, min(maxSegment, w.o.Max/segmentsOfKept))
}

// begin takes the next epoch, and finds where the chain goes on.
func (w *writer) begin() error {
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return err
	}
	var err error
	if w.key, err = logKey(filepath.Join(w.dir, "key")); err != nil {
		return err
	}
	before, err := segments(w.dir)
	if err != nil {
		return err
	}
	next := segment{1, 1}
	if n := len(before); n > 0 {
		next.epoch = before[n-1].epoch + 1
	}
	f, err := w.create(next.lines(w.dir)) // of two at once one fails, and tries again
	if err != nil {
		return err
	}
	note := Note{User: w.o.User}
	if err := w.resume(&note); err != nil {
		return errors.Join(err, f.Close(), os.Remove(next.lines(w.dir)))
	}
	w.segment, w.file, w.size, w.since = next, f, 0, time.Now()
	w.notes, w.synced = []Note{note}, w.head.N
	return syncDir(w.dir)
}

// resume looks for the last line of the epochs before, and notes what is wrong with it.
func (w *writer) resume(note *Note) error {
	before, err := segments(w.dir)
	if err != nil {
		return err
	}
	w.head = Head{}
	for i := len(before) - 1; i >= 0 && w.head.N == 0; i-- {
		whole, torn, err := before[i].read(w.dir)
		if err != nil {
			return err
		}
		if torn > 0 && note.Torn == 0 {
			note.Torn = torn
			if err := os.Truncate(before[i].lines(w.dir), int64(len(whole))); err != nil {
				return err
			}
		}
		for raw := range eachLine(whole) {
			w.head = w.head.next(raw)
		}
	}
	head, err := ReadHead(w.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		note.Why = err.Error()
	}
	if head.N > w.head.N {
		note.Missing = head.N - w.head.N
		w.head.N = head.N
	}
	return nil
}

// rotate begins the next segment.
func (w *writer) rotate() error {
	next := segment{w.segment.epoch, w.segment.seq + 1}
	f, err := w.create(next.lines(w.dir))
	if err != nil {
		return err
	}
	err = errors.Join(w.sync(), w.close(), syncDir(w.dir))
	w.segment, w.file, w.size, w.since, w.failed = next, f, 0, time.Now(), false
	return err
}

// sync brings all that is written to the disk, and the head after it.
func (w *writer) sync() error {
	if w.syncAt.IsZero() {
		return nil
	}
	w.syncAt = time.Time{}
	if err := w.file.Sync(); err != nil {
		if w.doubt == nil {
			w.doubt = &Note{Unsynced: w.synced + 1, Why: err.Error()}
		}
		w.syncAt = time.Now().Add(syncDelay)
		return err
	}
	if w.doubt != nil { // the system has forgotten what it could not bring there
		w.notes, w.doubt = append(w.notes, *w.doubt), nil
	}
	w.synced = w.head.N
	return writeHead(w.dir, w.head)
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

// close closes the files of the segment.
func (w *writer) close() error {
	var err error
	if w.file != nil {
		err = w.file.Close()
	}
	if w.payloads != nil {
		err = errors.Join(err, w.payloads.Close())
		w.payloads = nil
	}
	return err
}
