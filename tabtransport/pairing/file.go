package pairing

import (
	"slices"
	"time"

	"tabhub/spec"
)

// state is what the ring's file holds, or a document of a user's. It is immutable.
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
