package pairing

import (
	"context"
	"crypto/hmac"
	"errors"
	"slices"
	"time"

	"tabhub/spec"
)

// ErrProof says that a browser's proof is not that of its pairing's key.
var ErrProof = errors.New("the proof is not that of the pairing's key")

// Credential is what a browser gets for the proof of its pairing.
type Credential struct {
	Pairing spec.PairingID
	User    spec.UserID // "" for the owner of a hub without accounts
	Expires time.Time   // zero: never
	Revoked context.Context
}

// Exchange is a handshake that has begun. It is used by one goroutine.
type Exchange struct {
	ring       *Ring
	set        *set
	transcript Transcript
	key        Key
}

// Begin answers the first message of a handshake. address is where it came in, as the
// hub knows by itself. The error is ErrUnknown.
func (r *Ring) Begin(m *spec.Pair, address string) (*Exchange, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.setOfLocked(m.Pairing)
	if s == nil {
		return nil, ErrUnknown
	}
	key, _ := s.keyLocked(m.Pairing)
	if key == nil {
		return nil, ErrUnknown
	}
	return &Exchange{
		ring: r, set: s, key: key,
		transcript: Transcript{Pairing: m.Pairing, Hub: r.hub, Address: address, BrowserNonce: m.Nonce, HubNonce: NewNonce()},
	}, nil
}

// Result is what the browser is answered.
func (e *Exchange) Result() spec.PairResult {
	return spec.PairResult{Hub: e.transcript.Hub, Nonce: e.transcript.HubNonce, Proof: e.transcript.HubProof(e.key)}
}

// Accept checks what the browser shows in return; browser is its name. The first
// handshake of a pairing is recorded. The error is ErrProof or ErrUnknown, or why the pairing
// cannot be kept.
func (e *Exchange) Accept(proof, browser string) (Credential, error) {
	if !hmac.Equal([]byte(proof), []byte(e.transcript.BrowserProof(e.key))) {
		return Credential{}, ErrProof
	}
	s := e.set
	s.edit.Lock()
	defer s.edit.Unlock()
	if s.closed {
		return Credential{}, errUnloaded
	}
	p, err := e.pairing(browser)
	if err != nil {
		return Credential{}, err
	}
	if p.expired() {
		return Credential{}, ErrUnknown
	}
	e.ring.mu.Lock()
	defer e.ring.mu.Unlock()
	return Credential{Pairing: p.ID, User: p.User, Expires: p.Expires, Revoked: s.validLocked(p.ID)}, nil
}

// pairing returns the pairing that was proved, which it records if it is new.
func (e *Exchange) pairing(browser string) (Pairing, error) {
	r, s, id := e.ring, e.set, e.transcript.Pairing
	// The pairing may have been forgotten, or the invitation accepted by another, since Begin.
	r.mu.Lock()
	key, invited := s.keyLocked(id)
	r.mu.Unlock()
	if !hmac.Equal(key, e.key) {
		return Pairing{}, ErrUnknown
	}
	if known := s.state.find(id); known != nil {
		return known.Pairing, nil
	}
	p := record{Pairing: Pairing{ID: id, Kind: KindCopy, Browser: browser, Since: time.Now()}}
	if invited != nil {
		p.Kind, p.User, p.Expires, p.Key = KindBrowser, invited.user, invited.expires, e.transcript.NextKey(invited.Secret)
		if err := r.hint(id, p.User, p.Expires); err != nil {
			return Pairing{}, err
		}
	}
	next := s.state.with(p)
	oldest, full := next.oldestOf(p.User)
	if full = full && p.User != ""; full {
		next = next.without(oldest, false)
	}
	if err := r.change(s, next); err != nil {
		return Pairing{}, err
	}
	if full {
		r.revoke(s, oldest)
	}
	if invited != nil {
		r.mu.Lock()
		s.invitations = slices.DeleteFunc(s.invitations, func(i *invitation) bool { return i == invited })
		r.mu.Unlock()
		close(invited.accepted)
	}
	return p.Pairing, nil
}
