package consent

import (
	"time"

	"tabhub/hub/record"
)

// Entry returns the entry of something that is done on c's behalf, for the caller to
// complete.
func (c *Caller) Entry(event record.Event, start time.Time) record.Entry {
	return record.Entry{
		Time: start, Event: event, Client: c.Who.ID, Name: c.Who.Name, Said: c.Said, Session: c.Session, Via: c.Via,
		Duration: time.Since(start),
	}
}
