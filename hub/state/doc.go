// Package state is all that a hub knows of one user: which browsers and tabs are
// there, what they offer, under which names, and what is to be remembered of those
// that are gone. It decides what a message of a tab changes and where a call goes; it
// does nothing itself.
//
// There is no lock, clock, I/O, goroutine, timer or logger in it. A State is not safe
// for concurrent use: its owner (package hub) holds a lock exclusively around a Tx
// and shares it among readers.
//
// # Changing and reading
//
// A Tx is a transaction: State.Begin makes one for a moment in time, its methods change
// the state, and Tx.End returns the Work that follows: what to write to the store, which peers
// to disconnect, which timers to start. There is one Tx at a time, and no other way to
// change a State. There is no way back: what a method refuses leaves the state
// consistent, as Check has it.
//
// All methods of State only read. What they return is a copy or immutable, but for
// Ref, Registration and Opening: these stand for something in the state,
// and only methods of State and Tx look into them.
//
// Two values of the state are changed without a Tx, by the methods of a Candidate that a call
// has: how many calls are in flight in a tab (Begin, End), and where the last call of a domain
// went (Called). Both are atomic. Begin and End also change those of package agents.
//
// # What is in it
//
//	peer        a browser, or a single tab, at the far end of a connection; stays for a
//	            while, its grace, when the connection is lost
//	tab         one tab of a peer
//	domain      all that is known of one domain key
//	membership  of a tab in a domain, with the tab's number there
//	entry       one item of a domain's catalog: its public name and who has it
//	provider    a tab that has the item of an entry, with its own public name
//	binding     what a public name stands for; outlives its entry and provider
//	agents      what sessions of clients have of tabs (package agents)
//	share       what one site has of the hub's limits
//
// A tab registers items (package item): each makes the tab a member of the item's
// domain and a provider of the entry with the item's name. An item that its page, the
// user or the site's settings want cached stays in its entry when the last provider
// goes. Entries without providers or a cached item are forgotten, but the names of tools
// and prompts stay bound, so that no other item gets them.
//
// Tabs that a restart left (Restore) are hidden: they have their names and numbers,
// and calls wait for them, but no list shows them until they have come back.
package state
