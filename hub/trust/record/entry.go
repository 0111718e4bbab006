package record

import (
	"encoding/json"
	"slices"
	"time"

	"tabhub/spec"
)

// Entry is one event of the record.
type Entry struct {
	Time  time.Time `json:"time"`
	Event Event     `json:"event"`
	Call  string    `json:"call,omitempty"` // the call's id
	Task  string    `json:"task,omitempty"` // the id of the task that the call has become, of the event Task alone

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
	Class  string      `json:"class,omitempty"`
	Digest string      `json:"digest,omitempty"` // of the arguments; made by the log

	Decision string        `json:"decision,omitempty"` // "allow", "ask" or "deny"
	Rule     string        `json:"rule,omitempty"`     // the id of the rule that decided
	Question string        `json:"question,omitempty"` // its id, if the owner was asked
	By       string        `json:"by,omitempty"`       // who answered: "window", "client", "dashboard", "command"
	Reach    string        `json:"reach,omitempty"`    // of the answer
	Asked    time.Duration `json:"asked,omitempty"`    // how long the answer took
	Flows    []string      `json:"flows,omitempty"`    // "mail.example → shop.example, note"

	Outcome  string        `json:"outcome"`           // "ok", or what went wrong
	Reason   string        `json:"reason,omitempty"`  // why this tab was chosen, or what was rejected
	Changed  string        `json:"changed,omitempty"` // what of the page's answer was changed, so that clients can read it
	Duration time.Duration `json:"duration"`

	// Args and Result are not part of the line: the log makes Digest of Args, and keeps the
	// two elsewhere, if at all. They must not be modified once they are appended.
	Args   json.RawMessage `json:"-"`
	Result json.RawMessage `json:"-"`
}

// Event is what an Entry records.
type Event string

// The events.
const (
	Register Event = "register" // a page's tools, resources or prompts
	Gone     Event = "gone"     // a tab, or what it offered
	Begun    Event = "begun"    // a call that cannot be undone is about to be sent
	Call     Event = "call"
	Task     Event = "task"     // a call goes on as a task
	Repeated Event = "repeated" // the answer of a call, which had not reached the client, was given to it when it asked again
	Proxy    Event = "proxy"    // an operation of the tool proxy that is no call
	Relay    Event = "relay"    // a request that a client had forwarded to an extension
	Refused  Event = "refused"  // before it was a call: an unknown name, a client that was not let in
	Ask      Event = "ask"      // a question, and its answer
	Policy   Event = "policy"   // an edit of rules, a pause, a resume
	Client   Event = "client"   // a credential that was made or taken back, a client that came or left
	Pairing  Event = "pairing"  // a browser that was paired, or is no longer
	Lease    Event = "lease"    // that the owner has ended
	Self     Event = "log"      // of the log itself, see Line.Note
)

var events = []Event{Register, Gone, Begun, Call, Task, Repeated, Proxy, Relay, Refused, Ask, Policy, Client, Pairing, Lease, Self}

// Events returns all events.
func Events() []Event { return slices.Clone(events) }

// Log takes entries. Append may be called at any time and by many at once; it does not
// block, and never fails: what cannot be written is counted, and shows in the record itself.
type Log interface{ Append(Entry) }

// Discard is a Log that keeps nothing.
var Discard Log = discard{}

type discard struct{}

func (discard) Append(Entry) {}
