package record

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"sync"
	"time"

	"tabhub/hub/broadcast"
	"tabhub/spec"
	"tabhub/storage/private"
)

const (
	// maxQueued is how many bytes, about, may wait to be written.
	maxQueued = 8 << 20
	// reserved is how many of them are for what the owner decides.
	reserved = 2 << 20
	// maxReaders is how many may search the record at once.
	maxReaders = 2
	// maxSpare is how many lines the queue may have room for when it is used again.
	maxSpare = 1024
	// sizeOfEntry is what an entry takes without its texts.
	sizeOfEntry = 600

	syncDelay    = time.Second // how long a line may wait for the disk
	retryDelay   = time.Second
	writeTimeout = 5 * time.Second // of one attempt to write to a stream
	closeTimeout = 2 * time.Second // of Close, for a stream
	retireDelay  = time.Hour       // for which pieces that are too old may stay
)

var errNoAnswer = errors.New("the servers that keep the record do not answer")

// Defaults of Options.
const (
	DefaultKeep      = 90 * 24 * time.Hour
	DefaultMax       = 256 << 20
	DefaultArguments = 30 * 24 * time.Hour // of Options.Arguments: what the hub sets if its owner says nothing
)

// Options configure a Recorder. The zero value of each field is a usable default.
type Options struct {
	User     spec.UserID   // the user of the record
	Keep     time.Duration // how long entries stay; 0 means DefaultKeep
	Max      int64         // how many bytes stay; 0 means DefaultMax
	Payloads bool          // store arguments and results of all calls, too, for as long as the lines
	// Arguments is how long the arguments of calls that act stay, and small results of those that cannot be
	// undone, if Payloads are not stored anyway. 0: none are, and those that were go.
	Arguments time.Duration
	Key       []byte            // of the digests of arguments; nil: one that is stored beside the lines
	Changed   *broadcast.Signal // fires when lines were written; nil: nobody looks
	Log       *slog.Logger      // nil discards
	// Node names the writer of deferred lines in their notes. Files have none.
	Node string
	// Deferred is where a Recorder goes on that is closed before all is written. Nil: the rest is lost.
	Deferred *Deferred
}

// Recorder is a Log that can be read: in the files of a directory, or in a Stream. Entries that wait
// to be written take 10 MiB of memory at most, and an entry more.
type Recorder struct {
	// Static after construction.
	source
	o       Options
	gather  time.Duration // for which lines are gathered after a write
	wake    chan struct{} // buffered 1: the state below has changed
	readers chan struct{} // buffered maxReaders: holds an element for each reader
	ended   chan struct{}
	goesOn  chan struct{}   // closed when the Recorder goes on in Deferred
	ctx     context.Context // of all writes
	cancel  context.CancelCauseFunc
	sites   siteIndex // has a lock of its own

	mu        sync.Mutex
	queue     []Line
	spare     []Line // memory of an earlier queue
	bytes     int    // of the queue, and of lines that are being written
	lost      Lost
	why       string          // entries are lost
	flushes   []chan struct{} // closed when flush may return
	closed    bool
	urgent    bool // the queue has the line of a call that is about to be sent
	gathering bool // the queue waits for more lines
	deferred  int  // what Deferred has taken, in bytes; 0: nothing
	status    Status
	latest    latest
}

// Open returns the log in a directory, which is made with the first entry. While the files
// cannot be written, the Status says so, and the log tries again.
func Open(path string, o Options) *Recorder { return open(path, o, create) }

func open(path string, o Options, create func(string) (file, error)) *Recorder {
	o.setDefaults()
	return start(&files{dir: dir(path), key: o.Key, max: o.Max, create: create}, o, fileGather)
}

// fileGather is gather for files: a write costs system calls, and calls come by the thousand.
const fileGather = 10 * time.Millisecond

