package storage

import (
	"context"
	"slices"
	"sync"
	"time"

	"tabhub/spec"
)

// Memory is a DomainToolStorage that forgets all when the process ends. The zero
// value is an empty store.
type Memory struct {
	dones sync.WaitGroup

	mu     sync.Mutex
	closed bool
	users  map[spec.UserID]*memoryUser
}

// memoryUser is what a Memory keeps of one user.
type memoryUser struct {
	kept map[changeKey]Change
	log  []Record
}

var _ DomainToolStorage = (*Memory)(nil)

// Write implements DomainToolStorage. Besides nil, done may get ErrClosed and
// ErrInvalid.
func (m *Memory) Write(user spec.UserID, changes []Change, done func(error)) {
	err := validate(user, changes)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		if done != nil {
			go done(ErrClosed)
		}
		return
	case err == nil:
		m.user(user).apply(changes)
	}
	if done != nil {
		m.dones.Go(func() { done(err) })
	}
}

func (m *Memory) user(id spec.UserID) *memoryUser {
	u := m.users[id]
	if u == nil {
		if m.users == nil {
			m.users = make(map[spec.UserID]*memoryUser)
		}
		u = &memoryUser{kept: make(map[changeKey]Change)}
		m.users[id] = u
	}
	return u
}

func (u *memoryUser) apply(changes []Change) {
	for _, c := range changes {
		switch c := c.(type) {
		case Record:
			// Cut rarely, so that a record does not cost a copy of the log.
			if len(u.log) >= 2*DefaultLogRecords {
				u.log = slices.Clone(u.log[len(u.log)-DefaultLogRecords+1:])
			}
			u.log = append(u.log, c)
		case DeleteTab, DeleteName, DeleteNumber:
			delete(u.kept, keyOf(c))
		default:
			u.kept[keyOf(c)] = c
		}
	}
}

// Load implements DomainToolStorage.
func (m *Memory) Load(_ context.Context, user spec.UserID, stale time.Time) (*State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	s := &State{}
	u := m.users[user]
	if u == nil {
		return s, nil
	}
	for _, c := range u.kept {
		switch c := c.(type) {
		case Tab:
			s.Tabs = append(s.Tabs, c)
		case Name:
			s.Names = append(s.Names, c)
		case Number:
			s.Numbers = append(s.Numbers, c)
		case Browser:
			s.Browsers = append(s.Browsers, c)
		case Site:
			s.Sites = append(s.Sites, c)
		}
	}
	u.apply(s.prune(stale))
	return s, nil
}

// Records implements DomainToolStorage.
func (m *Memory) Records(_ context.Context, user spec.UserID, q Query) ([]Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	u := m.users[user]
	if u == nil {
		return nil, nil
	}
	var found []Record
	kept := u.log[max(0, len(u.log)-DefaultLogRecords):]
	for i := len(kept) - 1; i >= 0 && len(found) < q.limit(); i-- {
		if q.match(&kept[i]) {
			found = append(found, kept[i])
		}
	}
	return found, nil
}

// Close implements DomainToolStorage.
func (m *Memory) Close() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.dones.Wait()
	return nil
}
