// Package recordtest has a log in memory, for tests of others.
package recordtest

import (
	"sync"

	"tabhub/hub/record"
)

// Memory is a record.Log and its Reader. The zero value is empty. It is safe for concurrent
// use.
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

// Read implements record.Reader.
func (m *Memory) Read(q record.Query) ([]record.Line, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []record.Line
	for i := range m.lines {
		if q.Match(&m.lines[i]) {
			found = append(found, m.lines[i])
		}
	}
	if q.Limit > 0 && len(found) > q.Limit {
		found = found[len(found)-q.Limit:]
	}
	return found, nil
}

// Status implements record.Reader.
func (m *Memory) Status() record.Status { return record.Status{} }

// Entries returns the entries that q selects, oldest first.
func (m *Memory) Entries(q record.Query) []record.Entry {
	lines, _ := m.Read(q)
	var entries []record.Entry
	for _, l := range lines {
		entries = append(entries, l.Entry)
	}
	return entries
}
