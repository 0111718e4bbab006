package state

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"tabhub/describe"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// peer is a browser or a single tab.
type peer struct {
	id      spec.PeerID
	conn    tabtransport.Conn // the last
	browser spec.BrowserID    // "" for a single tab
	name    string
	webmcp  spec.WebMCP
	session string
	caps    map[spec.Capability]bool
	tabs    map[int64]*tab

	connected   bool
	joined      uint64    // when conn was connected, as a sequence number
	connectedAt time.Time // the same; zero if it has not come back since a restart
	lastSeen    time.Time
	timer       uint64 // that is running: of the grace, or until tabs must be confirmed; 0 if none

	activeTab map[int64]*tab // by window; a single tab is in window 0
	window    int64          // the last focused
	focused   uint64         // when it was focused last, as a sequence number
}

func newPeer(id spec.PeerID) *peer {
	return &peer{id: id, tabs: map[int64]*tab{}, activeTab: map[int64]*tab{}}
}

// grace returns how long the peer may be away.
func (p *peer) grace() time.Duration {
	if p.browser != "" {
		return spec.BrowserGrace
	}
	return spec.TabGrace
}

// Fresh makes values that nobody can guess.
type Fresh struct {
	Secret func() string // for a browser that is new here
	ID     func() string // for a peer that has nothing to be known by
}

// Connect takes in a connection: it makes the peer, or revives it. It returns the
// peer's id and, for a browser that is to have a new one, its secret. The error is an
// *spec.Error that says why the connection is refused.
func (tx *Tx) Connect(conn tabtransport.Conn, fresh Fresh) (id spec.PeerID, secret string, err error) {
	if conn.Hello != nil && conn.Hello.BrowserID != "" {
		if conn.Origin != "" && !conn.Attested && !strings.Contains(conn.Origin, "-extension://") {
			return "", "", spec.Errorf(spec.CodeRefused, "a page is one tab: leave browserId out")
		}
		var refusal *spec.Error
		if secret, refusal = tx.admitBrowser(conn, fresh.Secret); refusal != nil {
			return "", "", refusal
		}
	}
	id = peerID(tx.State, conn, fresh.ID)
	p := tx.peers[id]
	if p == nil {
		p = newPeer(id)
		tx.peers[id] = p
	}
	p.join(tx, conn)
	return id, secret, nil
}

// peerID names the far end of a connection. A single tab's key counts only within its
// origin, so that no site can take another's place.
func peerID(s *State, conn tabtransport.Conn, fresh func() string) spec.PeerID {
	hello := conn.Hello
	switch {
	case hello != nil && hello.BrowserID != "":
		return browserPeer(hello.BrowserID)
	case hello != nil && hello.TabKey != "":
		sum := sha256.Sum256([]byte(conn.Origin + "\n" + conn.ClaimedOrigin + "\n" + hello.TabKey))
		id := spec.PeerID("tab:" + hex.EncodeToString(sum[:12]))
		// Two live connections with one key are two tabs whose page copied it. The
		// page's own protocol tells them apart; older dialects cannot.
		if p := s.peers[id]; p == nil || !p.connected || conn.Dialect == spec.Subprotocol {
			return id
		}
	}
	return spec.PeerID("conn:" + fresh())
}

func browserPeer(id spec.BrowserID) spec.PeerID { return spec.PeerID("browser:" + string(id)) }

// join gives a peer its new connection. The tabs of an earlier session of a browser
// are gone; those that stay must be heard of soon.
func (p *peer) join(tx *Tx, conn tabtransport.Conn) {
	p.timer = 0
	p.conn, p.connected, p.connectedAt, p.lastSeen = conn, true, tx.now, tx.now
	p.joined = tx.next()
	tx.ofAgents.ForgetInUse(p.id)
	p.caps = map[spec.Capability]bool{}
	session := ""
	if conn.Hello != nil {
		p.browser, p.name, session = conn.Hello.BrowserID, describe.Clean(conn.Hello.BrowserName, spec.MaxName), conn.Hello.Session
		p.webmcp = conn.Hello.WebMCP
		for _, k := range conn.Hello.Capabilities {
			// A page that joins by itself, or says that it is a browser, could name other sites for its own words.
			if conn.Attested || k != spec.CapLook && k != spec.CapTrustedInput {
				p.caps[k] = true
			}
		}
	}
	if p.browser != "" && p.session != session {
		for _, t := range p.tabs {
			if t.key != tabKey(p, session, t.addr.Tab) {
				tx.disconnect(t.addr, spec.CloseReplaced, "the browser was restarted")
				t.dropTab(tx)
			}
		}
		tx.ofAgents.Forget(func(a spec.TabAddr) bool { return a.Peer == p.id })
	}
	// Without a session nothing says that the document is the same.
	reloaded := p.browser == "" && (session == "" || session != p.session)
	p.session = session
	for _, t := range p.tabs {
		t.confirmed, t.reloaded, t.dialog = false, reloaded, nil
		t.markStale()
	}
	if len(p.tabs) > 0 {
		p.startTimer(tx, spec.OpenTabMaxWait)
	}
}

// Disconnected says that a peer has lost its connection: its grace begins.
func (tx *Tx) Disconnected(id spec.PeerID) {
	if p := tx.peers[id]; p != nil {
		p.connected, p.lastSeen = false, tx.now
		p.startTimer(tx, p.grace())
	}
}

// TimerOver says that a timer has run out. It does nothing if the peer has come back
// or gone since the timer was asked for.
func (tx *Tx) TimerOver(timer Timer) {
	p := tx.peers[timer.Peer]
	switch {
	case timer.Peer == "":
		tx.ofAgents.Wake(timer.id)
	case p == nil || p.timer != timer.id:
	case p.connected:
		p.dropUnconfirmed(tx)
	default:
		p.dropPeer(tx)
		// It may be back by now, as a new peer: no connection is closed.
		tx.disconnect(spec.TabAddr{Peer: p.id}, 0, "did not come back in time")
	}
}

// Forget drops a peer that is known not to come back, and closes its connection.
func (tx *Tx) Forget(id spec.PeerID, code spec.CloseCode, reason string) {
	if p := tx.peers[id]; p != nil {
		p.dropPeer(tx)
	}
	tx.disconnect(spec.TabAddr{Peer: id}, code, reason)
}

func (p *peer) dropPeer(tx *Tx) {
	for _, t := range p.tabs {
		t.dropTab(tx)
	}
	delete(tx.peers, p.id)
	tx.ofAgents.Forget(func(a spec.TabAddr) bool { return a.Peer == p.id })
}

// dropUnconfirmed drops the tabs of which a peer that came back has said nothing, and
// what the others did not register again.
func (p *peer) dropUnconfirmed(tx *Tx) {
	for _, t := range p.tabs {
		if t.confirmed {
			for kind := range t.stale {
				if !t.discarded { // of one that is not loaded the browser may have forgotten it
					t.replaceItems(tx, kind, nil)
				}
			}
			t.show(tx)
			continue
		}
		t.dropTab(tx)
		if t.addr.Tab != 0 {
			tx.disconnect(t.addr, spec.CloseGoingAway, "the tab did not come back with its browser")
		}
	}
}
