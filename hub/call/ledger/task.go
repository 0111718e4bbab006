package ledger

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"tabhub/hub/offer/item"
	"tabhub/hub/quota"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/storage"
)

// A call becomes a task when its client takes one in place of the answer (the extension
// io.modelcontextprotocol/tasks of MCP, revision 2026-07-28): it goes on without its request, and its client
// asks by the task's id what became of it. A task is a document of the store from before its client
// learns of its id, so that it outlives the process; what it waits for may, too, if its page has kept
// it (WillSend). All that changes its status, each one step under the Ledger's mutex:
//
//	by            from                      to              when
//	BecomeTask    -                         working         it is stored
//	Open          -                         working         an earlier process has begun it
//	AskClient     working                   input_required  the client's user or model is asked
//	AnswerTask    input_required            working         the last question has its answer
//	End           working, input_required   completed       there is a result, be it of a failure
//	End           working, input_required   failed          there is an error of the protocol
//	CancelTask    working, input_required   cancelled       the client does not want it any more
//	(time)        any                       gone            its time to live is over
//
// A call whose task has ended is not ended by that: its context is, and what it ends with then changes
// nothing of the task.

// Bounds of what is kept of tasks.
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

// ErrFull: as many tasks as there may be are in flight.
var ErrFull = errors.New("as many tasks as there may be are under way")

var errClosed = errors.New("the hub is shutting down")

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

// TaskOf is what a task is of. Its JSON is in the document.
type TaskOf struct {
	Client string          `json:"client"`         // the ID of its credential
	Tool   string          `json:"tool"`           // as the client has called it
	CallID string          `json:"call,omitempty"` // its id, which its result says; "": it has none
	Own    bool            `json:"own,omitempty"`  // a tool of the hub itself
	Sent   json.RawMessage `json:"sent,omitempty"` // how to ask the page for its answer; nil: it was sent to no page
}

// task is that of a Call. Its JSON is the document. The Ledger's mutex guards it.
type task struct {
	Task
	TaskOf

	round  int                 // how often it has asked
	asked  map[string]question // what has no answer yet, by the key that the client knows
	got    map[string]json.RawMessage
	answer chan json.RawMessage // gets the answers of a round
}

// question is one of an input_required result.
type question struct {
	key     string // its key there
	request json.RawMessage
}

// Open returns a Ledger without tasks. Its caller closes it.
func Open(o Options) *Ledger {
	l := New()
	l.opts = o
	return l
}

// Restore adds the tasks of the documents, and forgets those whose time is over; documents that are no
// tasks are left out. What earlier processes have begun is in Unended then.
func (l *Ledger) Restore(docs []storage.Document) {
	l.mu.Lock()
	for _, doc := range docs {
		t := &task{}
		if doc.Kind != Kind || json.Unmarshal(doc.Body, t) != nil || t.ID != doc.ID {
			continue
		}
		c := &Call{id: t.CallID, ledger: l, tool: t.Tool, began: t.Created, task: t}
		if t.Status.ended() {
			c.state = taken
		} else {
			t.Status, t.Inputs = Working, nil
		}
		l.tasks[t.ID] = c
		l.results += len(t.Result)
	}
	l.mu.Unlock()
	l.sweepTasks()
}

