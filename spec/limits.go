package spec

import "time"

// Limits that the hub keeps and tells a peer at hello. Sizes are in bytes.
const (
	MaxFrame         = 32 << 20 // a frame from a tab
	MaxToolsPerTab   = 1024
	MaxToolsPerHub   = 20_000
	MaxSchema        = 64 << 10 // a tool's input or output schema
	MaxSchemaDepth   = 32       // nesting of a schema
	MaxDepth         = 512      // nesting of any other JSON
	MaxDescription   = 2 << 10  // a longer description is cut, with an ellipsis
	MaxName          = 128      // a page's own name of a tool or prompt
	MaxURI           = 2 << 10  // a page's own URI of a resource, and a tab's URL
	MaxTitle         = 256      // a tab's title; a longer one is cut
	MaxCallsPerTab   = 64       // calls in flight
	MaxCallsPerHub   = 1024     // calls in flight
	MaxRegistrations = 20       // registrations a tab may send per second
)

// Times of the protocol.
const (
	KeepAlive       = 15 * time.Second // between two browser/ping
	ControlTimeout  = 10 * time.Second // any request but a call
	CallTimeout     = 30 * time.Second // a call without progress
	CallTimeoutMax  = 10 * time.Minute // a call with progress
	PersonTimeout   = 10 * time.Minute // what a call waits, beside that, for the person in front of the tab
	TabGrace        = 5 * time.Second  // a lost single-tab connection keeps its tools
	BrowserGrace    = 45 * time.Second // a lost browser connection keeps its tabs
	SessionGrace    = 2 * time.Minute  // a client that has lost its connection keeps the tabs that it holds
	RetryDelay      = time.Second      // between attempts while a tab loads
	RetryAttempts   = 3
	ContinueWait    = time.Minute      // for a later document of a tab to resume a call that an earlier one has left to it
	ReturnMaxWait   = 20 * time.Second // for the next document of a tab to offer what the one before it did
	OpenTabMaxWait  = 10 * time.Second // after a tab was opened, until it has registered its tools
	StaleTab        = time.Hour        // a stored tab older than this is dropped on load
	TabNumberHeld   = 24 * time.Hour   // a tab number is not given to another tab
	HelloTimeout    = 10 * time.Second // until the first message of a connection
	NotifyCoalesced = 50 * time.Millisecond
)

// Limits is what browser/hello is answered with.
type Limits struct {
	MaxFrame       int `json:"maxFrame"`
	MaxTools       int `json:"maxTools"`
	MaxSchema      int `json:"maxSchema"`
	MaxSchemaDepth int `json:"maxSchemaDepth"`
	MaxDescription int `json:"maxDescription"`
}

// DefaultLimits are the limits above, as hello tells them.
var DefaultLimits = Limits{
	MaxFrame:       MaxFrame,
	MaxTools:       MaxToolsPerTab,
	MaxSchema:      MaxSchema,
	MaxSchemaDepth: MaxSchemaDepth,
	MaxDescription: MaxDescription,
}
