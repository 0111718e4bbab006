package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"tabhub/hub/broadcast"
	"tabhub/hub/offer/item"
	"tabhub/hub/state"
	"tabhub/hub/telemetry"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// Options configure a Hub. The zero value of each field but User, Transport and
// Store is a usable default.
type Options struct {
	User      spec.UserID
	Transport tabtransport.TabHubTransport
	Store     storage.DomainToolStorage
	Log       *slog.Logger      // nil discards
	Record    record.Log        // nil discards; closed by its owner, after the Hub
	Changed   *broadcast.Signal // fired when what the owner sees has changed; nil: nobody looks
	Version   string            // told to peers at hello

	Telemetry telemetry.Observer // learns what is done; nil: nobody does

	NameLimit      int             // longest public name; 0 means naming.DefaultLimit
	TabNames       TabNames        // "" means TabNamesAuto
	CallTimeout    time.Duration   // 0 means spec.CallTimeout
	CallTimeoutMax time.Duration   // 0 means spec.CallTimeoutMax
	PersonTimeout  time.Duration   // 0 means spec.PersonTimeout
	MaxCalls       int             // under way; 0 means spec.MaxCallsPerHub
	Mode           policy.Mode     // the preset; "" means policy.ModeCareful
	Askers         []consent.Asker // whom to ask, in this order; nil means consent's default
	// Paired reports whether the owner has paired a browser with the hub, whether or not
	// it is connected. Nil: none.
	Paired func() bool
	// OwnBrowser reports whether the browser of a pairing is one of the owner's, whom it is
	// right to ask there. Nil: each that is paired.
	OwnBrowser func(spec.PairingID) bool

	// OwnPage reports whether a URL is of a page by which the hub's owner looks or decides:
	// no client is told what is there. Nil: none is, but for those that naming.IsDashboard knows.
	OwnPage func(url string) bool

	Handover Handover // "" means HandoverWait
	Room     RoomKind // "" means RoomGroup
	RoomEnd  RoomEnd  // "" means RoomKeep

	// Shared: the store is that of several processes, of which another may serve the user next.
	// See Settled.
	Shared bool

	// LabelResults marks the texts of results that models read as a site's words.
	LabelResults bool

	// PlainNames lists each tool, resource and prompt under the page's own name.
	// It is for conformance suites, which look for fixed names.
	PlainNames bool
}

// TabNames says when a tool's per-tab names are listed. They always resolve.
type TabNames string

// The choices for TabNames.
const (
	TabNamesAuto   TabNames = "auto"   // when more than one tab has the tool
	TabNamesAlways TabNames = "always" // for each tab
	TabNamesNever  TabNames = "never"
)

// ListKind selects one of the four MCP lists.
type ListKind int

// The lists.
const (
	ListTools ListKind = iota
	ListResources
	ListTemplates
	ListPrompts
	numLists
)

// Listing is one of the hub's lists at a moment. It is immutable and shared.
type Listing struct {
	// Items are the elements, in the order of a list result: by domain, item, tab.
	Items []Item

	blocks   []*block                   // by domain
	sum      uint64                     // differs when a client would have to list again
	rendered atomic.Pointer[[]rendered] // the forms of late, the newest first
}

// rendered is a form of a Listing that Rendered has made.
type rendered struct {
	form any
	json []byte
}

// maxRendered is how many forms a Listing remembers: clients that are shown different tools of
// the hub itself take turns in asking.
const maxRendered = 4

// Rendered returns what render makes of the listing, and calls it only for a form that was not
// asked for lately. All clients that may see the same have one Listing, so that each list that they
// get is made once until something changes.
func (l *Listing) Rendered(form any, render func() []byte) []byte {
	var made []rendered
	if p := l.rendered.Load(); p != nil {
		made = *p
	}
	for _, r := range made {
		if r.form == form {
			return r.json
		}
	}
	list := render()
	made = append([]rendered{{form, list}}, made[:min(len(made), maxRendered-1)]...)
	l.rendered.Store(&made)
	return list
}

// Item is one element of a Listing.
type Item struct {
	Name   string // public name; for resources the public URI or URI template
	Domain spec.Domain
	Tab    int    // the tab's number; 0 is the domain's own name
	Source string // the page's own name or URI
	JSON   json.RawMessage
	Class  policy.Class // what it may change, by what its page says
	// OnlyReads: a tool that changes nothing, as its site says. It is what Call.ReadOnly
	// lets pass.
	OnlyReads bool
	// Cached: a tool that no tab has now, but one has had.
	Cached bool
	Sum    uint64 // differs when a client would have to list again; not with labels

	item       *item.Item
	lower      string          // Name in lower case
	definition json.RawMessage // see Definition
}

// Call is one tools/call.
type Call struct {
	Name     string          // public name
	Args     json.RawMessage // nil means {}; not modified, not kept after the call
	By       *consent.Caller // on whose behalf
	ReadOnly bool            // call nothing but tools that only read; ErrNotReadOnly otherwise
	Pin      *policy.Pin     // call nothing but a tool with that definition; nil: any
	// Sending, if not nil, is called each time before the call is sent to a page, which waits
	// for its return, and is sent nothing with an error. sent describes how the Hub of another
	// process asks the page for its answer; it does so for a task (Hub.Tasks) that has it. Such
	// a call may take Options.CallTimeoutMax also without progress, unless its site has a time
	// of its own: nobody waits at a connection.
	Sending func(sent func() json.RawMessage) error
}

// UnknownError says that a name is nobody's: JSON-RPC -32602.
type UnknownError struct {
	Kind    spec.Kind
	Name    string
	Nearest []string // at most 3 names that are known
	Why     string   // further words, "" or from "; " on
}

func (e *UnknownError) Error() string {
	s := fmt.Sprintf("unknown %s %q", e.Kind, e.Name)
	if len(e.Nearest) > 0 {
		s += "; nearest: " + strings.Join(e.Nearest, ", ")
	}
	return s + e.Why
}

// ErrNotReadOnly says that a tool may change something, and was to be called only if not.
var ErrNotReadOnly = errors.New("the tool does not say that it only reads")

// Failure is a failure of the hub, not of the page's tool.
type Failure struct {
	Code    spec.FailureCode
	Message string
}

func (f *Failure) Error() string { return string(f.Code) + ": " + f.Message }

// Result returns the failure as an MCP CallToolResult with isError set, whose text
// is {"error":{"code","message"}}.
func (f *Failure) Result() json.RawMessage {
	return item.FailureResult(f.Code, f.Message)
}

// Change says what has changed since the last Change. Changes within
// spec.NotifyCoalesced are one.
type Change struct {
	Tools, Resources, Prompts bool     // names, schemas or set changed: list_changed
	Policy                    bool     // because the policy has
	Updated                   []string // public URIs of resources whose content changed
	Tasks                     []string // ids of tasks; a Hub's Tasks say so, not its Watch

	bound map[string]Change // of those who are bound to browsers, by agents.By.Bound; see ChangeFor
}

// Capabilities are MCP-B's browser capabilities, aggregated over what pages and
// browsers have said.
type Capabilities struct {
	MultiTabSupport bool `json:"multiTabSupport"`
	CacheSupported  bool `json:"cacheSupported"`
	Elicitation     bool `json:"elicitation"`
	// Completions: an open page can complete arguments. It is a capability of MCP itself.
	Completions bool `json:"-"`
}

// Status counts what a hub holds.
type Status struct {
	User spec.UserID `json:"user"`
	state.Counts
	InFlight   int    `json:"inFlight"`
	Calls      uint64 `json:"calls"`
	StoreError string `json:"storeError,omitempty"`
}
