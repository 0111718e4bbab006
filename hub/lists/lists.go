package lists

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"tabhub/hub/core"
	"tabhub/hub/offer/item"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// Lists are what clients are listed of a hub, and how they learn that it has changed. Its methods
// are safe for concurrent use.
type Lists struct {
	core     *core.Core
	rules    *core.Rules
	tabNames TabNames
	notices  *notifier
	lists    [numLists]listCache
	bound    boundLists

	subs subscriptions // guarded by core

	followMu sync.Mutex
	followed map[*subscription]*policy.Action // what clients are notified of the updates of
}

// New returns the lists of a hub that is being opened. tabNames may be "".
func New(core *core.Core, rules *core.Rules, tabNames TabNames) *Lists {
	ls := &Lists{core: core, rules: rules, tabNames: tabNames, subs: subscriptions{}, followed: map[*subscription]*policy.Action{}}
	ls.notices = newNotifier(ls)
	rules.OnChange(func(*policy.Set) { ls.EndDenied(); ls.notices.allChanged() })
	return ls
}

// Start begins to tell of changes: what is listed now is what clients start from.
func (ls *Lists) Start() { ls.notices.start() }

// Changed says that a list may have changed. It does not block.
func (ls *Lists) Changed() { ls.notices.dirty() }

// Close waits until watchers are told nothing more, which is soon after the Core has ended.
func (ls *Lists) Close() { <-ls.notices.done }

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
	Pack   string // the pack that gives the site the tool; "": the item is the page's own
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

// items returns what a list is made of.
func (k ListKind) items() (kind spec.Kind, template bool) {
	switch k {
	case ListResources:
		return spec.KindResource, false
	case ListTemplates:
		return spec.KindResource, true
	case ListPrompts:
		return spec.KindPrompt, false
	}
	return spec.KindTool, false
}

// Says reports whether each of some words, in lower case, is in the item's name or its site's,
// or in what its page says of it.
func (it *Item) Says(words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool {
		return !strings.Contains(it.lower, word) && !strings.Contains(string(it.Domain), word) && !it.item.Says(word)
	})
}

// Definition is what a list has of the item, with the page's own schemas in place of those for
// clients, if it was found by Find or FindFor.
func (it *Item) Definition() json.RawMessage {
	if it.definition == nil {
		return it.JSON
	}
	return it.definition
}

// Registered is the item's object as its page gave it.
func (it *Item) Registered() json.RawMessage { return it.item.Raw }

// Pin identifies the definition of the item, for Call.Pin.
func (it *Item) Pin() *policy.Pin {
	pin := it.item.Pin()
	return &pin
}
