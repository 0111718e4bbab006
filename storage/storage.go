package storage

import (
	"context"
	"errors"
	"slices"
	"time"

	"tabhub/spec"
)

// Errors of Write, beside StaleEpochError and those of the medium.
var (
	// ErrBacklog: the medium does not keep up and too much waits to be written.
	ErrBacklog = errors.New("too much waits to be written to the store")
	// ErrClosed: the store is closed.
	ErrClosed = errors.New("store is closed")
	// ErrInvalid: a change cannot be stored.
	ErrInvalid = errors.New("change cannot be stored")
)

// DomainToolStorage keeps what a hub must remember over a restart: tabs and what
// they offered by domain, names, tab numbers, browsers, settings and documents
// (spec/PROTOCOL.md, "Registration" and "Disconnects"). It is written behind: the hub
// answers all reads from memory. All methods are safe for concurrent use.
//
// A user has one writer at a time, the hub that called Load last. Load hands out an
// epoch, Write takes it, and no write of an older epoch is applied.
type DomainToolStorage interface {
	// Load makes the caller the user's writer, and returns all that is kept of the
	// user, in no particular order. It waits for changes queued earlier under older
	// epochs and includes them; later ones are refused, even if Load then fails. Tabs
	// last updated before stale are deleted and returned as State.Stale, except Cached
	// ones, which do not age.
	Load(ctx context.Context, user spec.UserID, stale time.Time) (*State, error)

	// Write queues changes, which are applied in order and all or none, together
	// with others (group commit). epoch is the State.Epoch of the user's last Load;
	// an older one is refused with a *StaleEpochError, one that was not handed out with
	// ErrInvalid, and other writes are not affected. Write does not block on the
	// disk. The changes and all they point to must not be modified afterwards. done,
	// if not nil, is called once, from another goroutine, after the changes are
	// synced to disk or have failed, and must not block for long. Changes that failed
	// are not tried again.
	Write(user spec.UserID, epoch spec.Epoch, changes []Change, done func(error))

	// Close writes all that is queued, syncs, calls what done functions remain and
	// closes the store. Write after Close fails with ErrClosed. It is idempotent.
	Close() error
}

// State is all that is kept of a user.
type State struct {
	// Epoch is what Write takes. It is greater than all that Load has returned for the
	// user before; only one under which nothing was written may be returned again, after
	// the store was closed or the process died.
	Epoch     spec.Epoch
	Tabs      []Tab
	Stale     []Tab // are in the store no longer
	Names     []Name
	Numbers   []Number
	Browsers  []Browser
	Sites     []Site
	Settings  []Settings
	Documents []Document
}

// Prune moves the tabs that Load calls stale to Stale, and returns their deletions,
// for the store to write.
func (s *State) Prune(stale time.Time) []Change {
	var deletions []Change
	s.Tabs = slices.DeleteFunc(s.Tabs, func(t Tab) bool {
		if t.Cached || !t.LastUpdated.Before(stale) {
			return false
		}
		s.Stale = append(s.Stale, t)
		deletions = append(deletions, DeleteTab{Domain: t.Domain, Key: t.Key})
		return true
	})
	return deletions
}
