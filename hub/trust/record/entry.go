package record

import (
	"encoding/json"
	"slices"
	"time"

	"tabhub/spec"
)

// Entry is one event of the record.
type Entry struct {
	Time  time.Time `json:"time"` // when it began; of a question, when it ended
	Event Event     `json:"event"`
	Call  string    `json:"call,omitempty"` // the id of the call, or of the one that a question is about
	Task  string    `json:"task,omitempty"` // the id of the task that the call has become; only of the event Task

	Client  string `json:"client,omitempty"` // the ID of its credential
	Name    string `json:"name,omitempty"`   // the owner's name of the client
	Said    string `json:"said,omitempty"`   // what the client calls itself
	Session string `json:"session,omitempty"`
	Via     string `json:"via,omitempty"` // the hub's own tool that the client called for it, such as proxy

	Tab    string      `json:"tab,omitempty"`
	Domain spec.Domain `json:"domain,omitempty"`
	Origin string      `json:"origin,omitempty"`
	URL    string      `json:"url,omitempty"`
	Tool   string      `json:"tool,omitempty"`
	Pack   string      `json:"pack,omitempty"` // the name of the pack that gives the tool
	Class  string      `json:"class,omitempty"`
	Digest string      `json:"digest,omitempty"` // of the arguments; made by the log

	Decision string        `json:"decision,omitempty"` // "allow", "ask" or "deny"
	Rule     string        `json:"rule,omitempty"`     // the id of the rule that decided
	Question string        `json:"question,omitempty"` // its id, if the owner was asked
	By       string        `json:"by,omitempty"`       // where the answer was given: "window", "client", "dashboard", "command"
	Reach    string        `json:"reach,omitempty"`    // of the answer
	Asked    time.Duration `json:"asked,omitempty"`    // how long the owner's answers took, together
	Decided  time.Duration `json:"decided,omitempty"`  // after Time: when it was decided last; 0: it was not, or that is not known
	Sent     time.Duration `json:"sent,omitempty"`     // after Time: when it was handed to the page's connection last; 0: it was not, or that is not known
	Flows    []string      `json:"flows,omitempty"`    // "mail.example → shop.example, note"

	Outcome  string        `json:"outcome"`           // "ok", or what went wrong
	Reason   string        `json:"reason,omitempty"`  // why this tab was chosen, or what was rejected
	Changed  string        `json:"changed,omitempty"` // what the hub has changed in the page's answer, so that clients can read it
	Duration time.Duration `json:"duration"`          // from Time to the end, with Asked

	// Args and Result are not part of the line: the log makes Digest of Args, and stores both
	// as payloads, if at all. They must not be modified once they are appended.
	Args   json.RawMessage `json:"-"`
	Result json.RawMessage `json:"-"`
}

// Event is what an Entry records.
type Event string

// The events.
const (
	Register Event = "register" // a page's tools, resources or prompts
	Gone     Event = "gone"     // a tab, or its tools, resources or prompts
	Begun    Event = "begun"    // a call that cannot be undone, or a client's own act, is about to be sent
	Call     Event = "call"
	Task     Event = "task"     // a call goes on as a task
	Repeated Event = "repeated" // a client that had not got the answer of a call has got it by asking again
	Proxy    Event = "proxy"    // an operation of the tool proxy that is no call
	Relay    Event = "relay"    // a request of a client to an extension
	Refused  Event = "refused"  // before it was a call: an unknown name, a client without a credential
	Ask      Event = "ask"      // a question, and its answer
	Policy   Event = "policy"   // an edit of rules, a pause, a resume
	Client   Event = "client"   // a credential was made or revoked, a client has connected or gone
	Pairing  Event = "pairing"  // a browser was paired or unpaired
	Lease    Event = "lease"    // that the owner has ended
	Pack     Event = "pack"     // the owner has added, accepted, rejected or removed a pack: Outcome says which, Reason is its hash
	Self     Event = "log"      // of the log itself, see Line.Note
)

var events = []Event{Register, Gone, Begun, Call, Task, Repeated, Proxy, Relay, Refused, Ask, Policy, Client, Pairing, Lease, Pack, Self}

// Events returns all events.
func Events() []Event { return slices.Clone(events) }

// Log takes entries. Append is safe for concurrent use, does not block and never fails: the
// record itself counts the entries that could not be written.
type Log interface{ Append(Entry) }

// Discard is a Log that drops all entries.
var Discard Log = discard{}

type discard struct{}

func (discard) Append(Entry) {}
