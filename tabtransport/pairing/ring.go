package pairing

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"tabhub/spec"
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
	Expires time.Time      `json:"expires,omitzero"`  // with the credential of who was invited
}

// ErrUnknown says that a pairing is none of this hub's, or not any more.
var ErrUnknown = errors.New("this hub does not know the pairing; `tabhub extension DIR` writes an extension that it knows, `tabhub pair` introduces one that is there")

// Ring is the pairings of one hub. It is safe for concurrent use. Its methods, but for
// Await, block no longer than it takes to write a small file.
type Ring struct {
	hub  string // the hub's id
	file file

	mu          sync.Mutex
	state       state
	invitations []*invitation
	valid       map[spec.PairingID]*validity
}

// Open reads the ring in the file at path, which it makes if there is none, for the
// hub of that id. Only one process at a time may use a Ring's methods but for Issue.
func Open(path, hub string) (*Ring, error) {
	r := &Ring{
		hub: hub, file: file(path),
		valid: make(map[spec.PairingID]*validity),
	}
	var err error
	r.state, err = r.file.read()
	if errors.Is(err, errNone) {
		r.state = state{Key: newKey()}
		err = r.file.write(r.state)
	}
	if err != nil {
		return nil, err
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
	id := before
	if r.state.isForgotten(id) || !r.isCopyLocked(id) {
		random := strings.ToLower(rand.Text())
		id = spec.PairingID("copy." + random + "." + r.tagLocked(random))
	}
	return Copy{Pairing: id, Hub: r.hub, Key: r.copyKeyLocked(id), Address: address}
}

// The id of a copy ends in a tag, so that a copy of another hub is told apart from one
// whose key is wrong.
func (r *Ring) tagLocked(random string) string {
	return encoding.EncodeToString(r.state.Key.mac("copy id", random)[:9])
}

func (r *Ring) isCopyLocked(id spec.PairingID) bool {
	rest, ok := strings.CutPrefix(string(id), "copy.")
	random, tag, whole := strings.Cut(rest, ".")
	return ok && whole && hmac.Equal([]byte(tag), []byte(r.tagLocked(random)))
}

func (r *Ring) copyKeyLocked(id spec.PairingID) Key {
	return r.state.Key.mac("copy key", string(id))
}

// keyLocked returns the key of a pairing, nil if it is unknown, and the invitation that it
// comes from, nil if it was accepted before.
func (r *Ring) keyLocked(id spec.PairingID) (Key, *invitation) {
	if p := r.state.find(id); p != nil && p.Key != nil {
		return p.Key, nil
	}
	if r.state.isForgotten(id) {
		return nil, nil
	}
	if r.isCopyLocked(id) {
		return r.copyKeyLocked(id), nil
	}
	if i := r.invitationLocked(id); i != nil {
		return i.Secret, i
	}
	return nil, nil
}

// pairing returns a pairing that has been used. The error is ErrUnknown.
func (r *Ring) pairing(id spec.PairingID) (Pairing, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.state.find(id)
	if p == nil || p.Forgotten {
		return Pairing{}, ErrUnknown
	}
	return p.Pairing, nil
}

// List returns the pairings that have been used, the oldest first.
func (r *Ring) List() []Pairing {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := []Pairing{}
	for _, p := range r.state.Pairings {
		if !p.Forgotten {
			list = append(list, p.Pairing)
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
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.state.Started, id) == started {
		return nil
	}
	next := r.state
	next.Started = slices.DeleteFunc(slices.Clone(next.Started), func(p spec.PairingID) bool { return p == id })
	if started {
		next.Started = append(next.Started, id)
	}
	return r.saveLocked(next)
}

// IsStarted reports what SetStarted has noted of a pairing.
func (r *Ring) IsStarted(id spec.PairingID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.state.Started, id)
}

// Forget ends a pairing: who came in with it is cut off, and it is not taken again.
// The error is ErrUnknown or that of the file.
func (r *Ring) Forget(id spec.PairingID) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.state.find(id)
	if p == nil && !r.isCopyLocked(id) || p != nil && p.Forgotten {
		return ErrUnknown
	}
	if err := r.saveLocked(r.state.without(id, r.isCopyLocked(id))); err != nil {
		return err
	}
	r.revokeLocked(id)
	return nil
}

// ForgetAll ends all pairings and invitations, those of copies that were never used as well.
func (r *Ring) ForgetAll() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.saveLocked(state{Key: newKey()}); err != nil {
		return err
	}
	r.invitations = nil
	for id := range r.valid {
		r.revokeLocked(id)
	}
	return nil
}

// saveLocked makes s the state once it is in the file.
func (r *Ring) saveLocked(s state) error {
	if err := r.file.write(s); err != nil {
		return err
	}
	r.state = s
	return nil
}
