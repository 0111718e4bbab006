package pairing

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"

	"tabhub/spec"
)

// Key is what both sides of a pairing have. It is never sent.
type Key []byte

// keySize is the length of a key in bytes.
const keySize = 32

// encoding writes keys, nonces and proofs.
var encoding = base64.RawURLEncoding

// String returns the key as text for a file of its owner.
func (k Key) String() string { return encoding.EncodeToString(k) }

// ParseKey is the inverse of Key.String.
func ParseKey(s string) (Key, error) {
	b, err := encoding.DecodeString(s)
	if err != nil || len(b) < 16 {
		return nil, errors.New("pairing: not a key")
	}
	return b, nil
}

// NewKey returns a new key.
func NewKey() Key {
	b := make([]byte, keySize)
	rand.Read(b) // never fails
	return b
}

// NewNonce returns a nonce for one handshake.
func NewNonce() string { return NewKey().String() }

// mac returns the HMAC-SHA256 of the lines under a key. No line holds a line break.
func (k Key) mac(lines ...string) []byte {
	h := hmac.New(sha256.New, k)
	h.Write([]byte(strings.Join(lines, "\n")))
	return h.Sum(nil)
}

// Transcript is what both sides of a handshake know when they prove themselves. The
// proofs cover all of it.
type Transcript struct {
	Pairing      spec.PairingID
	Hub          string // the hub's id
	Address      string // where they have met, such as "ws://127.0.0.1:3300"
	BrowserNonce string
	HubNonce     string
}

func (t Transcript) lines(purpose string) []string {
	return []string{spec.ProtocolVersion + " " + purpose, string(t.Pairing), t.Hub, t.Address, t.BrowserNonce, t.HubNonce}
}

// HubProof is what a hub shows that has the key.
func (t Transcript) HubProof(k Key) string { return encoding.EncodeToString(k.mac(t.lines("hub")...)) }

// BrowserProof is what a browser shows that has the key.
func (t Transcript) BrowserProof(k Key) string {
	return encoding.EncodeToString(k.mac(t.lines("browser")...))
}

// NextKey is the key that follows secret, that of an Invitation, once both sides have
// proved that they know it. Somebody with the secret from a terminal or a browser's
// history cannot compute it later without the nonces of that handshake.
func (t Transcript) NextKey(secret Key) Key { return secret.mac(t.lines("key")...) }
