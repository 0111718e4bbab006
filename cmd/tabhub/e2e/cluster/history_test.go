//go:build nightly && unix

package cluster

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// A history says what happened in a run of a cluster under faults, and Check whether it may have
// happened. It follows Jepsen. A client invokes an operation, a tool call with a token of its own as
// argument, and the operation ends once: ok (it has the answer), fail (it was not sent) or info (it
// may have taken effect). Pages note each call that they run, with its token, and the hub's record has
// a line for each call. Check compares the three, and looks through what nodes have written of users'
// state.

// Kind is what an Event is.
type Kind string

// The kinds of events.
const (
	Invoke Kind = "invoke" // a client makes a call: Op, Name, Again
	OK     Kind = "ok"     // it has the answer Text to the call Call
	Fail   Kind = "fail"   // it has learned, with the reason Text, that the call was not sent
	Info   Kind = "info"   // it has learned that the call may have taken effect, or it has lost the connection
	Asked  Kind = "asked"  // after Info it has asked for the outcome: Name is the state, Text the answer, if there is one
	Run    Kind = "run"    // a page runs the tool Name, and will answer Text
	List   Kind = "list"   // a client has read a list: Names
	Line   Kind = "line"   // a line of the record: N, Call, and the outcome in Text; Name is the node if the line is late
	Wrote  Kind = "wrote"  // a message Name (claim, flush, …) of the user's journal, with the sequence N and the id Call, that the node By has written under Epoch
	Fault  Kind = "fault"  // Text happens to the cluster
	Kill   Kind = "kill"   // it kills the node By at once; unwritten lines are lost
	Heal   Kind = "heal"   // the fault is over
	Calm   Kind = "calm"   // from now on, until the next fault, each call must work
)

// Event is one thing that happened, noted by a participant. All participants share one clock.
type Event struct {
	At    time.Duration `json:"at"` // since the run began
	Kind  Kind          `json:"kind"`
	User  string        `json:"user,omitempty"` // to whom the client, page or record belongs
	By    string        `json:"by,omitempty"`   // which of the user's clients or tabs
	Op    string        `json:"op,omitempty"`   // the operation's token
	Name  string        `json:"name,omitempty"`
	Call  string        `json:"call,omitempty"` // the hub's id of the call
	Text  string        `json:"text,omitempty"`
	Names []string      `json:"names,omitempty"`
	N     uint64        `json:"n,omitempty"`
	Epoch uint64        `json:"epoch,omitempty"`
	Again bool          `json:"again,omitempty"` // the tool may be called again by the hub itself
}

func (e Event) String() string {
	b, err := json.Marshal(e)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// history collects events. It is safe for concurrent use.
type history struct {
	began  time.Time
	mu     sync.Mutex
	events []Event
}

func newHistory() *history { return &history{began: time.Now()} }

// Add adds an event that happens now, and returns its time.
func (h *history) Add(e Event) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	e.At = time.Since(h.began)
	h.events = append(h.events, e)
	return e.At
}

// Events returns the events so far. The caller must not change it.
func (h *history) Events() []Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.events[:len(h.events):len(h.events)]
}

// Write writes events, one a line.
func Write(w io.Writer, events []Event) error {
	out := bufio.NewWriter(w)
	for _, e := range events {
		fmt.Fprintln(out, e)
	}
	return out.Flush()
}

// Violation is something that must not happen.
type Violation struct {
	Rule   string
	What   string
	Events []Event // all of the operation, or of the name, in order
}

func (v Violation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", v.Rule, v.What)
	for _, e := range v.Events {
		fmt.Fprintf(&b, "\n\t%s", e)
	}
	return b.String()
}
