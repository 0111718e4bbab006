package pairing

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"tabhub/spec"
	"tabhub/storage/private"
)

// file is where a ring is kept. It is readable for its owner alone.
type file string

// state is what the file holds, or a document of a user's. It is immutable.
type state struct {
	Key      Key      `json:"key,omitempty"` // of which the keys of copies are derived; nil: there are none
	Pairings []record `json:"pairings,omitempty"`
	// Started are those of browsers that the hub has started for a client.
	Started []spec.PairingID `json:"started,omitempty"`
}

// record is a pairing that has been used, or forgotten.
type record struct {
	Pairing
	Key       Key  `json:"key,omitempty"` // of a browser
	Forgotten bool `json:"forgotten,omitempty"`
}

// MarshalText implements encoding.TextMarshaler, as String.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler, as ParseKey.
func (k *Key) UnmarshalText(text []byte) error {
	var err error
	*k, err = ParseKey(string(text))
	return err
}

func (s state) find(id spec.PairingID) *record {
	i := slices.IndexFunc(s.Pairings, func(p record) bool { return p.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Pairings[i]
}

func (s state) isForgotten(id spec.PairingID) bool {
	p := s.find(id)
	return p != nil && p.Forgotten
}

// with returns the state with another pairing, and without those that have expired.
func (s state) with(p record) state {
	rest := slices.DeleteFunc(slices.Clone(s.Pairings), func(p record) bool { return p.expired() })
	s.Pairings = append(rest, p)
	return s
}

func (p Pairing) expired() bool { return !p.Expires.IsZero() && time.Now().After(p.Expires) }

// without returns the state with a pairing forgotten. Of a copy it is kept that it is: its
// key can still be derived.
func (s state) without(id spec.PairingID, isCopy bool) state {
	rest := slices.DeleteFunc(slices.Clone(s.Pairings), func(p record) bool { return p.ID == id })
	if isCopy {
		rest = append(rest, record{Pairing: Pairing{ID: id, Kind: KindCopy, Since: time.Now()}, Forgotten: true})
	}
	s.Pairings = rest
	return s
}

// oldestOf returns a user's oldest pairing if they have more than they may.
func (s state) oldestOf(user spec.UserID) (id spec.PairingID, full bool) {
	var oldest *record
	n := 0
	for i := range s.Pairings {
		if p := &s.Pairings[i]; p.User == user {
			if n++; oldest == nil || p.Since.Before(oldest.Since) {
				oldest = p
			}
		}
	}
	if n <= maxPerUser {
		return "", false
	}
	return oldest.ID, true
}

// errNone says that there is no file yet.
var errNone = errors.New("there are no pairings yet")

// read returns what the file holds.
func (f file) read() (state, error) {
	var s state
	err := private.ReadJSON(string(f), &s)
	if errors.Is(err, fs.ErrNotExist) {
		return s, errNone
	}
	if _, ok := errors.AsType[*private.FormatError](err); ok || err == nil && len(s.Key) != keySize {
		return s, fmt.Errorf("%s holds no pairings; restore it, or delete it and pair your browsers again", f)
	}
	if err != nil {
		return s, fmt.Errorf("the pairings cannot be read: %w", err)
	}
	return s, nil
}

// write replaces the file as a whole. A browser counts on what it has been told, so the
// file is on the disk then.
func (f file) write(s state) error {
	if err := private.WriteJSON(string(f), s, true); err != nil {
		return fmt.Errorf("the pairings cannot be written: %w", err)
	}
	return nil
}
