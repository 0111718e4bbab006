package record

import "tabhub/spec"

// Line is a line of the record.
type Line struct {
	N uint64 `json:"n"` // 1, 2, 3 …
	// Prev is the SHA-256, in hex, of the line before it, without the line feed; "" of the
	// first one.
	Prev string `json:"prev,omitempty"`
	Entry
	Log *Note `json:"log,omitempty"` // of the event Self alone
}

// Note is what the log says of itself.
type Note struct {
	User spec.UserID `json:"user,omitempty"` // whose it is
}

// Reader reads the record. Its methods may be called by many at once, and while there is
// more appended.
type Reader interface {
	// Read returns the lines that q selects, oldest first.
	Read(q Query) ([]Line, error)
	Status() Status
}

// Status is how a log is.
type Status struct {
	// Error says why nothing can be written now, "" if it can.
	Error string `json:"error,omitempty"`
	// Lost is how many entries could not be written since the log was opened.
	Lost uint64 `json:"lost,omitempty"`
}
