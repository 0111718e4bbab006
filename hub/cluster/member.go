package cluster

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// State is what a node does.
type State string

const (
	Joining   State = "joining"   // being checked; serves nobody yet
	Ready     State = "ready"     // takes users
	Suspended State = "suspended" // ready, but its lease is not being renewed; never in the bucket
	Draining  State = "draining"  // has users, takes no more
	Left      State = "left"      // gone, as it said itself
	Ended     State = "ended"     // gone, as another node has found
)

// live reports whether a node in this state has a lease.
func (s State) live() bool { return s != Left && s != Ended }

// Member is a node as its lease describes it.
type Member struct {
	Name        string      `json:"name"`
	Incarnation string      `json:"incarnation"` // of the lease; sorts by age among those of one name
	URL         string      `json:"url"`         // of the listener for nodes
	Fingerprint Fingerprint `json:"fingerprint"`
	State       State       `json:"state"`
	Leaving     bool        `json:"leaving,omitempty"` // draining, and about to close the sockets that have come to it
	Users       int         `json:"users"`             // whose hub is open there
	Version     string      `json:"version"`
	Started     time.Time   `json:"started"`
}

// Fingerprint is the SHA-256 of a certificate, in hex where it is text.
type Fingerprint [sha256.Size]byte

func (f Fingerprint) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, f[:]), nil }

func (f *Fingerprint) UnmarshalText(b []byte) error {
	if len(b) != hex.EncodedLen(len(f)) {
		return errors.New("not the fingerprint of a certificate")
	}
	_, err := hex.Decode(f[:], b)
	return err
}

// ID names one lease. No other ever has it: neither another process of the name, nor the same
// process when others have declared the lease ended and it makes the next one.
func (m Member) ID() string { return m.Name + "/" + m.Incarnation }

// Addr returns the address of the listener for nodes.
func (m Member) Addr() string {
	_, addr, _ := strings.Cut(m.URL, "://")
	return strings.TrimRight(addr, "/")
}

// splitID is the inverse of ID.
func splitID(id string) (name, incarnation string, err error) {
	name, incarnation, _ = strings.Cut(id, "/")
	if _, err := strconv.ParseUint(incarnation, 16, 64); err != nil || len(incarnation) != incarnationLen || !nameOfNode.MatchString(name) {
		return "", "", fmt.Errorf("%q is not the id of a node", id)
	}
	return name, incarnation, nil
}

// nameOfNode is what a node may be called: a label or a domain name, which is a key of a bucket.
var nameOfNode = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

const (
	maxName        = 128
	incarnationLen = 16
)

// incarnationAt returns the incarnation of a lease that is made now under a name that one with
// another incarnation had before ("" if none): the later, the greater.
func incarnationAt(now time.Time, before string) string {
	at := uint64(now.UnixNano())
	if b, err := strconv.ParseUint(before, 16, 64); err == nil {
		at = max(at, b+1)
	}
	return fmt.Sprintf("%016x", at)
}

// record is a Member as the bucket has it.
type record struct {
	Member
	Attempt uint64 `json:"attempt"`          // counts the renewals of the process
	Absent  bool   `json:"absent,omitempty"` // declared ended because nothing was known of it
}

// signed is a record with what proves that a node with the cluster's secret has made it. It covers
// the bytes, so that it is good for who knows less of a record than who has made it.
type signed struct {
	Record json.RawMessage `json:"record"`
	MAC    []byte          `json:"mac"`
}

func macOf(record, key []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(record)
	return h.Sum(nil)
}

func (r *record) encode(key []byte) []byte {
	b, err := json.Marshal(r)
	if err == nil {
		b, err = json.Marshal(signed{b, macOf(b, key)})
	}
	if err != nil {
		panic(err) // strings and numbers
	}
	return b
}

// decodeRecord reads the record of a node ("": of any), and refuses one that nobody with the
// secret has made.
func decodeRecord(name string, b, key []byte) (record, error) {
	var s signed
	if err := json.Unmarshal(b, &s); err != nil {
		return record{}, err
	}
	if !hmac.Equal(s.MAC, macOf(s.Record, key)) {
		return record{}, errors.New("it is not signed with the cluster's secret")
	}
	var r record
	if err := json.Unmarshal(s.Record, &r); err != nil {
		return record{}, err
	}
	if name != "" && r.Name != name {
		return record{}, fmt.Errorf("it is of node %q", r.Name)
	}
	return r, nil
}
