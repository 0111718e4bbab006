package storage

import (
	"encoding/json"
	"strings"
	"time"

	"tabhub/spec"
)

// Change is one change to the store: a Tab, DeleteTab, Name, DeleteName, Number,
// DeleteNumber, Browser, Site, Settings, Document or DeleteDocument. Putting a value replaces the one with the same key.
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
	Cached      bool              `json:"cached,omitempty"`   // closed; stored for its cached tools
	Verified    bool              `json:"verified,omitempty"` // Origin is the browser's word
	Tools       []json.RawMessage `json:"tools,omitempty"`
	Resources   []json.RawMessage `json:"resources,omitempty"`
	Prompts     []json.RawMessage `json:"prompts,omitempty"`
}

// The keys of the Tabs that hold what closed tabs left in a domain: one for each browser, and one for
// all pages that had joined by themselves. Tabs have others.
const (
	cacheKey    = ""
	cachePrefix = "cache:"
)

// CacheKey returns the key of the Tab that holds what closed tabs of a browser left; "" is none.
func CacheKey(browser spec.BrowserID) string {
	if browser == "" {
		return cacheKey
	}
	return cachePrefix + string(browser)
}

// CacheOf reports whether t holds what closed tabs left, and those of which browser.
func (t *Tab) CacheOf() (browser spec.BrowserID, is bool) {
	id, is := strings.CutPrefix(t.Key, cachePrefix)
	if !is {
		return "", t.Key == cacheKey
	}
	return spec.BrowserID(id), true
}

// Add adds an item.
func (t *Tab) Add(kind spec.Kind, raw json.RawMessage) {
	switch kind {
	case spec.KindTool:
		t.Tools = append(t.Tools, raw)
	case spec.KindResource:
		t.Resources = append(t.Resources, raw)
	case spec.KindPrompt:
		t.Prompts = append(t.Prompts, raw)
	}
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
	Tab    int         `json:"tab,omitempty"`  // 0: the domain's own name
	Item   string      `json:"item"`           // the page's name of the tool or prompt
	Pack   string      `json:"pack,omitempty"` // the pack that the tool is of
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
	Label      string         `json:"label,omitempty"` // what its owner calls it, "" if nothing
}

// Site holds the user's settings for a domain. Its key is Domain.
type Site struct {
	Domain      spec.Domain   `json:"domain"`
	Cache       *bool         `json:"cache,omitempty"`       // keep its tools when its last tab closes
	CallTimeout time.Duration `json:"callTimeout,omitempty"` // 0: the default
	Check       ArgumentCheck `json:"check,omitempty"`       // "": the default, CheckLenient
}

// ArgumentCheck says which arguments of calls are refused.
type ArgumentCheck string

// The choices for ArgumentCheck.
const (
	CheckStrict  ArgumentCheck = "strict"  // all that do not fit the tool's schema
	CheckLenient ArgumentCheck = "lenient" // those that no lenient reading of the schema lets pass, see package schema
	CheckOff     ArgumentCheck = "off"     // none
)

// Settings is a document of the user that one part of the hub stores, such as the policy.
// Its key is Name.
type Settings struct {
	Name string          `json:"name"`
	Body json.RawMessage `json:"body"`
}

// Document is one of many documents of a kind, such as the sessions of clients. Its key is
// (Kind, ID).
type Document struct {
	Kind string          `json:"kind"`
	ID   string          `json:"id"`
	Body json.RawMessage `json:"body"`
}

// DeleteDocument deletes a Document.
type DeleteDocument struct{ Kind, ID string }

func (Tab) change()            {}
func (DeleteTab) change()      {}
func (Name) change()           {}
func (DeleteName) change()     {}
func (Number) change()         {}
func (DeleteNumber) change()   {}
func (Browser) change()        {}
func (Site) change()           {}
func (Settings) change()       {}
func (Document) change()       {}
func (DeleteDocument) change() {}
