package storage

// defaultLimit is how many records a Query selects that does not say.
const defaultLimit = 100

func (q *Query) limit() int {
	if q.Limit <= 0 {
		return defaultLimit
	}
	return q.Limit
}

// match reports whether q selects r.
func (q *Query) match(r *Record) bool {
	return (q.Event == "" || q.Event == r.Event) &&
		(q.Domain == "" || q.Domain == r.Domain) &&
		(q.Tool == "" || q.Tool == r.Tool) &&
		!r.Time.Before(q.Since)
}
