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
	Joining   State = "joining"   // being checked; serves no users yet
	Ready     State = "ready"     // takes users
	Suspended State = "suspended" // ready, but its lease is not being renewed; never in the bucket
	Draining  State = "draining"  // has users, takes no more
	Left      State = "left"      // has ended its lease itself
	Ended     State = "ended"     // another node has declared its lease ended
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
	Leaving     bool        `json:"leaving,omitempty"` // draining, and about to close its clients' sockets
	Users       int         `json:"users"`             // users whose hub is open there
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

// ID names one lease for ever: another process with the name gets another ID, and so does this
// process when it makes a new lease.
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

// nameOfNode matches the names of nodes: a label or a domain name, which can be a key of a bucket.
var nameOfNode = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

const (
	maxName        = 128
	incarnationLen = 16
)

// incarnationAt returns the incarnation of a lease made now. It is greater than that of the name's
// last lease, before ("" if none).
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
	Absent  bool   `json:"absent,omitempty"` // declared ended because NATS had no record of it
}

// signed is a record with a MAC that proves that a node with the cluster's secret made it. The MAC
// covers the bytes, so that a node can check a record with members that it does not know.
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

// decodeRecord reads the record of a node ("": of any), and refuses one that is not signed with the
// cluster's secret.
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
		return record{}, fmt.Errorf("it is the record of node %q", r.Name)
	}
	return r, nil
}