func (o *Options) setDefaults() {
	if o.Keep == 0 {
		o.Keep = DefaultKeep
	}
	if o.Max == 0 {
		o.Max = DefaultMax
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// start returns a log that writes to m.
func start(m medium, o Options, gather time.Duration) *Recorder {
	f := &Recorder{source: m, o: o, gather: gather, wake: make(chan struct{}, 1), readers: make(chan struct{}, maxReaders), ended: make(chan struct{}), goesOn: make(chan struct{})}
	f.ctx, f.cancel = context.WithCancelCause(context.Background())
	go f.run(newWriter(m, o))
	return f
}

// Append implements Log.
func (f *Recorder) Append(e Entry) {
	l := Line{Entry: e}
	most := maxPayload
	if !f.o.Payloads {
		if most = MaxAnswer; f.o.Arguments == 0 || !e.isFinal() {
			l.Result = nil
		}
	}
	if len(l.Result) > most {
		l.notKept.Result, l.Result = len(l.Result), nil
	}
	if len(l.Args) > maxPayload {
		l.sum, l.notKept.Args, l.Args = sha256.Sum256(l.Args), len(l.Args), nil
	}
	room := maxQueued
	if !lostLast(e.Event) {
		room -= reserved
	}
	f.mu.Lock()
	if f.bytes > 0 && f.bytes+l.size() > room { // rather lose the arguments than the entry
		if l.Args != nil {
			l.Digest = "lost"
		}
		l.notKept.Args += len(l.Args)
		l.notKept.Result += len(l.Result)
		l.Args, l.Result = nil, nil
	}
	if n := l.size(); f.closed || f.bytes > 0 && f.bytes+n > room {
		f.loseLocked(&l)
	} else {
		f.queue = append(f.queue, l)
		f.urgent = f.urgent || e.Event == Begun && f.gather <= fileGather // a stream is too slow for each
		f.bytes += n
	}
	wake := f.urgent || !f.gathering
	f.mu.Unlock()
	if wake {
		f.changed()
	}
}

// loseLocked counts a line that will not be written.
func (f *Recorder) loseLocked(l *Line) {
	if f.lost.Count == 0 {
		f.lost.From = l.Time
		f.why = cmp.Or(f.status.Error, "too much waited to be written")
	}
	f.lost.Count++
	f.lost.To = l.Time
	f.status.Lost++
}

// lostLast reports whether an event is a decision of the owner's.
func lostLast(e Event) bool {
	return e == Policy || e == Ask || e == Client || e == Pairing || e == Pack
}

// size returns about how much memory an entry takes.
func (e *Entry) size() int {
	n := sizeOfEntry + len(e.Call) + len(e.Client) + len(e.Name) + len(e.Said) + len(e.Session) + len(e.Via) +
		len(e.Tab) + len(e.Domain) + len(e.Origin) + len(e.URL) + len(e.Tool) + len(e.Pack) + len(e.Rule) + len(e.Outcome) + len(e.Reason) + len(e.Changed) +
		len(e.Args) + len(e.Result)
	for _, flow := range e.Flows {
		n += len(flow)
	}
	return n
}

// changed wakes the goroutine.
func (f *Recorder) changed() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Read is the function Read, for all entries that were appended before. Of many readers at once most
// wait: each may look through the whole record.
func (f *Recorder) Read(ctx context.Context, q Query) (lines []Line, err error) {
	f.flush(ctx)
	err = f.inTurn(ctx, func() error {
		lines, err = read(ctx, f.source, q)
		return err
	})
	return lines, err
}

// Each calls each with all lines that q selects and that were appended before, oldest first,
// whatever its Limit. It holds a piece of them in memory at a time. The error is each's, or ctx's
// cause if that ends first.
func (r *Recorder) Each(ctx context.Context, q Query, f func(*Line) error) error {
	r.flush(ctx)
	return each(ctx, r.source, q, f)
}

// Raw is Each with the bytes of all lines, without their line feeds: what VerifyLines checks. They
// are valid until f returns.
func (r *Recorder) Raw(ctx context.Context, f func(raw []byte) error) error {
	r.flush(ctx)
	return eachRaw(ctx, r.source, f)
}

// Payloads is ReadPayloads for lines that Read has returned. It waits as Read does.
func (f *Recorder) Payloads(ctx context.Context, lines []Line) (found []Payload, err error) {
	err = f.inTurn(ctx, func() error {
		found, err = readPayloads(ctx, f.source, lines)
		return err
	})
	return found, err
}

// inTurn calls read once there are fewer than maxReaders.
func (f *Recorder) inTurn(ctx context.Context, read func() error) error {
	select {
	case f.readers <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-f.readers }()
	return read()
}

// flush waits until the queue is written, or cannot be.
func (f *Recorder) flush(ctx context.Context) {
	done := make(chan struct{})
	f.mu.Lock()
	f.flushes = append(f.flushes, done)
	f.mu.Unlock()
	f.changed()
	select {
	case <-done:
	case <-f.ended:
	case <-ctx.Done():
	}
}

// Status says whether entries can be written.
func (f *Recorder) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

// Queued returns about how many bytes wait to be written.
func (f *Recorder) Queued() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bytes
}

// Close writes and syncs what is queued, unless servers do not answer in time: what is left then
// goes to Deferred. It is idempotent.
func (f *Recorder) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.changed()
	timeout := time.NewTimer(closeTimeout)
	defer timeout.Stop()
	select {
	case <-f.ended:
		return
	case <-f.goesOn:
		return
	case <-timeout.C:
	}
	if !f.goOn() {
		f.cancel(errNoAnswer)
		<-f.ended
	}
}

// goOn reports whether a Recorder that is closed goes on in Deferred.
func (f *Recorder) goOn() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		return false
	}
	if f.deferred > 0 {
		return true
	}
	if f.bytes == 0 || !f.o.Deferred.take(f, f.bytes) {
		return false
	}
	f.deferred = f.bytes
	close(f.goesOn)
	f.o.Log.Warn("what the record does not have yet is written when the servers take it", "bytes", f.deferred)
	return true
}

