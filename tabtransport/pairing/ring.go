package pairing

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"tabhub/spec"
	"tabhub/storage/private"
)

// maxPerUser bounds the pairings of a user of a hub with accounts; the oldest is forgotten.
const maxPerUser = 32

// Kind says how a pairing came about.
type Kind string

// The kinds of pairing; see the package's documentation.
const (
	KindCopy    Kind = "copy"
	KindBrowser Kind = "browser"
)

// Pairing is one pairing of a hub, as its owner sees it.
type Pairing struct {
	ID      spec.PairingID `json:"id"`
	Kind    Kind           `json:"kind"`
	User    spec.UserID    `json:"user,omitempty"`
	Browser string         `json:"browser,omitempty"` // its name, for people
	Since   time.Time      `json:"since"`             // the first handshake
	Expires time.Time      `json:"expires,omitzero"`  // with the credential of the invited user
}

// ErrUnknown says that a pairing is none of this hub's, or not any more.
var ErrUnknown = errors.New("this hub does not know the pairing; `tabhub extension DIR` writes an extension that it knows, `tabhub browser pair` introduces one that is there")

// Ring is the pairings of one hub, in one file for all users or in a document for each: then
// those are known whose documents are loaded. It is safe for concurrent use. What changes a
// pairing blocks until that is kept; the rest, but for Await, does not block.
type Ring struct {
	hub  string    // the hub's id
	key  Key       // of copies, until the owner's document has one
	dir  Directory // nil: not needed
	file *set      // nil: each user has a document

	mu    sync.Mutex // never held while something is written
	users map[spec.UserID]*set
	of    map[spec.PairingID]*set // where a pairing of a document is kept, or an invitation
}

// Open reads the ring in the file at path, which it makes if there is none, for the
// hub of that id. Only one process at a time may use a Ring's methods but for Issue.
func Open(path, hub string) (*Ring, error) {
	doc, err := private.OpenDocument(path)
	if err != nil {
		return nil, fmt.Errorf("the pairings cannot be read: %w", err)
	}
	r := New(hub, nil, nil)
	r.file = newSet(state{}, doc)
	if doc.Body == nil {
		return r, r.change(r.file, state{Key: NewKey()})
	}
	if err := json.Unmarshal(doc.Body, &r.file.state); err != nil || len(r.file.state.Key) != keySize {
		return nil, fmt.Errorf("%s holds no pairings; restore it, or delete it and pair your browsers again", path)
	}
	return r, nil
}

// Hub returns the hub's id.
func (r *Ring) Hub() string { return r.hub }

// Copy is what a copy of the extension is given so that it is paired with the hub
// that wrote it.
type Copy struct {
	Pairing spec.PairingID
	Hub     string // the hub's id
	Key     Key
	// Address is where the hub is expected, a WebSocket address.
	Address string
}

// Issue pairs a copy of the extension. before is the pairing that the copy has had, ""
// if none: it is kept if it is one of this ring's.
func (r *Ring) Issue(before spec.PairingID, address string) Copy {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := state{Key: r.key}
	if s := r.setLocked(""); s != nil {
		now = s.state
	}
	id := before
	if now.isForgotten(id) || !now.isCopy(id) {
		random := strings.ToLower(rand.Text())
		id = spec.PairingID("copy." + random + "." + now.tag(random))
	}
	return Copy{Pairing: id, Hub: r.hub, Key: now.copyKey(id), Address: address}
}

// The id of a copy ends in a tag, which distinguishes a copy of another hub from one
// with a wrong key.
func (s state) tag(random string) string {
	return encoding.EncodeToString(s.Key.mac("copy id", random)[:9])
}

func (s state) isCopy(id spec.PairingID) bool {
	rest, ok := strings.CutPrefix(string(id), "copy.")
	random, tag, whole := strings.Cut(rest, ".")
	return ok && whole && s.Key != nil && hmac.Equal([]byte(tag), []byte(s.tag(random)))
}

func (s state) copyKey(id spec.PairingID) Key { return s.Key.mac("copy key", string(id)) }

// keyLocked returns the key of a pairing, nil if it is unknown, and the invitation that it
// comes from, nil if it was accepted before.
func (s *set) keyLocked(id spec.PairingID) (Key, *invitation) {
	if p := s.state.find(id); p != nil && p.Key != nil {
		return p.Key, nil
	}
	if s.state.isForgotten(id) {
		return nil, nil
	}
	if s.state.isCopy(id) {
		return s.state.copyKey(id), nil
	}
	if i := s.invitationLocked(id); i != nil {
		return i.Secret, i
	}
	return nil, nil
}

// pairing returns a pairing that has been used. The error is ErrUnknown.
func (r *Ring) pairing(id spec.PairingID) (Pairing, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.setOfLocked(id)
	if s == nil {
		return Pairing{}, ErrUnknown
	}
	p := s.state.find(id)
	if p == nil || p.Forgotten {
		return Pairing{}, ErrUnknown
	}
	return p.Pairing, nil
}

// List returns a user's pairings that have been used, the oldest first; the user is "" on a hub
// without accounts.
func (r *Ring) List(user spec.UserID) []Pairing {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := []Pairing{}
	if s := r.setLocked(user); s != nil {
		for _, p := range s.state.Pairings {
			if !p.Forgotten && p.User == user {
				list = append(list, p.Pairing)
			}
		}
	}
	slices.SortFunc(list, func(a, b Pairing) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(string(a.ID), string(b.ID)))
	})
	return list
}

// SetStarted notes whether the browser of a pairing is one that the hub has started for a
// client. There the owner's questions are not asked: the client drives it.
func (r *Ring) SetStarted(id spec.PairingID, started bool) error {
	s := r.setOf(id)
	if s == nil {
		return ErrUnknown
	}
	s.edit.Lock()
	defer s.edit.Unlock()
	next := s.state
	if slices.Contains(next.Started, id) == started {
		return nil
	}
	next.Started = slices.DeleteFunc(slices.Clone(next.Started), func(p spec.PairingID) bool { return p == id })
	if started {
		next.Started = append(next.Started, id)
	}
	return r.change(s, next)
}

// IsStarted reports what SetStarted has noted of a pairing.
func (r *Ring) IsStarted(id spec.PairingID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.setOfLocked(id)
	return s != nil && slices.Contains(s.state.Started, id)
}

// Forget ends a pairing: its connections are closed, and it is not accepted again.
// The error is ErrUnknown or why that cannot be kept.
func (r *Ring) Forget(id spec.PairingID) error {
	s := r.setOf(id)
	if s == nil {
		return ErrUnknown
	}
	s.edit.Lock()
	defer s.edit.Unlock()
	p, isCopy := s.state.find(id), s.state.isCopy(id)
	if p == nil && !isCopy || p != nil && p.Forgotten {
		return ErrUnknown
	}
	if err := r.change(s, s.state.without(id, isCopy)); err != nil {
		return err
	}
	r.revoke(s, id)
	return nil
}

// ForgetAll ends all pairings and invitations of a hub without accounts, those of copies that
// were never used as well.
func (r *Ring) ForgetAll() error {
	r.mu.Lock()
	s := r.setLocked("")
	r.mu.Unlock()
	if s == nil {
		return errUnloaded
	}
	s.edit.Lock()
	defer s.edit.Unlock()
	if err := r.change(s, state{Key: NewKey()}); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.invitations = nil
	maps.DeleteFunc(r.of, func(_ spec.PairingID, in *set) bool { return in == s })
	s.endLocked(context.Canceled)
	return nil
}
