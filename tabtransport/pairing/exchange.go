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

// Grant is what a pairing gives to who has proved it.
type Grant struct {
	Pairing spec.PairingID
	User    spec.UserID // "" for the owner of a hub without accounts
	Expires time.Time   // zero: never
	Revoked context.Context
}

// Exchange is a handshake that has begun. It is used by one goroutine.
type Exchange struct {
	ring       *Ring
	transcript Transcript
	key        Key
}

// Begin answers the first message of a handshake. address is where it came in, as the
// hub knows by itself. The error is ErrUnknown.
func (r *Ring) Begin(m *spec.Pair, address string) (*Exchange, error) {
	r.mu.Lock()
	key, _ := r.keyLocked(m.Pairing)
	r.mu.Unlock()
	if key == nil {
		return nil, ErrUnknown
	}
	return &Exchange{
		ring: r, key: key,
		transcript: Transcript{Pairing: m.Pairing, Hub: r.hub, Address: address, BrowserNonce: m.Nonce, HubNonce: NewNonce()},
	}, nil
}

// Result is what the browser is answered.
func (e *Exchange) Result() spec.PairResult {
	return spec.PairResult{Hub: e.transcript.Hub, Nonce: e.transcript.HubNonce, Proof: e.transcript.HubProof(e.key)}
}

// Accept checks what the browser shows in return; browser is its name. The first
// handshake of a pairing is recorded. The error is ErrProof or ErrUnknown, or that of
// the file.
func (e *Exchange) Accept(proof, browser string) (Grant, error) {
	if !hmac.Equal([]byte(proof), []byte(e.transcript.BrowserProof(e.key))) {
		return Grant{}, ErrProof
	}
	r, id := e.ring, e.transcript.Pairing
	r.mu.Lock()
	defer r.mu.Unlock()
	// The pairing may have been forgotten, or the invitation accepted by another, since Begin.
	key, invited := r.keyLocked(id)
	if !hmac.Equal(key, e.key) {
		return Grant{}, ErrUnknown
	}
	now := time.Now()
	p := record{Pairing: Pairing{ID: id, Kind: KindCopy, Browser: browser, Since: now}}
	if invited != nil {
		p.Kind, p.User, p.Expires, p.Key = KindBrowser, invited.user, invited.expires, e.transcript.NextKey(invited.Secret)
	}
	if known := r.state.find(id); known != nil {
		p = *known
	} else {
		next := r.state.with(p)
		oldest, full := next.oldestOf(p.User)
		if full = full && p.User != ""; full {
			next = next.without(oldest, false)
		}
		if err := r.saveLocked(next); err != nil {
			return Grant{}, err
		}
		if full {
			r.revokeLocked(oldest)
		}
		r.invitations = slices.DeleteFunc(r.invitations, func(i *invitation) bool { return i == invited })
		if invited != nil {
			close(invited.accepted)
		}
	}
	if p.expired() {
		return Grant{}, ErrUnknown
	}
	return Grant{Pairing: id, User: p.User, Expires: p.Expires, Revoked: r.validLocked(id)}, nil
}

// validLocked returns a context that ends when the pairing is forgotten.
func (r *Ring) validLocked(id spec.PairingID) context.Context {
	v := r.valid[id]
	if v == nil {
		v = new(validity)
		v.ctx, v.cancel = context.WithCancel(context.Background())
		r.valid[id] = v
	}
	return v.ctx
}

func (r *Ring) revokeLocked(id spec.PairingID) {
	if v := r.valid[id]; v != nil {
		v.cancel()
		delete(r.valid, id)
	}
}

// validity ends when a pairing is forgotten.
type validity struct {
	ctx    context.Context
	cancel context.CancelFunc
}
