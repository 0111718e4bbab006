package policy

import (
	"crypto/sha256"

	"tabhub/spec"
)

// Action is something that a client is about to have done. It is complete before Decide
// sees it.
type Action struct {
	Who      *Principal
	Session  string // of the client, "" if it has none
	Site     Site
	Of       Of
	Kind     spec.Kind  // of what a page offers; "" for the rest
	Name     string     // the page's own name or URI; "browser_page goto"; of the relay the method
	Class    Class      // what it may change
	Item     Definition // what is called; nil if it has no definition of a page
	Late     bool       // its definition came after the client's first call of the session
	Dataless bool       // nothing of the client's goes to the site with it, as when a tab is closed
	// Read is the sites of which the client has read something, in no order; those of which
	// Set.Watches is false may be missing.
	Read    []spec.Domain
	Browser *Browser // that it leads to; nil: to none, or to one that is not known yet
	Bound   []string // the names of the browsers that the client's connection is for; nil: all
}

// Browser is a browser that an action leads to.
type Browser struct {
	Name string // that its owner has given it; "" of one without, and of a page that has joined by itself
}

// Principal is who has something done: an MCP client, or a program of the owner. It is
// immutable.
type Principal struct {
	// ID is that of its credential, "" of nobody, to whom everything is denied. It is made
	// by the hub, and what rules and answers go by.
	ID string
	// Name is what the owner calls it.
	Name string
	// Scope is the most that its credential is good for; nil: it has no bound.
	Scope *Scope
}

// The IDs of Owner, Token and Unnamed.
const (
	OwnerID   = "owner"   // the owner's own programs, such as tabhub call and the dashboard
	TokenID   = "token"   // who shows the hub's own token
	UnnamedID = "unnamed" // programs of the owner's account that show none, such as a bridge without an entry's token
)

// Those who need no credential of their own.
var (
	Owner   = &Principal{ID: OwnerID, Name: "the owner"}
	Token   = &Principal{ID: TokenID, Name: "the hub's token"}
	Unnamed = &Principal{ID: UnnamedID, Name: "a program without a name"}
	Nobody  = &Principal{}
)

// Scope bounds what a credential is good for. An empty list is no bound.
type Scope struct {
	Sites   []string `json:"sites,omitempty"`   // as in Rule.Site
	Tools   []string `json:"tools,omitempty"`   // as in Rule.Tool
	Classes []Class  `json:"classes,omitempty"` // Read, Write, Destructive; each allows those before it
	// Browsers are the names of the only browsers that there are for the client.
	Browsers []string `json:"browsers,omitempty"`
}

// Site is where an action takes place.
type Site struct {
	// Domain is the key of the site (naming.DomainOf), "" where no site is meant, such as
	// for a list of tabs. An unverified one says so by its mark.
	Domain spec.Domain
	// Any is set when the action may reach any site, such as a command to a whole browser:
	// each rule that restricts a site matches it, and none that allows one.
	Any bool
	// Own is set for a page by which the hub's owner looks or decides, at one of the hub's
	// addresses.
	Own bool
}

// Of says whose the thing is that is called.
type Of uint8

const (
	OfPage  Of = iota // a tool, resource or prompt of a page
	OfHub             // a tool of the hub itself
	OfRelay           // a request to an extension of the relay
)

// Class is what an action may change, by the word of who offers it.
type Class uint8

const (
	ClassUnset  Class = iota // counts as Destructive
	Read                     // nothing
	Write                    // something
	Destructive              // something that cannot be undone, or that has consequences
)

// Definition is what can be called, as its page has described it.
type Definition interface {
	// Pin identifies all that the owner and the model are shown of it, and where it is from.
	Pin() Pin
}

// Pin is a hash of a definition.
type Pin [sha256.Size]byte
