package consent

import (
	"time"

	"tabhub/hub/policy"
	"tabhub/hub/record"
)

// Entry returns the entry of something that is done on c's behalf, for the caller to
// complete.
func (c *Caller) Entry(event record.Event, start time.Time) record.Entry {
	name := c.Who.Name
	switch c.Who {
	case policy.Owner, policy.Token, policy.Unnamed: // which is none that its owner has given
		name = ""
	}
	return record.Entry{
		Time: start, Event: event, Client: c.Who.ID, Name: name, Said: c.Said, Session: c.Session, Via: c.Via,
		Duration: time.Since(start),
	}
}
