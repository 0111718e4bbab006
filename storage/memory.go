package storage

import (
	"context"
	"slices"
	"sync"
	"time"

	"tabhub/spec"
)

// Memory is a DomainToolStorage in this process's memory; what it holds goes with it.
// The zero value is an empty store.
type Memory struct {
	dones sync.WaitGroup

	mu     sync.Mutex
	closed bool
	users  map[spec.UserID]*memoryUser
}

// memoryUser is what a Memory keeps of one user.
type memoryUser struct {
	epoch  spec.Epoch // handed out last
	values map[Key]Change
	log    []Record
}

var _ DomainToolStorage = (*Memory)(nil)

// Write implements DomainToolStorage.
func (m *Memory) Write(user spec.UserID, epoch spec.Epoch, changes []Change, done func(error)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.applyLocked(user, epoch, changes)
	switch {
	case done == nil:
	case m.closed: // Close waits for dones no more
		go done(err)
	default:
		m.dones.Go(func() { done(err) })
	}
}

func (m *Memory) applyLocked(user spec.UserID, epoch spec.Epoch, changes []Change) error {
	if m.closed {
		return ErrClosed
	}
	if err := Validate(user, changes); err != nil {
		return err
	}
	u := m.userLocked(user)
	if err := checkEpoch(user, epoch, u.epoch); err != nil {
		return err
	}
	u.apply(changes)
	return nil
}

func (m *Memory) userLocked(id spec.UserID) *memoryUser {
	u := m.users[id]
	if u == nil {
		if m.users == nil {
			m.users = make(map[spec.UserID]*memoryUser)
		}
		u = &memoryUser{values: make(map[Key]Change)}
		m.users[id] = u
	}
	return u
}

func (u *memoryUser) apply(changes []Change) {
	for _, c := range changes {
		switch c := c.(type) {
		case Record:
			// Cut rarely, so that a record does not cost a copy of the log.
			if len(u.log) >= 2*MaxRecords {
				u.log = slices.Clone(u.log[len(u.log)-MaxRecords+1:])
			}
			u.log = append(u.log, c)
		case DeleteTab, DeleteName, DeleteNumber:
			delete(u.values, KeyOf(c))
		default:
			u.values[KeyOf(c)] = c
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
	u := m.userLocked(user)
	u.epoch++
	s := &State{Epoch: u.epoch}
	for _, c := range u.values {
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
	u.apply(s.Prune(stale))
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
	newest := u.log[max(0, len(u.log)-MaxRecords):]
	for i := len(newest) - 1; i >= 0 && len(found) < q.Max(); i-- {
		if q.Match(&newest[i]) {
			found = append(found, newest[i])
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
