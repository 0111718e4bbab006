package hub

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"tabhub/describe"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// peer is a browser or a single tab. It is guarded by Hub.mu.
type peer struct {
	id      spec.PeerID
	conn    tabtransport.Conn
	browser spec.BrowserID // "" for a single tab
	name    string
	session string
	caps    map[spec.Capability]bool
	tabs    map[int64]*tab

	connected   bool
	joined      uint64 // of its last connection, as a sequence number
	connectedAt time.Time
	lastSeen    time.Time
	grace       graceTimer

	activeTab map[int64]*tab // by window; a single tab is in window 0
	window    int64          // the last focused
	focused   uint64         // when it was focused last, as a sequence number
}

// tab is one tab of a peer. It is guarded by Hub.mu.
type tab struct {
	addr      spec.TabAddr
	key       string // names the tab over reconnects and restarts
	peer      *peer
	url       string
	title     string
	window    int64
	keep      bool // the user wants its site's tools kept
	hidden    bool // restored from the store, has not rejoined yet
	confirmed bool // heard of since its peer connected last
	reloaded  bool // its peer came back with another document
	updated   time.Time
	saved     time.Time // when its URL was stored last
	items     map[spec.Kind][]*item
	stale     map[spec.Kind]bool // items that were not registered again since
	rejected  map[spec.Kind][]spec.Rejection
	domains   map[spec.Domain]*part
	inFlight  atomic.Int64
}

// part is a tab's part in a domain. It is guarded by Hub.mu.
type part struct {
	number   int
	origin   string
	verified bool
}

// maxTabs bounds the tabs of one peer.
const maxTabs = 10_000

// graceTimer ends the grace of a lost connection. The zero value is not running.
type graceTimer struct{ t *time.Timer }

// start runs f, with Hub.mu not held, when d has passed. f asks over whether the
// timer that ran out is still the one that counts.
func (g *graceTimer) start(d time.Duration, f func(over func() bool)) {
	g.stop()
	var t *time.Timer
	t = time.AfterFunc(d, func() { f(func() bool { return g.t == t }) })
	g.t = t
}

func (g *graceTimer) stop() {
	if g.t != nil {
		g.t.Stop()
		g.t = nil
	}
}

func (p *peer) graceTime() time.Duration {
	if p.browser != "" {
		return spec.BrowserGrace
	}
	return spec.TabGrace
}

// handler is the Hub as its transport sees it.
type handler Hub

// Connect implements tabtransport.Handler.
func (hd *handler) Connect(c tabtransport.Conn) (tabtransport.Accepted, error) {
	h := (*Hub)(hd)
	var secret string
	var id spec.PeerID
	var refusal *spec.Error
	var lost []spec.TabAddr
	h.update(func() {
		if h.closed {
			refusal = spec.Errorf(spec.CodeInternal, "the hub is shutting down")
			return
		}
		now := time.Now()
		if c.Hello != nil && c.Hello.BrowserID != "" {
			if c.Origin != "" && !c.Attested && !strings.Contains(c.Origin, "-extension://") {
				refusal = spec.Errorf(spec.CodeRefused, "a page is one tab: leave browserId out")
				return
			}
			if secret, refusal = h.admitBrowserLocked(c, now); refusal != nil {
				return
			}
		}
		id = h.peerIDLocked(c)
		lost = h.joinLocked(id, c, now)
	})
	for _, a := range lost {
		h.transport.Disconnect(a, spec.CloseReplaced, "the browser was restarted")
	}
	if refusal != nil {
		return tabtransport.Accepted{}, refusal
	}
	h.log.Info("peer connected", "peer", id, "dialect", c.Dialect, "origin", c.Origin, "attested", c.Attested)
	return tabtransport.Accepted{Peer: id, Epoch: h.epoch, Result: spec.HelloResult{
		Hub:           "tabhub",
		Version:       h.opts.Version,
		KeepAliveMs:   spec.KeepAlive.Milliseconds(),
		Limits:        spec.DefaultLimits,
		BrowserSecret: secret,
	}}, nil
}

