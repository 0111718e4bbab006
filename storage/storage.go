package storage

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"tabhub/spec"
)

// Errors of Open.
var (
	// ErrLocked: another process has the store open. The error's text names it.
	ErrLocked = errors.New("store is in use by another process")
	// ErrCorrupt: the file is not a store or is damaged. It was left untouched.
	ErrCorrupt = errors.New("store is damaged")
	// ErrNewer: a newer version of the program wrote the file. It was left untouched.
	ErrNewer = errors.New("store was written by a newer version")
)

// DomainToolStorage keeps what a hub must remember over a restart: tabs and what
// they offered by domain, names, tab numbers, browsers, per-site settings, and the
// log (spec/docs/RULES.md, "Registration" and "Disconnects"). It is written behind: the hub
// answers all reads from memory. All methods are safe for concurrent use.
type DomainToolStorage interface {
	// Load returns all that is kept of a user but the log, in no particular order.
	// Tabs last updated before stale are deleted and returned as State.Stale, but for
	// those that are Cached, which have no age. It is called once per user, before any
	// Write for that user.
	Load(ctx context.Context, user spec.UserID, stale time.Time) (*State, error)

	// Write queues changes, which are applied in order and all or none, together
	// with others (group commit). It does not block on the disk. The changes and
	// all they point to must not be modified afterwards. done, if not nil, is
	// called once, from another goroutine, after the changes are synced to disk or
	// have failed, and must not block for long. Changes that failed are not tried
	// again.
	Write(user spec.UserID, changes []Change, done func(error))

	// Records returns the newest records of the log that match, newest first. It
	// sees what Write has queued.
	Records(ctx context.Context, user spec.UserID, q Query) ([]Record, error)

	// Close writes all that is queued, syncs, calls what done functions remain and
	// closes the store. Write after Close fails with an error. It is idempotent.
	Close() error
}

// State is all that is kept of a user but the log.
type State struct {
	Tabs     []Tab
	Stale    []Tab // are in the store no longer
	Names    []Name
	Numbers  []Number
	Browsers []Browser
	Sites    []Site
}

// Change is one change to the store: a Tab, DeleteTab, Name, DeleteName, Number,
// DeleteNumber, Browser, Site or Record. Putting a value replaces the one with the same key.
type Change interface{ change() }

// Tab is what one tab offers in one domain. Its key is (Domain, Key). A tab with
// frames of several origins has one Tab a domain.
type Tab struct {
	Domain      spec.Domain       `json:"domain"`
	Key         string            `json:"key"` // the tab's own key, stable over reloads
	Addr        spec.TabAddr      `json:"addr"`
	Origin      string            `json:"origin"`
	URL         string            `json:"url"`
	Title       string            `json:"title"`
	Index       int               `json:"index"` // the tab's number within the domain
	Browser     spec.BrowserID    `json:"browser,omitempty"`
	LastUpdated time.Time         `json:"lastUpdated"`
	Cached      bool              `json:"cached,omitempty"`   // closed; kept for its cached tools
	Verified    bool              `json:"verified,omitempty"` // Origin is the browser's word
	Tools       []json.RawMessage `json:"tools,omitempty"`
	Resources   []json.RawMessage `json:"resources,omitempty"`
	Prompts     []json.RawMessage `json:"prompts,omitempty"`
}

// DeleteTab deletes a Tab.
type DeleteTab struct {
	Domain spec.Domain
	Key    string
}

// Name binds a public name to an identity. Its key is Public.
type Name struct {
	Public string      `json:"public"`
	Kind   spec.Kind   `json:"kind"`
	Domain spec.Domain `json:"domain"`
	Tab    int         `json:"tab,omitempty"` // 0: the domain's own name
	Item   string      `json:"item"`          // the page's name of the tool or prompt
}

// DeleteName deletes a Name.
type DeleteName struct {
	Public string
}

// Number binds a tab to its number within a domain. Its key is (Domain, Key).
type Number struct {
	Domain   spec.Domain `json:"domain"`
	Key      string      `json:"key"`
	Index    int         `json:"index"`
	LastSeen time.Time   `json:"lastSeen"`
}

// DeleteNumber deletes a Number.
type DeleteNumber struct {
	Domain spec.Domain
	Key    string
}

// Browser is a browser that has joined. Its key is ID.
type Browser struct {
	ID         spec.BrowserID `json:"id"`
	SecretHash []byte         `json:"secretHash"` // SHA-256 of the secret
	Name       string         `json:"name"`
	Confirmed  bool           `json:"confirmed"` // it has shown the secret at least once
	LastSeen   time.Time      `json:"lastSeen"`
}

// Site holds the user's settings for a domain. Its key is Domain.
type Site struct {
	Domain      spec.Domain   `json:"domain"`
	Cache       *bool         `json:"cache,omitempty"`       // keep its tools when its last tab closes
	CallTimeout time.Duration `json:"callTimeout,omitempty"` // 0: the default
}

// Record is one line of the log: a registration, a call, or what the tool proxy was
// asked. It holds no arguments and no results.
type Record struct {
	Time     time.Time     `json:"time"`
	Event    Event         `json:"event"`
	Client   string        `json:"client,omitempty"`
	Tab      string        `json:"tab,omitempty"`
	Domain   spec.Domain   `json:"domain,omitempty"`
	Tool     string        `json:"tool,omitempty"`
	Digest   string        `json:"digest,omitempty"` // of the arguments: hex of SHA-256, first 16 digits
	Outcome  string        `json:"outcome"`          // "ok", or what went wrong
	Reason   string        `json:"reason,omitempty"` // why this tab was chosen, or what was rejected
	Duration time.Duration `json:"duration"`
}

// Event is what a Record records.
type Event string

// The events.
const (
	EventRegister Event = "register"
	EventCall     Event = "call"
	EventProxy    Event = "proxy" // an operation of the tool proxy that is no call
)

// Query selects records. The zero value selects the newest 100.
type Query struct {
	Limit  int // 0 means 100
	Event  Event
	Domain spec.Domain
	Tool   string
	Since  time.Time
}

func (Tab) change()          {}
func (DeleteTab) change()    {}
func (Name) change()         {}
func (DeleteName) change()   {}
func (Number) change()       {}
func (DeleteNumber) change() {}
func (Browser) change()      {}
func (Site) change()         {}
func (Record) change()       {}
