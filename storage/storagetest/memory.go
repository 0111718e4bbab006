package storagetest

import (
	"context"
	"sync"
	"time"

	"tabhub/spec"
	"tabhub/storage"
)

// Memory is a storage.DomainToolStorage in this process's memory; what it holds goes with it.
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
	values map[storage.Key]storage.Change
}

var _ storage.DomainToolStorage = (*Memory)(nil)

// Write implements DomainToolStorage.
func (m *Memory) Write(user spec.UserID, epoch spec.Epoch, changes []storage.Change, done func(error)) {
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

func (m *Memory) applyLocked(user spec.UserID, epoch spec.Epoch, changes []storage.Change) error {
	if m.closed {
		return storage.ErrClosed
	}
	if err := storage.Validate(user, changes); err != nil {
		return err
	}
	u := m.userLocked(user)
	if err := storage.CheckEpoch(user, epoch, u.epoch); err != nil {
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
		u = &memoryUser{values: make(map[storage.Key]storage.Change)}
		m.users[id] = u
	}
	return u
}

func (u *memoryUser) apply(changes []storage.Change) {
	for _, c := range changes {
		switch c.(type) {
		case storage.DeleteTab, storage.DeleteName, storage.DeleteNumber, storage.DeleteDocument:
			delete(u.values, storage.KeyOf(c))
		default:
			u.values[storage.KeyOf(c)] = c
		}
	}
}

// Load implements DomainToolStorage.
func (m *Memory) Load(_ context.Context, user spec.UserID, stale time.Time) (*storage.State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, storage.ErrClosed
	}
	u := m.userLocked(user)
	u.epoch++
	s := &storage.State{Epoch: u.epoch}
	for _, c := range u.values {
		switch c := c.(type) {
		case storage.Tab:
			s.Tabs = append(s.Tabs, c)
		case storage.Name:
			s.Names = append(s.Names, c)
		case storage.Number:
			s.Numbers = append(s.Numbers, c)
		case storage.Browser:
			s.Browsers = append(s.Browsers, c)
		case storage.Site:
			s.Sites = append(s.Sites, c)
		case storage.Settings:
			s.Settings = append(s.Settings, c)
		case storage.Document:
			s.Documents = append(s.Documents, c)
		}
	}
	u.apply(s.Prune(stale))
	return s, nil
}

// Close implements DomainToolStorage.
func (m *Memory) Close() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.dones.Wait()
	return nil
}