// admitBrowserLocked checks that a browserId comes with the secret it was given.
// It returns a secret if the browser is to have a new one. A browser that has proved
// its pairing has nothing else to show; from then on nobody has its browserId without.
func (h *Hub) admitBrowserLocked(c tabtransport.Conn, now time.Time) (secret string, refusal *spec.Error) {
	hello := c.Hello
	known, ok := h.browser[hello.BrowserID]
	sum := sha256.Sum256([]byte(hello.BrowserSecret))
	switch {
	case c.Pairing != "":
		if ok && known.Confirmed && known.SecretHash == nil && known.Name == hello.BrowserName && now.Sub(known.LastSeen) < time.Minute {
			return "", nil
		}
		known = storage.Browser{ID: hello.BrowserID, Confirmed: true}
	case ok && hello.BrowserSecret != "" && subtle.ConstantTimeCompare(sum[:], known.SecretHash) == 1:
		if known.Confirmed && known.Name == hello.BrowserName && now.Sub(known.LastSeen) < time.Minute {
			return "", nil
		}
		known.Confirmed = true
	case ok && known.Confirmed:
		return "", spec.Errorf(spec.CodeRefused, "browserId %q belongs to another browser: its secret does not match; make a new browserId", hello.BrowserID)
	default:
		// New here, or the answer with its secret never reached it.
		secret = rand.Text()
		sum = sha256.Sum256([]byte(secret))
		known = storage.Browser{ID: hello.BrowserID, SecretHash: sum[:], Confirmed: known.Confirmed}
	}
	known.Name, known.LastSeen = hello.BrowserName, now
	h.browser[known.ID] = known
	h.writeLocked(known)
	return secret, nil
}

// confirmLocked takes a message of a browser for the proof that it has the answer to its
// hello, and with it its secret: from now on nobody is that browser without it.
func (h *Hub) confirmLocked(p *peer) {
	if known, ok := h.browser[p.browser]; ok && !known.Confirmed {
		known.Confirmed = true
		h.browser[p.browser] = known
		h.writeLocked(known)
	}
}

// peerIDLocked names the far end of a connection. A single tab's key counts only
// within its origin, so that no site can take another's place.
func (h *Hub) peerIDLocked(c tabtransport.Conn) spec.PeerID {
	hello := c.Hello
	switch {
	case hello != nil && hello.BrowserID != "":
		return spec.PeerID("browser:" + string(hello.BrowserID))
	case hello != nil && hello.TabKey != "":
		sum := sha256.Sum256([]byte(c.Origin + "\n" + c.ClaimedOrigin + "\n" + hello.TabKey))
		id := spec.PeerID("tab:" + hex.EncodeToString(sum[:12]))
		// Two live sockets with one key are two tabs whose page copied it. The
		// page's own protocol tells them apart; older dialects cannot.
		if p := h.peers[id]; p == nil || !p.connected || c.Dialect == spec.Subprotocol {
			return id
		}
	}
	return spec.PeerID("conn:" + uuid.NewString())
}

// joinLocked makes or revives the peer. It returns the tabs of an earlier session
// of the browser, which are gone.
func (h *Hub) joinLocked(id spec.PeerID, c tabtransport.Conn, now time.Time) (lost []spec.TabAddr) {
	p := h.peers[id]
	if p == nil {
		p = &peer{id: id, tabs: map[int64]*tab{}, activeTab: map[int64]*tab{}}
		h.peers[id] = p
	}
	p.grace.stop()
	p.conn, p.connected, p.connectedAt, p.lastSeen = c, true, now, now
	p.joined = h.nextLocked()
	p.caps = map[spec.Capability]bool{}
	session := ""
	if c.Hello != nil {
		p.browser, p.name, session = c.Hello.BrowserID, describe.Clean(c.Hello.BrowserName, spec.MaxName), c.Hello.Session
		for _, k := range c.Hello.Capabilities {
			p.caps[k] = true
		}
	}
	if p.browser != "" && p.session != session {
		for _, t := range slices.Collect(maps.Values(p.tabs)) {
			if t.key != tabKey(p, session, t.addr.Tab) {
				lost = append(lost, t.addr)
				h.dropTabLocked(t, now)
			}
		}
	}
	// Without a session nothing says that the document is the same.
	reloaded := p.browser == "" && (session == "" || session != p.session)
	p.session = session
	for _, t := range p.tabs {
		t.confirmed, t.reloaded = false, reloaded
		t.markStale()
	}
	if len(p.tabs) > 0 {
		p.grace.start(spec.OpenTabMaxWait, func(over func() bool) { h.dropUnconfirmed(p, over) })
	}
	return lost
}

