package consent

import (
	"sync"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
)

// Entry returns a record entry for c, for its caller to complete.
func (c *Caller) Entry(event record.Event, start time.Time) record.Entry {
	name := c.Principal.Name
	switch c.Principal {
	case policy.Owner, policy.Token, policy.Unnamed: // their names are the hub's
		name = ""
	}
	return record.Entry{
		Time: start, Event: event, Client: c.Principal.ID, Name: name, Said: c.Said, Session: c.Session, Via: c.Via,
		Duration: time.Since(start),
	}
}

// note is the record of a request that is being made.
type note struct {
	mu    sync.Mutex
	entry *record.Entry
}

// Noted returns c with e as the record of the request, which Note changes until the request
// has ended.
func (c *Caller) Noted(e *record.Entry) *Caller {
	noted := *c
	noted.note = &note{entry: e}
	return &noted
}

// Note calls change with the record of the request, if there is one. It is safe for concurrent use.
func (c *Caller) Note(change func(e *record.Entry)) {
	if n := c.note; n != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		change(n.entry)
	}
}
