package tasks

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"tabhub/spec/rawjson"
	"tabhub/storage"
)

// Bounds of what is kept.
const (
	MaxTasks   = 1000           // of a user; beyond it one that has ended makes room
	MaxUnended = MaxTasks / 2   // of a client
	MaxResult  = 1 << 20        // bytes of an answer
	maxResults = 64 << 20       // bytes of all answers; beyond it some are forgotten
	keepEnded  = time.Hour      // how long an answer waits for its client
	maxAge     = 24 * time.Hour // of one that does not end
)

// Kind is the kind of a task's storage.Document.
const Kind = "task"

// Status is how far a task has come, as the extension has it.
type Status string

// The statuses.
const (
	Working       Status = "working"
	InputRequired Status = "input_required"
	Completed     Status = "completed"
	Failed        Status = "failed"
	Cancelled     Status = "cancelled"
)

func (s Status) ended() bool { return s != Working && s != InputRequired }

// ErrCancelled is the cause of the end of a call whose client has cancelled its task, or whose
// time is over.
var ErrCancelled = errors.New("cancelled by the client")

// ErrFull: as many tasks as there may be are under way.
var ErrFull = errors.New("as many tasks as there may be are under way")

// Task is a task as its client is told of it. Its JSON is the extension's.
type Task struct {
	ID      string          `json:"taskId"`
	Status  Status          `json:"status"`
	Message string          `json:"statusMessage,omitempty"`
	Created time.Time       `json:"createdAt"`
	Updated time.Time       `json:"lastUpdatedAt"`
	TTL     int64           `json:"ttlMs"`
	Poll    int64           `json:"pollIntervalMs"`
	Inputs  json.RawMessage `json:"inputRequests,omitempty"` // while InputRequired
	Result  json.RawMessage `json:"result,omitempty"`        // once Completed
	Error   json.RawMessage `json:"error,omitempty"`         // once Failed
}

// poll is how often clients are to ask.
const poll = time.Second

// entry is a task with what its client is not told. Its JSON is the document.
type entry struct {
	Task
	Call

	stop   context.CancelCauseFunc // ends the call; nil once the task has ended
	round  int                     // how often it has asked
	asked  map[string]question     // what has no answer yet, by the key that the client knows
	got    map[string]json.RawMessage
	answer chan json.RawMessage // gets the answers of a round
}

// Call is what a task is of. Its JSON is in the document.
type Call struct {
	Client string          `json:"client"`         // the ID of its credential
	Tool   string          `json:"tool"`           // as the client has called it
	CallID string          `json:"call,omitempty"` // its id, which its result says; "": it has none
	Own    bool            `json:"own,omitempty"`  // a tool of the hub itself
	Sent   json.RawMessage `json:"sent,omitempty"` // as Run.Sending was given it; nil: it was sent to no page
}

// question is one of an input_required result.
type question struct {
	key     string // its key there
	request json.RawMessage
}

// Options say where a Book keeps its tasks. None of the functions may be nil.
type Options struct {
	// Keep stores a document, and calls synced when that is on disk, or with an error;
	// Forget deletes one. They do not block.
	Keep   func(doc storage.Document, synced func(error))
	Forget func(id string)
}

// Book has the tasks of one user. It is safe for concurrent use.
type Book struct {
	opts Options

	mu       sync.Mutex
	byID     map[string]*entry
	results  int // bytes
	timer    *time.Timer
	due      time.Time // when timer fires; zero: it does not
	closed   bool
	watchers map[int]func(id string)
	last     int // of watchers
}

// Open returns a Book with the tasks of the documents; those that are no tasks are left out. Its
// caller closes it. What earlier processes have begun is in Unended.
func Open(docs []storage.Document, o Options) *Book {
	b := &Book{opts: o, byID: map[string]*entry{}, watchers: map[int]func(string){}}
	for _, doc := range docs {
		e := &entry{}
		if doc.Kind != Kind || json.Unmarshal(doc.Body, e) != nil || e.ID != doc.ID {
			continue
		}
		if !e.Status.ended() {
			e.Status, e.Inputs = Working, nil
		}
		b.byID[e.ID] = e
		b.results += len(e.Result)
	}
	b.sweep()
	return b
}

// Close ends what the Book does by itself. Runs may go on; what they say is not kept.
func (b *Book) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.timer != nil {
		b.timer.Stop()
	}
}