// markStale marks what the tab is to register again.
func (t *tab) markStale() {
	for kind, items := range t.items {
		if len(items) > 0 {
			t.stale[kind] = true
		}
	}
}

// dropUnconfirmed drops the tabs of which a peer that came back has said nothing,
// and what the others did not register again.
func (h *Hub) dropUnconfirmed(p *peer, over func() bool) {
	var gone []spec.TabAddr
	h.update(func() {
		if !over() || !p.connected || h.closed || h.peers[p.id] != p {
			return
		}
		now := time.Now()
		for _, t := range slices.Collect(maps.Values(p.tabs)) {
			if !t.confirmed {
				gone = append(gone, t.addr)
				h.dropTabLocked(t, now)
				continue
			}
			for kind := range t.stale {
				h.registerLocked(t, kind, nil, now)
			}
			h.showLocked(t)
		}
	})
	for _, a := range gone {
		if a.Tab != 0 {
			h.transport.Disconnect(a, spec.CloseGoingAway, "the tab did not come back with its browser")
		}
	}
}

// tabKey names a tab for good. Tab ids of a browser are void after a restart.
func tabKey(p *peer, session string, n int64) string {
	if p.browser == "" {
		return string(p.id)
	}
	return string(p.id) + "/" + session + "/" + spec.TabAddr{Tab: n}.String()[1:]
}

// Disconnected implements tabtransport.Handler: the grace begins.
func (hd *handler) Disconnected(id spec.PeerID, cause error) {
	h := (*Hub)(hd)
	h.update(func() {
		p := h.peers[id]
		if p == nil {
			return
		}
		p.connected, p.lastSeen = false, time.Now()
		if h.closed {
			return
		}
		p.grace.start(p.graceTime(), func(over func() bool) { h.graceOver(p, over) })
	})
	h.log.Info("peer disconnected", "peer", id, "err", cause)
}

// graceOver drops a peer that did not come back.
func (h *Hub) graceOver(p *peer, over func() bool) {
	gone := false
	h.update(func() {
		if !over() || p.connected || h.closed || h.peers[p.id] != p {
			return
		}
		gone = true
		now := time.Now()
		for _, t := range slices.Collect(maps.Values(p.tabs)) {
			h.dropTabLocked(t, now)
		}
		delete(h.peers, p.id)
	})
	if gone {
		// It may be back by now, as a new peer.
		h.transport.Disconnect(spec.TabAddr{Peer: p.id}, 0, "did not come back in time")
	}
}

// tabLocked returns the tab at addr, making it if need be; nil if its peer is not
// there, or has too many.
func (h *Hub) tabLocked(addr spec.TabAddr, now time.Time) *tab {
	if t := h.tabs[addr]; t != nil {
		return t
	}
	p := h.peers[addr.Peer]
	if p == nil || len(p.tabs) >= maxTabs {
		return nil
	}
	t := &tab{
		addr: addr, key: tabKey(p, p.session, addr.Tab), peer: p, updated: now,
		items:    map[spec.Kind][]*item{},
		stale:    map[spec.Kind]bool{},
		rejected: map[spec.Kind][]spec.Rejection{},
		domains:  map[spec.Domain]*part{},
	}
	h.tabs[addr] = t
	p.tabs[addr.Tab] = t
	return t
}

// dropTabLocked forgets a tab that is gone for good, but for what is cached of it.
// The caller calls transport.Disconnect for it after the update.
func (h *Hub) dropTabLocked(t *tab, now time.Time) {
	h.blurLocked(t)
	for kind, items := range t.items {
		h.withdrawLocked(t, kind, items, now)
	}
	for key, part := range t.domains {
		h.leaveLocked(t, key, part, now)
	}
	delete(t.peer.tabs, t.addr.Tab)
	delete(h.tabs, t.addr)
	h.touchLocked()
}

// touchLocked marks that something changed which a list may show.
func (h *Hub) touchLocked() {
	for i := range h.gens {
		h.gens[i]++
	}
	h.notices.dirty()
}
