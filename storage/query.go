package storage

import (
	"time"

	"tabhub/spec"
)

// Query selects records. The zero value selects the newest 100.
type Query struct {
	Limit  int // 0 means 100
	Event  Event
	Domain spec.Domain
	Tool   string
	Since  time.Time
}

// Max returns how many records q selects at most.
func (q *Query) Max() int {
	if q.Limit <= 0 {
		return 100
	}
	return q.Limit
}

// Match reports whether q selects r, as far as that does not depend on others.
func (q *Query) Match(r *Record) bool {
	return (q.Event == "" || q.Event == r.Event) &&
		(q.Domain == "" || q.Domain == r.Domain) &&
		(q.Tool == "" || q.Tool == r.Tool) &&
		!r.Time.Before(q.Since)
}
