package policy

import (
	"crypto/sha256"

	"tabhub/spec"
)

// Action is something that a client is about to do.
type Action struct {
	Principal *Principal
	Session   string // of the client, "" if it has none
	Site      Site
	Of        Of
	Kind      spec.Kind  // of a page's item; "" for the rest
	Name      string     // the page's own name or URI; "browser_page goto"; of the relay the method
	Class     Class      // what it may change
	Pack      string     // the name of the pack that gives the page's item, "" if the page offers it itself
	Item      Definition // the page's item that is called; nil without one
	Late      bool       // its definition came after the client's first call of the session
	Dataless  bool       // it carries nothing of the client's to the site, such as closing a tab
	// Read holds the sites of which the client has read something, in no order. Sites that no Set
	// watches may be missing.
	Read    []spec.Domain
	Browser *Browser // that it leads to; nil: none, or it is not known yet
	Bound   []string // the names of the browsers that the client's connection is for; nil: all
}

// Browser is a browser that an action leads to.
type Browser struct {
	Name string // the owner's name for it; "" without one, and of a page that connects by itself
}

// Principal is what a credential proves: an MCP client, or a program of the owner. It is
// immutable.
type Principal struct {
	// ID is that of its credential, made by the hub: rules and answers go by it. "" is that of
	// Nobody, to whom everything is denied.
	ID    string
	Name  string // the owner's name for it
	Scope *Scope // of its credential; nil: no bound
}

// The IDs of Owner, Token and Unnamed.
const (
	OwnerID   = "owner"   // the owner's own programs, such as tabhub call and the dashboard
	TokenID   = "token"   // programs that show the hub's token
	UnnamedID = "unnamed" // programs of the owner's account without a token, such as a bridge that no entry starts
)

// The principals without a credential of their own.
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
	Classes []Class  `json:"classes,omitempty"` // each allows those before it
	// Browsers are the names of the only browsers that exist for the client.
	Browsers []string `json:"browsers,omitempty"`
}

// Site is where an action takes place.
type Site struct {
	// Domain is the key of the site (naming.DomainOf), "" without one, such as
	// for a list of tabs. That of an unverified site has a mark.
	Domain spec.Domain
	// Any is set when the action may reach any site, such as a command to a whole browser:
	// each rule that restricts a site matches it, and no rule that allows a site does.
	Any bool
	// Dashboard is set for the pages of the hub's own dashboard.
	Dashboard bool
}

// Of says what offers the thing that is called.
type Of uint8

const (
	OfPage  Of = iota // a tool, resource or prompt of a page
	OfHub             // a tool of the hub itself
	OfRelay           // a request to an extension of the relay
)

// Class is what an action may change, as its page or the hub says. They are in the order of what a
// credential that is good for them must be trusted with.
type Class uint8

const (
	ClassUnset  Class = iota // counts as Destructive
	Read                     // nothing
	Write                    // something
	Act                      // what a client does on a page by itself, through the hub's tools: nobody has said what it may change
	Destructive              // something that cannot be undone, or that has consequences
)

// Definition is a page's item as the page has described it.
type Definition interface {
	// Pin identifies all that the owner and the model see of it, and where it is from.
	Pin() Pin
}

// Pin is a hash of a definition.
type Pin [sha256.Size]byte
