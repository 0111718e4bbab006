package hub

import (
	"log/slog"
	"time"

	"tabhub/hub/broadcast"
	"tabhub/hub/call"
	"tabhub/hub/call/group"
	"tabhub/hub/lists"
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
	Changed   *broadcast.Signal // fired when what the owner sees has changed; nil: never
	Version   string            // told to peers at hello

	Telemetry telemetry.Observer // learns what is done; may be nil

	NameLimit      int             // longest public name; 0 means naming.DefaultLimit
	TabNames       lists.TabNames  // "" means TabNamesAuto
	CallTimeout    time.Duration   // 0 means spec.CallTimeout
	CallTimeoutMax time.Duration   // 0 means spec.CallTimeoutMax
	PersonTimeout  time.Duration   // 0 means spec.PersonTimeout
	MaxCalls       int             // in flight; 0 means spec.MaxCallsPerHub
	Mode           policy.Mode     // the preset; "" means policy.ModeCareful
	Askers         []consent.Asker // ways to ask the owner, in this order; nil means consent's default
	// Dashboard is the address of the hub's dashboard, and Command returns the line by which the owner runs one of
	// tabhub's commands, "" if the owner has no such program; nil: its name is tabhub. Refusals name them.
	Dashboard string
	Command   func(words ...string) string
	// Paired reports whether the owner has paired a browser with the hub, whether or not
	// it is connected. Nil: none.
	Paired func() bool
	// OwnBrowser reports whether the browser of a pairing is one of the owner's, in
	// which the owner may be asked. Nil: each that is paired.
	OwnBrowser func(spec.PairingID) bool

	// OwnPage reports whether a URL is of a page by which the hub's owner looks or decides:
	// no client is told what is there. Nil: none is, but for those that naming.IsDashboard knows.
	OwnPage func(url string) bool

	Handover call.Handover // "" means HandoverWait
	Group    group.Kind    // "" means group.Own
	GroupEnd group.End     // "" means group.Keep

	// StoredFirst has clients learn only what is stored, as another process may serve the user next.
	// See Settled.
	StoredFirst bool

	// LabelResults marks the texts of results that models read as a site's words.
	LabelResults bool

	// PlainNames lists each tool, resource and prompt under the page's own name.
	// It is for conformance suites, which look for fixed names.
	PlainNames bool
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
