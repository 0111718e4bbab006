package state

import "time"

// SessionID names a session: one run of a client, which is what has tabs of its own. The zero
// SessionID is that of nobody in particular.
type SessionID struct {
	Client string // the ID of its credential
	ID     string // good for the client alone
}

// By is on whose behalf something is looked for, done or opened.
type By struct {
	Session  SessionID
	Browsers []string // the names of the browsers that it is bound to; nil: to none
}

// Holder is who has leased a tab.
type Holder struct {
	Session SessionID
	Name    string    // for people
	Until   time.Time // unless the holder calls before
	Reads   bool      // others may read what the tab shows
}
