package policy

import (
	"time"

	"tabhub/spec"
)

// Effect is what a rule, or a decision, says of an action. The zero value counts as Deny.
type Effect uint8

const (
	Unset Effect = iota
	Allow
	Ask // the owner, and do what the answer says
	Deny
)

// Rule decides about some actions. An empty Client, Site or Tool matches all.
type Rule struct {
	ID     string `json:"id"`
	Effect Effect `json:"effect"`

	Client  string `json:"client,omitempty"`  // the ID or the name of a principal
	Session string `json:"session,omitempty"` // of that client
	// Site is a domain as `tabhub tabs` shows it, "*.example.com" (example.com and all
	// below), "verified" or "unverified".
	Site string `json:"site,omitempty"`
	// Tool is the name of a page's item, or of a builtin tool ("browser_page",
	// "browser_page goto"); "*" in it stands for any text. A rule that allows a builtin tool
	// or a request of the relay has that Class, too: a page can give its tool any name.
	Tool string `json:"tool,omitempty"`
	// Pack is the name of a pack whose tools the rule is about, or "*" for the tools of all packs. A
	// rule without it is about packs' tools, too; but one of the owner or of the file that allows lets
	// them only read: a pack may have been added after the rule was made.
	Pack string `json:"pack,omitempty"`
	// Class is "read", "write", "act", "destructive", "hub" or "relay". A rule without it is about acts,
	// too; but one of the owner or of the file that allows is about acts only if it has their class. One that
	// asks about or denies what writes or destroys is about acts, which may do both.
	Class string `json:"class,omitempty"`
	// Pin identifies the only definition that the rule allows; zero: any.
	Pin Pin `json:"pin,omitzero"`
	// Late: only items that came after the client's first call of the session.
	Late bool `json:"late,omitempty"`

	// From makes it a rule about flows: it matches only a client that has read something of that
	// site (as Site, or "private"). Without a Class it is about all but reading.
	From string `json:"from,omitempty"`

	Until time.Time `json:"until,omitzero"` // zero: it does not end
	Made  time.Time `json:"made,omitzero"`
	By    string    `json:"by,omitempty"` // where it was made: "window", "dashboard", "command", "client", "file", "preset"
	Note  string    `json:"note,omitempty"`
}

// Mode is a preset.
type Mode string

const (
	ModeOpen     Mode = "open"      // everything is allowed
	ModeCareful  Mode = "careful"   // the default: asks before what may do harm
	ModeAsk      Mode = "ask"       // asks, once for each client and site
	ModeReadOnly Mode = "read-only" // nothing but reading
)

// Pause stops what matches it: everything, without a client and a site.
type Pause struct {
	Client string    `json:"client,omitempty"` // as Rule.Client
	Site   string    `json:"site,omitempty"`   // as Rule.Site
	Since  time.Time `json:"since"`
	By     string    `json:"by,omitempty"`
}

// Document is what the owner has decided so far, as the store keeps it.
type Document struct {
	Mode    Mode     `json:"mode,omitempty"` // unless the hub was started with another
	Rules   []Rule   `json:"rules,omitempty"`
	Pauses  []Pause  `json:"pauses,omitempty"`
	Private []string `json:"private,omitempty"` // sites, for rules from "private"
	// Bindings restrict clients to browsers. Several of one client hold together.
	Bindings []Binding `json:"bindings,omitempty"`
}

// Decision is what a Set decides about an action.
type Decision struct {
	Effect Effect
	// Rule decided; nil if a bound above the rules did, or nothing matched.
	Rule *Rule
	// Changed is the rule that allowed the same item with another definition; nil: none.
	Changed *Rule
	Paused  bool // a pause decided
	Layer   Layer
	// From holds the sites that the client has read and that the strictest of the matching rules
	// about flows are about.
	From []spec.Domain
}

// Layer is what a Decision was made by.
type Layer uint8

const (
	ByNothing   Layer = iota
	ByDashboard       // a hub's dashboard is for its owner alone
	ByPause
	ByScope   // the client's credential
	ByBrowser // the browsers that the client is bound to
	ByMode    // the bound of ModeReadOnly
	ByFlow    // a rule about flows, or a private site
	ByFile    // a rule of the policy file
	ByRule    // a rule of the owner, or an answer
	ByPreset  // a rule of the mode
)
