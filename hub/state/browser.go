package state

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"slices"
	"time"

	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// browserSeenEvery is how often a browser that comes back is stored as seen.
const browserSeenEvery = time.Minute

// admitBrowser checks that a browserId comes with the secret it was given. It returns
// the one that the browser is to have from now on, made by fresh, or "". A browser that
// has proved its pairing has nothing else to show; from then on its
// browserId needs that proof.
func (tx *Tx) admitBrowser(conn tabtransport.Conn, fresh func() string) (secret string, refusal *spec.Error) {
	hello := conn.Hello
	known, ok := tx.browsers[hello.BrowserID]
	sum := sha256.Sum256([]byte(hello.BrowserSecret))
	recent := known.Confirmed && known.Name == hello.BrowserName && tx.now.Sub(known.LastSeen) < browserSeenEvery
	switch {
	case conn.Pairing != "":
		if recent && known.SecretHash == nil {
			return "", nil
		}
		known = storage.Browser{ID: hello.BrowserID, Confirmed: true, Label: known.Label}
	case ok && hello.BrowserSecret != "" && subtle.ConstantTimeCompare(sum[:], known.SecretHash) == 1:
		if recent {
			return "", nil
		}
		known.Confirmed = true
	case ok && known.Confirmed:
		return "", spec.Errorf(spec.CodeRefused, "browserId %q belongs to another browser: its secret does not match; make a new browserId", hello.BrowserID)
	default:
		// New here, or the answer with its secret never reached it.
		secret = fresh()
		sum = sha256.Sum256([]byte(secret))
		known = storage.Browser{ID: hello.BrowserID, SecretHash: sum[:], Confirmed: known.Confirmed}
	}
	known.Name, known.LastSeen = hello.BrowserName, tx.now
	tx.saveBrowser(known)
	return secret, nil
}

// confirmBrowser takes a message of a browser for the proof that it has the answer to
// its hello, and with it its secret: from now on its browserId needs the secret.
func (p *peer) confirmBrowser(tx *Tx) {
	if known, ok := tx.browsers[p.browser]; ok && !known.Confirmed {
		known.Confirmed = true
		tx.saveBrowser(known)
	}
}

func (tx *Tx) saveBrowser(b storage.Browser) {
	tx.browsers[b.ID] = b
	tx.write(b)
}

// Why a browser does not get a name.
var (
	ErrNoBrowser   = errors.New("no such browser has been here")
	ErrNameTaken   = errors.New("another browser has this name")
	ErrUnproved    = errors.New("it has not shown yet that it is the browser which it says")
	ErrNameUnknown = errors.New("no browser has this name")
)

// NameBrowser gives the browser with a peer's ID the name that its owner has for it, in place
// of the one that it had. It must have been here since the hub started, or have a name.
func (tx *Tx) NameBrowser(id spec.PeerID, label string) error {
	p := tx.peers[id]
	if p == nil || p.browser == "" {
		return ErrNoBrowser
	}
	key := p.browser
	for _, other := range tx.browsers {
		if other.Label == label && other.ID != key {
			return ErrNameTaken
		}
	}
	b := tx.browsers[key]
	if !b.Confirmed {
		return ErrUnproved
	}
	tx.relabelBrowser(b, label)
	return nil
}

// UnnameBrowser takes the name from the browser that has it.
func (tx *Tx) UnnameBrowser(label string) error {
	for _, b := range tx.browsers {
		if b.Label == label && label != "" {
			tx.relabelBrowser(b, "")
			return nil
		}
	}
	return ErrNameUnknown
}

func (tx *Tx) relabelBrowser(b storage.Browser, label string) {
	if b.Label == label {
		return
	}
	b.Label = label
	tx.saveBrowser(b)
	for _, d := range tx.order { // its tabs, and what they have left
		d.relist(tx)
	}
}

// Named returns the browsers that have a name from their owner, by that name.
func (s *State) Named() []storage.Browser {
	var named []storage.Browser
	for _, b := range s.browsers {
		if b.Label != "" {
			named = append(named, b)
		}
	}
	slices.SortFunc(named, func(a, b storage.Browser) int { return cmp.Compare(a.Label, b.Label) })
	return named
}
