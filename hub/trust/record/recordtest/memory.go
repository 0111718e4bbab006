// Package recordtest has a log in memory, for tests of others.
package recordtest

import (
	"sync"

	"tabhub/hub/trust/record"
)

// Memory is a record.Log that can be looked into. The zero value is empty. It is safe for
// concurrent use.
type Memory struct {
	mu    sync.Mutex
	lines []record.Line
}

// Append implements record.Log.
func (m *Memory) Append(e record.Entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, record.Line{N: uint64(len(m.lines) + 1), Entry: e})
}

// Entries returns the entries that q selects, oldest first.
func (m *Memory) Entries(q record.Query) []record.Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []record.Entry
	for i := range m.lines {
		if q.Match(&m.lines[i]) {
			found = append(found, m.lines[i].Entry)
		}
	}
	if q.Limit > 0 {
		found = found[max(0, len(found)-q.Limit):]
	}
	return found
}
