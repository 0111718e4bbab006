package record

import (
	"time"

	"tabhub/spec"
)

// Line is a line of the record.
type Line struct {
	N    uint64 `json:"n"`             // 1, 2, 3 …
	Prev Hash   `json:"prev,omitzero"` // of the line before it
	Entry
	Note *Note `json:"note,omitempty"` // of the event Self alone

	sum Hash // of arguments that Args no longer has
}

// Note is what the log says of itself. One field at least is set.
type Note struct {
	// User is whose record it is. It is in the first line of each epoch, and where one goes on
	// behind lines of another.
	User spec.UserID `json:"user,omitempty"`
	// Late is the node of which the lines are, up to the next note with User: it could not write
	// them before another has written for the user. They have the time of what happened.
	Late string `json:"late,omitempty"`
	// Torn is how many bytes of an unfinished last line of the epoch before were cut off.
	Torn int `json:"torn,omitempty"`
	// Missing is how many lines before this one the head had, and the files had not.
	Missing uint64 `json:"missing,omitempty"`
	// Lost are entries that could not be written.
	Lost *Lost `json:"lost,omitempty"`
	// Unsynced is the first of the lines before this one that a crash of the machine may
	// have taken, because the disk has not confirmed them.
	Unsynced uint64 `json:"unsynced,omitempty"`
	// Retired is the last of the lines that were removed for their age, or to make room.
	Retired *Head `json:"retired,omitempty"`
	// Why is the error that it is because of.
	Why string `json:"why,omitempty"`
}

// Lost counts entries that could not be written.
type Lost struct {
	Count uint64    `json:"count"`
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
}

// Status is how a log is.
type Status struct {
	// Error says why nothing can be written now, "" if it can.
	Error string `json:"error,omitempty"`
	// Lost is how many entries could not be written since the log was opened.
	Lost uint64 `json:"lost,omitempty"`
}
