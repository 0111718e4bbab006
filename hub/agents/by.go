package agents

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// SessionID names a session: one run of a client. The zero SessionID is no session's.
type SessionID struct {
	Client string // the ID of its credential
	ID     string // good for the client alone
}

// Short is a name for the session that can be shown: it does not give away the ID.
func (id SessionID) Short() string {
	sum := sha256.Sum256([]byte(id.Client + "\x00" + id.ID))
	return hex.EncodeToString(sum[:5])
}

// alone reports whether the session is made of requests that stand alone, without a connection
// that could end: the faces make such IDs.
func (id SessionID) alone() bool {
	return strings.HasPrefix(id.ID, "=") || strings.HasPrefix(id.ID, "~")
}

// By is on whose behalf something is looked up, done or opened. A client that is bound to
// browsers sees only the tabs of the browsers with these names, and what these left when they
// were closed. It never sees browsers without a name, nor pages that have joined by themselves.
type By struct {
	Session  SessionID
	Label    string   // the session's, for people
	Browsers []string // the names of the browsers that it is bound to; nil: it is not bound
}

// IsBound reports whether there is anything that by does not see.
func (by By) IsBound() bool { return by.Browsers != nil }

// Sees reports whether by sees the browser to which its owner has given a name, "" for none.
func (by By) Sees(browser string) bool {
	return by.Browsers == nil || browser != "" && slices.Contains(by.Browsers, browser)
}

// Bound names what by is bound to: equal for equal bindings, "" without one.
func (by By) Bound() string {
	if !by.IsBound() {
		return ""
	}
	return "=" + strings.Join(by.Browsers, ",")
}
