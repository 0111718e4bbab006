package state

import (
	"crypto/sha256"
	"crypto/subtle"
	"time"

	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// browserSeenEvery is how often a browser that comes back is stored as seen.
const browserSeenEvery = time.Minute

// admitBrowser checks that a browserId comes with the secret it was given. It returns
// the one that the browser is to have from now on, made by fresh, or "". A browser that
// has proved its pairing has nothing else to show; from then on nobody has its
// browserId without.
func (c *Change) admitBrowser(conn tabtransport.Conn, fresh func() string) (secret string, refusal *spec.Error) {
	hello := conn.Hello
	known, ok := c.browsers[hello.BrowserID]
	sum := sha256.Sum256([]byte(hello.BrowserSecret))
	recent := known.Confirmed && known.Name == hello.BrowserName && c.now.Sub(known.LastSeen) < browserSeenEvery
	switch {
	case conn.Pairing != "":
		if recent && known.SecretHash == nil {
			return "", nil
		}
		known = storage.Browser{ID: hello.BrowserID, Confirmed: true}
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
	known.Name, known.LastSeen = hello.BrowserName, c.now
	c.saveBrowser(known)
	return secret, nil
}

// confirmBrowser takes a message of a browser for the proof that it has the answer to
// its hello, and with it its secret: from now on nobody is that browser without it.
func (c *Change) confirmBrowser(p *peer) {
	if known, ok := c.browsers[p.browser]; ok && !known.Confirmed {
		known.Confirmed = true
		c.saveBrowser(known)
	}
}

func (c *Change) saveBrowser(b storage.Browser) {
	c.browsers[b.ID] = b
	c.write(b)
}