// BecomeTask makes the call a task, and blocks until that is stored: then it is no request's of its
// session any more. The error is ErrFull, ctx's cause or the store's: then there is no task.
func (c *Call) BecomeTask(ctx context.Context, of TaskOf) (Task, error) {
	l := c.ledger
	now := time.Now().UTC().Truncate(time.Millisecond)
	of.CallID = c.id
	t := &task{TaskOf: of, Task: Task{
		ID: rand.Text(), Status: Working, Created: now, Updated: now, TTL: maxAge.Milliseconds(), Poll: poll.Milliseconds(),
	}}
	l.mu.Lock()
	if c.plain || c.state >= answered || !l.roomForTaskLocked(of.Client) {
		l.mu.Unlock()
		return Task{}, ErrFull
	}
	becoming := make(chan struct{})
	defer close(becoming)
	c.becoming = becoming
	if c.how != nil {
		t.Sent = c.how()
	}
	synced := l.storeLocked(t)
	l.mu.Unlock()
	var err error
	select {
	case err = <-synced:
		if err != nil {
			err = fmt.Errorf("the task could not be stored: %w", err)
		}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c.becoming = nil
	if err == nil {
		err = context.Cause(ctx) // which may have ended meanwhile, too
	}
	if err != nil {
		l.opts.Forget(t.ID)
		return Task{}, err
	}
	c.task, l.tasks[t.ID] = t, c
	if c.done != nil {
		close(c.done)
	}
	l.sweepTasksAtLocked(t.expires())
	c.session.open--
	c.session.tasks++
	c.conn = nil
	return t.Task, nil
}

// StaysPlain has the call become no task any more, and reports false if it is one. It blocks while the call
// is becoming one.
func (c *Call) StaysPlain() bool {
	l := c.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.awaitLocked(c)
	c.plain = c.task == nil
	return c.plain
}

// awaitLocked waits while a call is becoming a task. It lets go of the lock meanwhile.
func (l *Ledger) awaitLocked(c *Call) {
	for c.becoming != nil {
		becoming := c.becoming
		l.mu.Unlock()
		<-becoming
		l.mu.Lock()
	}
}

// roomForTaskLocked makes room for one more task of a client, and reports whether there is.
func (l *Ledger) roomForTaskLocked(client string) bool {
	unended := 0
	for _, c := range l.tasks {
		if c.task.Client == client && !c.task.Status.ended() {
			unended++
		}
	}
	if l.closed || unended >= MaxUnended {
		return false
	}
	return len(l.tasks) < MaxTasks || l.taskGivesWayLocked(func(*task) int { return 1 })
}

// taskGivesWayLocked forgets the task that ended first of the client whose ended tasks weigh most.
func (l *Ledger) taskGivesWayLocked(weight func(*task) int) bool {
	c, ok := quota.GivesWay(maps.Values(l.tasks), func(c *Call) quota.Usage {
		if !c.task.Status.ended() {
			return quota.Usage{Owner: c.task.Client}
		}
		n := weight(c.task)
		return quota.Usage{Owner: c.task.Client, Weight: n, Goes: n > 0}
	}, func(a, b *Call) bool { return a.task.Updated.Before(b.task.Updated) })
	if ok {
		l.dropTaskLocked(c)
	}
	return ok
}

// Unended returns the calls of tasks that an earlier process has begun, and whose end it has not seen.
func (l *Ledger) Unended() (all []*Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.tasks {
		if !c.task.Status.ended() && c.stop == nil {
			all = append(all, c)
		}
	}
	return all
}

// TaskOf returns what the call's task is of, and the zero value if it is none.
func (c *Call) TaskOf() TaskOf {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	if c.task == nil {
		return TaskOf{}
	}
	return c.task.TaskOf
}

// Task returns the task that a call is, as its client is told of it.
func (c *Call) Task() (Task, bool) {
	if c == nil {
		return Task{}, false
	}
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	if c.task == nil {
		return Task{}, false
	}
	return c.task.Task, true
}

// AppendMembers appends the members of the task as the extension has it, with the bytes of its
// result as they are.
func (t *Task) AppendMembers(out []byte) []byte {
	brief := *t
	brief.Inputs, brief.Result, brief.Error = nil, nil, nil
	head, _ := json.Marshal(brief) // strings, times and numbers
	return t.appendRaw(append(out, head[1:len(head)-1]...))
}

// appendRaw appends the members of a task that are JSON already.
func (t *Task) appendRaw(out []byte) []byte {
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

// Task returns a client's task.
func (l *Ledger) Task(client, id string) (Task, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.taskLocked(client, id); c != nil {
		return c.task.Task, true
	}
	return Task{}, false
}

// taskLocked returns a task, nil if it is not the client's: no client learns of another's.
func (l *Ledger) taskLocked(client, id string) *Call {
	if c := l.tasks[id]; c != nil && c.task.Client == client {
		return c
	}
	return nil
}

// AnswerTask takes in what a client answers to what its task asks, an object by the keys of
// Task.Inputs. Other keys are ignored. It reports whether there is the task.
func (l *Ledger) AnswerTask(client, id string, responses map[string]json.RawMessage) bool {
	l.mu.Lock()
	c := l.taskLocked(client, id)
	changed := c != nil && c.task.takeAnswers(responses)
	l.mu.Unlock()
	if changed {
		l.tell(id)
	}
	return c != nil
}

// CancelTask ends a client's task and the call of it, if that goes on. It reports whether there is
// the task.
func (l *Ledger) CancelTask(client, id string) bool {
	l.mu.Lock()
	c := l.taskLocked(client, id)
	l.mu.Unlock()
	if c != nil {
		c.endTask(Cancelled, nil, nil)
	}
	return c != nil
}

// Says notes what the call of a task does, for people. It is not stored. It reports whether the call is a task.
func (c *Call) Says(message string) bool {
	if c == nil {
		return false
	}
	l := c.ledger
	l.mu.Lock()
	t := c.task
	changed := t != nil && !t.Status.ended() && t.Message != message
	if changed {
		t.Message = message
		t.set(t.Status)
	}
	l.mu.Unlock()
	if changed {
		l.tell(t.ID)
	}
	return t != nil
}

// WillSend notes how the page, which is about to be sent the call, can be asked for its answer by another
// process: of a task, be it one later. It blocks until that is stored if the call is one. With an error it
// must not be sent: the task has ended, or another process would take the call for one that was not sent.
func (c *Call) WillSend(how func() json.RawMessage) error {
	l := c.ledger
	l.mu.Lock()
	l.awaitLocked(c)
	c.how = how
	if c.task == nil {
		l.mu.Unlock()
		return nil
	}
	if c.task.Status.ended() {
		l.mu.Unlock()
		return ErrCancelled
	}
	c.task.Sent = how()
	synced := l.storeLocked(c.task)
	l.mu.Unlock()
	return <-synced
}

// AskClient has the client of a task asked what requests holds, an object of questions by key, and blocks
// until it has answered all of them: an object by the same keys. The error is ctx's cause.
func (c *Call) AskClient(ctx context.Context, requests json.RawMessage) (json.RawMessage, error) {
	l, t := c.ledger, c.task
	answer := make(chan json.RawMessage, 1)
	l.mu.Lock()
	asks := !t.Status.ended()
	if asks {
		t.round++
		t.asked, t.got, t.answer = map[string]question{}, map[string]json.RawMessage{}, answer
		for key, request := range rawjson.Members(requests) {
			// A client that has answered a key once does not look at it again.
			public := key
			if t.round > 1 {
				public = fmt.Sprintf("%s (%d)", key, t.round)
			}
			t.asked[public] = question{key, request}
		}
		if len(t.asked) == 0 {
			answer <- json.RawMessage("{}")
		} else {
			t.Inputs = t.inputs()
			t.set(InputRequired)
		}
	}
	l.mu.Unlock()
	if asks {
		l.tell(t.ID)
	}
	select {
	case got := <-answer:
		return got, nil
	case <-ctx.Done():
		c.withdraw(answer)
		return nil, context.Cause(ctx)
	}
}

// withdraw takes back the questions of a round that the call does not wait for any more.
func (c *Call) withdraw(round chan json.RawMessage) {
	l, t := c.ledger, c.task
	l.mu.Lock()
	open := t.Status == InputRequired && t.answer == round
	if open {
		t.asked, t.Inputs = nil, nil
		t.set(Working)
	}
	l.mu.Unlock()
	if open {
		l.tell(t.ID)
	}
}

// inputs returns what has no answer yet, as Task has it.
func (t *task) inputs() json.RawMessage {
	out := []byte{'{'}
	for _, key := range slices.Sorted(maps.Keys(t.asked)) {
		out = rawjson.AppendMember(out, key, t.asked[key].request)
	}
	return append(out, '}')
}

// takeAnswers takes in answers, and reports whether one was waited for.
func (t *task) takeAnswers(responses map[string]json.RawMessage) (changed bool) {
	for key, response := range responses {
		if q, ok := t.asked[key]; ok {
			delete(t.asked, key)
			t.got[q.key] = slices.Clone(response)
			changed = true
		}
	}
	switch {
	case !changed:
	case len(t.asked) > 0:
		t.Inputs = t.inputs()
		t.set(InputRequired)
	default:
		out := []byte{'{'}
		for key, response := range t.got {
			out = rawjson.AppendMember(out, key, response)
		}
		t.Inputs = nil
		t.set(Working)
		t.answer <- append(out, '}')
	}
	return changed
}

// EndTask ends the call of a task, and the task with it: with the raw result or, if that is nil, with the
// JSON-RPC error. A result that is too large to be kept gives way to a failure that says so.
func (c *Call) EndTask(result, fault json.RawMessage) {
	if result == nil {
		c.endTask(Failed, nil, slices.Clone(fault))
	} else {
		if len(result) > MaxResult {
			result = item.FailureResult(spec.FailToolError, fmt.Sprintf("the tool has run, and its answer of %d KiB is larger than the %d KiB that are kept of a task: ask for less at once", len(result)>>10, MaxResult>>10))
		}
		c.endTask(Completed, complete(result, c.id), nil)
	}
	c.End(result, fault)
	c.Taken() // as far as its session goes: the task has it
}

// complete returns a copy of a raw result that says what it is, as each of the revision does, and
// which call it answers, unless that has no id.
func complete(result json.RawMessage, call string) json.RawMessage {
	out := []byte{'{'}
	if rawjson.Get(result, "resultType") == nil {
		out = rawjson.AppendStringMember(out, "resultType", "complete")
	}
	meta := rawjson.Get(result, "_meta")
	if call != "" {
		named := rawjson.AppendStringMember([]byte{'{'}, MetaKey, call)
		for key, v := range rawjson.Members(meta) {
			if key != MetaKey {
				named = rawjson.AppendMember(named, key, v)
			}
		}
		meta = append(named, '}')
	}
	if meta != nil {
		out = rawjson.AppendMember(out, "_meta", meta)
	}
	for key, v := range rawjson.Members(result) {
		if key != "_meta" {
			out = rawjson.AppendMember(out, key, v)
		}
	}
	return append(out, '}')
}

// endTask ends a task, unless it has ended, and the context of its call.
func (c *Call) endTask(as Status, result, fault json.RawMessage) {
	l, t := c.ledger, c.task
	l.mu.Lock()
	if t.Status.ended() || l.closed || l.tasks[t.ID] != c {
		l.mu.Unlock()
		return
	}
	t.asked, t.got, t.Sent = nil, nil, nil
	t.Inputs, t.Result, t.Error = nil, result, fault
	t.set(as)
	if t.Message = ""; as == Failed {
		t.Message, _ = rawjson.String(rawjson.Get(fault, "message"))
	}
	t.TTL = (t.Updated.Sub(t.Created) + keepEnded).Milliseconds()
	l.results += len(result)
	l.storeLocked(t)
	l.sweepTasksAtLocked(t.expires())
	for l.results > maxResults && l.taskGivesWayLocked(func(t *task) int { return len(t.Result) }) {
	}
	l.mu.Unlock()
	c.Stop(ErrCancelled) // to no effect if the call has ended by itself
	l.tell(t.ID)
}

func (t *task) set(s Status) {
	t.Status, t.Updated = s, time.Now().UTC().Truncate(time.Millisecond)
}

func (t *task) expires() time.Time {
	return t.Created.Add(time.Duration(t.TTL) * time.Millisecond)
}

// WatchTasks calls f with the id of each task that has changed, until stop is called. f must not
// block, and may call the Ledger.
func (l *Ledger) WatchTasks(f func(id string)) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	n := l.last
	l.watchers[n] = f
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.watchers, n)
	}
}