// Begin makes the task of a call that stop ends, and blocks until it is stored. The error is
// ErrFull, ctx's cause or the store's: then there is no task.
func (b *Book) Begin(ctx context.Context, of Call, stop context.CancelCauseFunc) (*Run, Task, error) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	e := &entry{Call: of, stop: stop, Task: Task{
		ID: rand.Text(), Status: Working, Created: now, Updated: now, TTL: maxAge.Milliseconds(), Poll: poll.Milliseconds(),
	}}
	b.mu.Lock()
	if !b.roomLocked(of.Client) {
		b.mu.Unlock()
		return nil, Task{}, ErrFull
	}
	b.byID[e.ID] = e
	b.sweepAtLocked(e.expires())
	task := e.Task
	synced := b.keepLocked(e)
	b.mu.Unlock()
	select {
	case err := <-synced:
		if err == nil {
			return &Run{b, e}, task, nil
		}
		b.drop(e)
		return nil, Task{}, fmt.Errorf("the task could not be stored: %w", err)
	case <-ctx.Done():
		b.drop(e)
		return nil, Task{}, context.Cause(ctx)
	}
}

// roomLocked makes room for one more task of a client, and reports whether there is.
func (b *Book) roomLocked(client string) bool {
	unended := 0
	for _, e := range b.byID {
		if e.Client == client && !e.Status.ended() {
			unended++
		}
	}
	if b.closed || unended >= MaxUnended {
		return false
	}
	if len(b.byID) < MaxTasks {
		return true
	}
	first := b.firstEndedLocked(func(*entry) int { return 1 })
	if first != nil {
		b.dropLocked(first)
	}
	return first != nil
}

// firstEndedLocked returns the task that ended first of the client of which those that have ended
// weigh the most: who has many pushes out their own. It is nil if none has ended that weighs
// anything.
func (b *Book) firstEndedLocked(weight func(*entry) int) (first *entry) {
	weights := map[string]int{}
	for _, e := range b.byID {
		if e.Status.ended() {
			weights[e.Client] += weight(e)
		}
	}
	heaviest := ""
	for client, w := range weights {
		if w > weights[heaviest] {
			heaviest = client
		}
	}
	for _, e := range b.byID {
		if e.Client == heaviest && e.Status.ended() && weight(e) > 0 && (first == nil || e.Updated.Before(first.Updated)) {
			first = e
		}
	}
	return first
}

// Unended is a task that an earlier process has begun, and whose call it has not seen the end of.
type Unended struct {
	*Run
	Call
}

// Unended returns those tasks, as long as Run.Go was not called for them.
func (b *Book) Unended() (all []Unended) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.byID {
		if !e.Status.ended() && e.stop == nil {
			all = append(all, Unended{&Run{b, e}, e.Call})
		}
	}
	return all
}

// AppendMembers appends the members of the task as the extension has it, with the bytes of its
// result as they are.
func (t *Task) AppendMembers(out []byte) []byte {
	brief := *t
	brief.Inputs, brief.Result, brief.Error = nil, nil, nil
	head, _ := json.Marshal(brief) // strings, times and numbers
	out = append(out, head[1:len(head)-1]...)
	for _, m := range []struct {
		key   string
		value json.RawMessage
	}{{"inputRequests", t.Inputs}, {"result", t.Result}, {"error", t.Error}} {
		if m.value != nil {
			out = append(rawjson.AppendString(append(out, ','), m.key), ':')
			out = append(out, m.value...)
		}
	}
	return out
}

// Get returns a client's task.
func (b *Book) Get(client, id string) (Task, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.ofLocked(client, id)
	if e == nil {
		return Task{}, false
	}
	return e.Task, true
}

// ofLocked returns a task, nil if it is not the client's: nobody learns of another's.
func (b *Book) ofLocked(client, id string) *entry {
	if e := b.byID[id]; e != nil && e.Client == client {
		return e
	}
	return nil
}

// Answer takes in what a client answers to what its task asks, an object by the keys of
// Task.Inputs. Other keys are ignored. It reports whether there is the task.
func (b *Book) Answer(client, id string, responses map[string]json.RawMessage) bool {
	b.mu.Lock()
	e := b.ofLocked(client, id)
	changed := e != nil && e.answeredLocked(responses)
	b.mu.Unlock()
	if changed {
		b.tell(id)
	}
	return e != nil
}

