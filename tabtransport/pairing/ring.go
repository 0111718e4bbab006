package pairing

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"tabhub/spec"
)

// OfferLife is how long an Offer can be taken.
const OfferLife = 5 * time.Minute

// maxPerUser bounds the pairings of a user of a hub with accounts; the oldest is forgotten.
const maxPerUser = 32

// maxOffers bounds the offers of a user that can be taken at one time; the oldest give
// way.
const maxOffers = 16

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
	Expires time.Time      `json:"expires,omitzero"`  // with the credential that it was offered to
}

// Grant is what a pairing gives to who has proved it.
type Grant struct {
	Pairing spec.PairingID
	User    spec.UserID // "" for the owner of a hub without accounts
	Expires time.Time   // zero: never
	Revoked context.Context
}

// ErrUnknown says that a pairing is none of this hub's, or not any more.
var ErrUnknown = errors.New("this hub does not know the pairing; `tabhub extension DIR` writes an extension that it knows, `tabhub pair` introduces one that is there")

// ErrProof says that a browser's proof is not that of its pairing's key.
var ErrProof = errors.New("the proof is not that of the pairing's key")

// Ring is the pairings of one hub. It is safe for concurrent use; its methods block
// for no longer than it takes to write a small file.
type Ring struct {
	hub  string // the hub's id
	file file

	mu     sync.Mutex
	state  state
	offers []*offer
	valid  map[spec.PairingID]*validity
}

// offer is an Offer that can be taken.
type offer struct {
	Offer
	user    spec.UserID
	expires time.Time     // of the pairing that comes of it
	taken   chan struct{} // closed when it is
}

// validity ends when a pairing is forgotten.
type validity struct {
	ctx    context.Context
	cancel context.CancelFunc
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

// Offer is what introduces a browser to the hub.
type Offer struct {
	Pairing spec.PairingID
	Secret  Key
	Until   time.Time
}

// Text is what a browser is given of the offer, in the fragment of an address.
func (o Offer) Text() string {
	return fmt.Sprintf("%s.%s.%d", o.Pairing, o.Secret, o.Until.Unix())
}

// Code is what both sides show to the owner, who sees that they mean the same offer.
func (o Offer) Code() string {
	mac := o.Secret.mac("code", string(o.Pairing))
	n := (int(mac[0])<<16 | int(mac[1])<<8 | int(mac[2])) % 1_000_000
	return fmt.Sprintf("%03d %03d", n/1000, n%1000)
}

// Offer makes an offer, which can be taken once. What comes of it is the user's, and
// ends at expires, if that is not zero.
func (r *Ring) Offer(user spec.UserID, expires time.Time) Offer {
	now := time.Now()
	o := &offer{
		Offer: Offer{Pairing: spec.PairingID("browser." + strings.ToLower(rand.Text())), Secret: newKey()[:16], Until: now.Add(OfferLife)},
		user:  user, expires: expires, taken: make(chan struct{}),
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.offers = slices.DeleteFunc(r.offers, func(o *offer) bool { return now.After(o.Until) })
	first, n := 0, 0
	for i, other := range r.offers {
		if other.user != user {
			continue
		}
		if n++; n == 1 {
			first = i
		}
	}
	if n == maxOffers {
		r.offers = slices.Delete(r.offers, first, first+1)
	}
	r.offers = append(r.offers, o)
	return o.Offer
}

func (r *Ring) offerLocked(id spec.PairingID) *offer {
	for _, o := range r.offers {
		if o.Pairing == id && time.Now().Before(o.Until) {
			return o
		}
	}
	return nil
}

// Await blocks until an offer is taken, and returns what came of it; at once if it was
// taken before. The error is ErrUnknown if the offer is over, or was never made, or ctx's.
func (r *Ring) Await(ctx context.Context, id spec.PairingID) (Pairing, error) {
	r.mu.Lock()
	o := r.offerLocked(id)
	r.mu.Unlock()
	if o == nil {
		return r.pairing(id)
	}
	late := time.NewTimer(time.Until(o.Until))
	defer late.Stop()
	select {
	case <-o.taken:
	case <-late.C:
		return Pairing{}, ErrUnknown
	case <-ctx.Done():
		return Pairing{}, ctx.Err()
	}
	return r.pairing(id)
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

// keyLocked returns the key of a pairing, and the offer that it is of.
func (r *Ring) keyLocked(id spec.PairingID) (Key, *offer) {
	if p := r.state.find(id); p != nil && p.Key != nil {
		return p.Key, nil
	}
	if r.state.isForgotten(id) {
		return nil, nil
	}
	if r.isCopyLocked(id) {
		return r.copyKeyLocked(id), nil
	}
	if o := r.offerLocked(id); o != nil {
		return o.Secret, o
	}
	return nil, nil
}

// Exchange is a handshake that has begun. It is used by one goroutine.
type Exchange struct {
	ring       *Ring
	transcript Transcript
	key        Key
	offer      *offer // may be nil
}

// Begin answers the first message of a handshake. address is where it came in, as the
// hub knows by itself. The error is ErrUnknown.
func (r *Ring) Begin(m *spec.Pair, address string) (*Exchange, error) {
	r.mu.Lock()
	key, offer := r.keyLocked(m.Pairing)
	r.mu.Unlock()
	if key == nil {
		return nil, ErrUnknown
	}
	return &Exchange{
		ring: r, key: key, offer: offer,
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
	return e.ring.accept(e, browser)
}

func (r *Ring) accept(e *Exchange, browser string) (Grant, error) {
	id := e.transcript.Pairing
	r.mu.Lock()
	defer r.mu.Unlock()
	// It may have been forgotten, or another may have taken the offer, since Begin.
	key, taken := r.keyLocked(id)
	if !hmac.Equal(key, e.key) {
		return Grant{}, ErrUnknown
	}
	now := time.Now()
	p := record{Pairing: Pairing{ID: id, Kind: KindCopy, Browser: browser, Since: now}}
	if taken != nil {
		p.Kind, p.User, p.Expires, p.Key = KindBrowser, taken.user, taken.expires, e.transcript.NextKey(taken.Secret)
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
		r.offers = slices.DeleteFunc(r.offers, func(o *offer) bool { return o == taken })
		if taken != nil {
			close(taken.taken)
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

// ForgetAll ends all pairings and offers, those of copies that were never used as well.
func (r *Ring) ForgetAll() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.saveLocked(state{Key: newKey()}); err != nil {
		return err
	}
	r.offers = nil
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