func (l *Ledger) tell(id string) {
	l.mu.Lock()
	all := slices.Collect(maps.Values(l.watchers))
	l.mu.Unlock()
	for _, f := range all {
		f(id)
	}
}

// document returns the task as it is stored. Results may be large, and every call waits for the Ledger's mutex:
// their bytes are copied, not encoded.
func (t *task) document() ([]byte, error) {
	brief := *t
	brief.Inputs, brief.Result, brief.Error, brief.Sent = nil, nil, nil, nil
	out, err := json.Marshal(&brief)
	if err != nil {
		return nil, err
	}
	out = t.appendRaw(out[:len(out)-1])
	if t.Sent != nil {
		out = append(append(out, `,"sent":`...), t.Sent...)
	}
	return append(out, '}'), nil
}

// storeLocked stores a task; the channel gets how that has ended.
func (l *Ledger) storeLocked(t *task) <-chan error {
	done := make(chan error, 1)
	body, err := t.document()
	if l.closed {
		err = errClosed
	}
	if err != nil {
		done <- err
		return done
	}
	l.opts.Keep(storage.Document{Kind: Kind, ID: t.ID, Body: body}, func(err error) { done <- err })
	return done
}

func (l *Ledger) dropTaskLocked(c *Call) {
	id := c.task.ID
	if l.tasks[id] != c {
		return
	}
	delete(l.tasks, id)
	l.results -= len(c.task.Result)
	c.task.Result = nil // the call may be kept for longer
	if !l.closed {
		l.opts.Forget(id)
	}
}

// dropTasksLocked forgets the tasks that match. stop, which is to be called without the lock,
// ends the contexts of those that go on.
func (l *Ledger) dropTasksLocked(match func(*task) bool) (stop func()) {
	var calls []*Call
	for _, c := range l.tasks {
		if match(c.task) {
			calls = append(calls, c)
			l.dropTaskLocked(c)
		}
	}
	return func() {
		for _, c := range calls {
			c.Stop(ErrCancelled)
		}
	}
}

// sweepTasks forgets the tasks whose time is over, and comes back for the next.
func (l *Ledger) sweepTasks() {
	now := time.Now()
	l.mu.Lock()
	l.due = time.Time{}
	stop := l.dropTasksLocked(func(t *task) bool {
		at := t.expires()
		if at.After(now) {
			l.sweepTasksAtLocked(at)
		}
		return !at.After(now)
	})
	l.mu.Unlock()
	stop()
}

func (l *Ledger) sweepTasksAtLocked(at time.Time) {
	if l.closed || !l.due.IsZero() && !at.Before(l.due) {
		return
	}
	l.due = at
	if l.timer == nil {
		l.timer = time.AfterFunc(time.Until(at), l.sweepTasks)
	} else {
		l.timer.Reset(time.Until(at))
	}
}