// run writes the queue until the log is closed and the rest is written or lost.
func (f *Recorder) run(w *writer) {
	defer f.cancel(nil)
	defer close(f.ended)
	var batch []Line // taken from the queue
	var retry time.Time
	first := retireDelay
	if !w.o.Payloads && w.o.Arguments == 0 {
		first = 0 // what was kept goes now
	}
	timer := time.NewTimer(first)
	defer timer.Stop()
	var gathered time.Time // when the next write is due
	for done := false; !done; {
		select {
		case <-f.wake:
		case <-timer.C:
		}
		if wait := time.Until(gathered); wait > 0 && f.gathers() {
			timer.Reset(wait)
			continue
		}
		var flushes []chan struct{}
		var closed bool
		batch, flushes, closed = f.take(batch)
		taken := batch
		if now := time.Now(); closed || !now.Before(retry) {
			var err error
			if batch, err = f.write(w, batch, closed); err != nil {
				retry = now.Add(retryDelay)
			}
			f.report(err)
		}
		if len(taken) > 0 {
			gathered = time.Now().Add(f.gather)
		}
		if len(batch) == 0 {
			f.reuse(taken)
		}
		for _, flushed := range flushes {
			close(flushed)
		}
		done = closed && (len(batch) == 0 || !f.goOn())
		next := w.next()
		if len(batch) > 0 || next.Before(retry) {
			next = retry
		}
		timer.Reset(time.Until(next))
	}
	if err := w.medium.close(); err != nil {
		f.report(err)
	}
	f.mu.Lock()
	f.status.Lost += uint64(len(batch))
	late := f.deferred
	f.mu.Unlock()
	if len(batch) > 0 {
		f.o.Log.Error("entries of the record are lost", "count", len(batch))
	}
	if late > 0 {
		f.o.Deferred.remove(f, late)
	}
}

// gathers reports whether the queue may wait for more lines, as nobody waits for a flush. Only urgent
// lines wake the goroutine then.
func (f *Recorder) gathers() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gathering = f.gather > 0 && !f.closed && !f.urgent && len(f.flushes) == 0
	return f.gathering
}

// take adds the queue to batch, the lines that could not be written the last time.
func (f *Recorder) take(batch []Line) (_ []Line, flushes []chan struct{}, closed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	flushes, f.flushes, f.urgent, f.gathering = f.flushes, nil, false, false
	failing := len(batch) > 0
	if failing {
		batch = append(batch, f.queue...)
		f.queue = nil
	} else {
		batch = f.queue
		f.queue, f.spare = f.spare, nil
	}
	if f.lost.Count > 0 && (!failing || f.closed) { // one line, however long it takes
		lost := f.lost
		l := Line{Entry: Entry{Time: time.Now(), Event: Self, Outcome: "lost"}, Note: &Note{Lost: &lost, Why: f.why}}
		batch = append(batch, l)
		f.bytes += l.size()
		f.lost = Lost{}
	}
	return batch, flushes, f.closed
}

// reuse keeps the memory of written lines for the queue, unless a burst has made it large.
func (f *Recorder) reuse(lines []Line) {
	if cap(lines) > maxSpare {
		return
	}
	clear(lines)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spare = lines[:0]
}

// write writes lines, and retires and syncs if that is due. It returns the lines that are left.
func (f *Recorder) write(w *writer, lines []Line, closing bool) ([]Line, error) {
	for len(lines) > 0 || len(w.notes) > 0 {
		ctx, cancel := context.WithTimeoutCause(f.ctx, writeTimeout, errNoAnswer)
		n, err := w.write(ctx, lines)
		cancel()
		freed := 0
		for i := range lines[:n] {
			freed += lines[i].size()
		}
		f.mu.Lock()
		f.bytes -= freed
		f.latest.add(lines[:n])
		f.mu.Unlock()
		f.o.Changed.Fire()
		lines = lines[n:]
		if err != nil {
			return lines, err
		}
	}
	ctx, cancel := context.WithTimeoutCause(f.ctx, writeTimeout, errNoAnswer)
	defer cancel()
	if err := w.retire(ctx); err != nil {
		return lines, err
	}
	if closing || !time.Now().Before(w.syncAt) {
		return lines, w.sync()
	}
	return lines, nil
}

// report sets the Status after an attempt to write, and logs when it changes.
func (f *Recorder) report(err error) {
	text := ""
	if err != nil {
		err = private.Explain(err)
		text = err.Error()
	}
	f.mu.Lock()
	old := f.status.Error
	f.status.Error = text
	f.mu.Unlock()
	switch {
	case old == text:
	case err != nil:
		f.o.Log.Error("the record cannot be written", "err", err)
	default:
		f.o.Log.Info("the record is written again")
	}
}
