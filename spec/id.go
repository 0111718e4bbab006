package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// UserID names one user of a hub. Users see nothing of each other. A hub that
// runs without accounts has the single user LocalUser.
type UserID string

// LocalUser is the only user of a hub that runs without accounts.
const LocalUser UserID = "local"

// Epoch numbers the hubs that one user has had, one after the other: each has a
// greater one than those before it. Storage hands it out when the hub loads its state,
// and it tells the writes and connections of a hub from those of its successor. 0 is
// no epoch.
type Epoch uint64

// PeerID names the peer of a tab connection, a browser or a single tab. The hub chooses
// it; it stays the same when the peer reconnects, and the hub never takes it from a
// message unchecked.
type PeerID string

// BrowserID names one browser profile. The companion extension makes it once per
// install and keeps it.
type BrowserID string

// PairingID names a pairing of a hub with a browser's extension. It is no secret.
type PairingID string

// TabAddr is where a tab is reached: a peer, and the tab's number within it. Tab
// is 0 for the peer itself: the browser (control requests), or the one tab of a
// single-tab connection.
type TabAddr struct {
	Peer PeerID `json:"peer"`
	Tab  int64  `json:"tab"`
}

// String returns the address as peer or peer/tab, for logs.
func (a TabAddr) String() string {
	if a.Tab == 0 {
		return string(a.Peer)
	}
	return string(a.Peer) + "/" + strconv.FormatInt(a.Tab, 10)
}

// Short returns what models call the browser. It is made from the peer's identity, so it
// stays the same over restarts.
func (id PeerID) Short() string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:4])
}

// Public returns what models call the tab: BROWSER:TAB, where a single tab is 0.
func (a TabAddr) Public() string { return a.Peer.Short() + ":" + strconv.FormatInt(a.Tab, 10) }

// Domain is a domain key: what tools are grouped by. It is made from an origin by
// naming.DomainOf and is not a host name to connect to.
type Domain string

// Kind tells apart the three kinds of capability that a tab registers.
type Kind string

// The kinds of capability.
const (
	KindTool     Kind = "tool"
	KindResource Kind = "resource"
	KindPrompt   Kind = "prompt"
)
