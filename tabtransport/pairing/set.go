package pairing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"tabhub/spec"
	"tabhub/storage/private"
	"tabhub/tabtransport"
)

// Directory knows which user a pairing or an invitation is of, so that a browser finds the
// user's hub. It proves nothing. Its methods are safe for concurrent use, and block until it is
// changed.
type Directory interface {
	// Hint adds one until it ends, which is never if until is zero.
	Hint(id string, user spec.UserID, until time.Time) error
	// Forget takes one out.
	Forget(id string)
}

// New returns the ring of the hub of that id, with the pairings of users whose documents are
// loaded. Its copies, which only a hub without accounts has, have keys derived of key. dir, if
// not nil, learns which users the others are of.
func New(hub string, key Key, dir Directory) *Ring {
	return &Ring{hub: hub, key: key, dir: dir, users: make(map[spec.UserID]*set), of: make(map[spec.PairingID]*set)}
}

// set is what is kept together: the pairings of all users, or those of one.
type set struct {
	doc private.Document

	// edit is held for changes of state. What it guards is replaced with Ring.mu held as
	// well, so either is enough to read it.
	edit   sync.Mutex
	state  state
	closed bool // by Unload

	// Guarded by Ring.mu; an invitation is accepted with edit held as well.
	invitations []*invitation
	valid       map[spec.PairingID]*validity
}

func newSet(now state, doc private.Document) *set {
	return &set{doc: doc, state: now, valid: make(map[spec.PairingID]*validity)}
}

// errUnloaded says that a user's pairings are not known here (any more).
var errUnloaded = fmt.Errorf("the pairings cannot be changed here: %w", tabtransport.ErrGoingAway)

// Load makes a user's pairings known that are in doc, and has them kept there; the user is ""
// on a hub without accounts. The user has been loaded no more than once, but for what was
// unloaded.
func (r *Ring) Load(user spec.UserID, doc private.Document) error {
	var now state
	if doc.Body != nil {
		if err := json.Unmarshal(doc.Body, &now); err != nil {
			return fmt.Errorf("the pairings of user %q cannot be read: %w", user, err)
		}
	}
	for _, p := range now.Pairings {
		if p.User != user {
			return fmt.Errorf("the pairings of user %q cannot be read: one is user %q's", user, p.User)
		}
	}
	switch {
	case user != "":
		now.Key = nil // copies belong to no user
	case now.Key == nil:
		now.Key = r.key
	}
	s := newSet(now, doc)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.users[user] = s
	for _, p := range now.Pairings {
		r.of[p.ID] = s
	}
	return nil
}

// Unload forgets a user's pairings and invitations. Browsers connected with one are closed with
// CloseGoingAway, and until the next Load nothing of the user changes.
func (r *Ring) Unload(user spec.UserID) {
	r.mu.Lock()
	s := r.users[user]
	r.mu.Unlock()
	if s == nil {
		return
	}
	s.edit.Lock()
	defer s.edit.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	s.closed = true
	delete(r.users, user)
	for _, p := range s.state.Pairings {
		delete(r.of, p.ID)
	}
	for _, i := range s.invitations {
		delete(r.of, i.Pairing)
		close(i.accepted) // Await finds s closed
	}
	s.invitations = nil
	s.endLocked(tabtransport.ErrGoingAway)
}

// setLocked returns where a user's pairings are kept, nil if they are not known here.
func (r *Ring) setLocked(user spec.UserID) *set {
	if r.file != nil {
		return r.file
	}
	return r.users[user]
}

// setOfLocked returns the set of a pairing, known or not: a copy's is the owner's. It is nil if
// no user here can have the pairing.
func (r *Ring) setOfLocked(id spec.PairingID) *set {
	if s := r.of[id]; s != nil {
		return s
	}
	return r.setLocked("")
}

func (r *Ring) setOf(id spec.PairingID) *set {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.setOfLocked(id)
}

// change makes next the state of s once it is kept. The caller holds s.edit.
func (r *Ring) change(s *set, next state) error {
	if s.closed {
		return errUnloaded
	}
	// The browser relies on the answer.
	if err := s.doc.Write(next, true); err != nil {
		return fmt.Errorf("the pairings cannot be written: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range s.state.Pairings {
		delete(r.of, p.ID)
	}
	for _, p := range next.Pairings {
		r.of[p.ID] = s
	}
	s.state = next
	return nil
}

// hint tells the directory which user a pairing is of.
func (r *Ring) hint(id spec.PairingID, user spec.UserID, until time.Time) error {
	if r.dir == nil || user == "" {
		return nil // all are the owner's
	}
	if err := r.dir.Hint(string(id), user, until); err != nil {
		return errors.Join(errors.New("no other process would find the pairing"), err)
	}
	return nil
}

func (r *Ring) forgetHint(id spec.PairingID) {
	if r.dir != nil {
		r.dir.Forget(string(id))
	}
}

// validity ends when a pairing is forgotten, or its user is unloaded.
type validity struct {
	ctx context.Context
	end context.CancelCauseFunc
}

// validLocked returns the context of a pairing's validity.
func (s *set) validLocked(id spec.PairingID) context.Context {
	v := s.valid[id]
	if v == nil {
		v = new(validity)
		v.ctx, v.end = context.WithCancelCause(context.Background())
		s.valid[id] = v
	}
	return v.ctx
}

// revoke ends what was begun with a pairing that was forgotten.
func (r *Ring) revoke(s *set, id spec.PairingID) {
	r.mu.Lock()
	if v := s.valid[id]; v != nil {
		v.end(context.Canceled)
		delete(s.valid, id)
	}
	r.mu.Unlock()
	r.forgetHint(id)
}

// endLocked ends what was begun with all pairings.
func (s *set) endLocked(cause error) {
	for _, v := range s.valid {
		v.end(cause)
	}
	clear(s.valid)
}
