package tabtransport

import (
	"encoding/json"
	"time"

	"tabhub/spec"
)

// Traced is one message between the hub and a page or a browser, for who writes one of these
// and wants to see what is said. Who may see it may see all that clients and pages say.
type Traced struct {
	Time  time.Time    `json:"time"`
	Tab   spec.TabAddr `json:"tab"` // its Tab is 0 for what is about no tab of a browser
	ToHub bool         `json:"toHub"`

	// Event, if not "", is what has happened instead.
	Event string `json:"event,omitempty"`
	// Text explains the event, or why there is no Body.
	Text string `json:"text,omitempty"`

	// Method is that of JSON-RPC, or the type in other dialects; of an answer, its request's.
	Method string        `json:"method,omitempty"`
	Tool   string        `json:"tool,omitempty"`
	ID     string        `json:"id,omitempty"`
	Answer bool          `json:"answer,omitempty"`
	Failed bool          `json:"failed,omitempty"` // an answer that is an error
	Took   time.Duration `json:"took,omitempty"`   // until the answer
	Size   int           `json:"size,omitempty"`   // bytes
	// Body is the whole message.
	Body json.RawMessage `json:"body,omitempty"`
}

// The events of a Traced.
const (
	EventBegun  = "begun"  // what is said from now on is traced
	EventJoined = "joined" // a connection that is taken
	EventLeft   = "left"
	EventMissed = "missed" // messages that were not traced, as who reads is too slow
)