// Cancel ends a client's task and the call of it, if that goes on. It reports whether there is
// the task.
func (b *Book) Cancel(client, id string) bool {
	b.mu.Lock()
	e := b.ofLocked(client, id)
	b.mu.Unlock()
	if e != nil {
		b.end(e, Cancelled, nil, nil)
	}
	return e != nil
}

// Forget cancels and forgets the tasks of a client.
func (b *Book) Forget(client string) {
	b.mu.Lock()
	stop := b.dropAllLocked(func(e *entry) bool { return e.Client == client })
	b.mu.Unlock()
	stop()
}

// dropAllLocked forgets the tasks that match. stop, which is to be called without the lock,
// cancels those that go on.
func (b *Book) dropAllLocked(match func(*entry) bool) (stop func()) {
	var stops []context.CancelCauseFunc
	for _, e := range b.byID {
		if !match(e) {
			continue
		}
		if e.stop != nil {
			stops = append(stops, e.stop)
		}
		b.dropLocked(e)
	}
	return func() {
		for _, stop := range stops {
			stop(ErrCancelled)
		}
	}
}

// end ends a task, unless it has ended.
func (b *Book) end(e *entry, as Status, result, fault json.RawMessage) {
	b.mu.Lock()
	if e.Status.ended() || b.closed || b.byID[e.ID] != e {
		b.mu.Unlock()
		return
	}
	stop := e.stop
	e.stop, e.asked, e.Sent = nil, nil, nil
	e.Inputs, e.Result, e.Error = nil, result, fault
	e.setLocked(as)
	if as != Failed {
		e.Message = ""
	}
	e.TTL = (e.Updated.Sub(e.Created) + keepEnded).Milliseconds()
	b.results += len(result)
	b.keepLocked(e)
	b.sweepAtLocked(e.expires())
	for b.results > maxResults {
		b.dropLocked(b.firstEndedLocked(func(e *entry) int { return len(e.Result) }))
	}
	b.mu.Unlock()
	if stop != nil {
		stop(ErrCancelled) // to no effect if the call has ended by itself
	}
	b.tell(e.ID)
}

func (e *entry) setLocked(s Status) {
	e.Status, e.Updated = s, time.Now().UTC().Truncate(time.Millisecond)
}

func (e *entry) expires() time.Time {
	return e.Created.Add(time.Duration(e.TTL) * time.Millisecond)
}

// Watch calls f with the id of each task that has changed, until stop is called. f must not
// block, and may call the Book.
func (b *Book) Watch(f func(id string)) (stop func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	n := b.last
	b.watchers[n] = f
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.watchers, n)
	}
}

func (b *Book) tell(id string) {
	b.mu.Lock()
	all := make([]func(string), 0, len(b.watchers))
	for _, f := range b.watchers {
		all = append(all, f)
	}
	b.mu.Unlock()
	for _, f := range all {
		f(id)
	}
}

// keepLocked stores a task; the channel gets how that has ended.
func (b *Book) keepLocked(e *entry) <-chan error {
	done := make(chan error, 1)
	if b.closed {
		done <- errClosed
		return done
	}
	body, err := json.Marshal(e)
	if err != nil {
		done <- err
		return done
	}
	b.opts.Keep(storage.Document{Kind: Kind, ID: e.ID, Body: body}, func(err error) { done <- err })
	return done
}

var errClosed = errors.New("the hub is shutting down")

func (b *Book) drop(e *entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dropLocked(e)
}

func (b *Book) dropLocked(e *entry) {
	if b.byID[e.ID] != e {
		return
	}
	delete(b.byID, e.ID)
	b.results -= len(e.Result)
	if !b.closed {
		b.opts.Forget(e.ID)
	}
}

// sweep forgets the tasks whose time is over, and comes back for the next.
func (b *Book) sweep() {
	now := time.Now()
	b.mu.Lock()
	b.due = time.Time{}
	stop := b.dropAllLocked(func(e *entry) bool {
		at := e.expires()
		if at.After(now) {
			b.sweepAtLocked(at)
		}
		return !at.After(now)
	})
	b.mu.Unlock()
	stop()
}

func (b *Book) sweepAtLocked(at time.Time) {
	if b.closed || !b.due.IsZero() && !at.Before(b.due) {
		return
	}
	b.due = at
	if b.timer == nil {
		b.timer = time.AfterFunc(time.Until(at), b.sweep)
	} else {
		b.timer.Reset(time.Until(at))
	}
}
