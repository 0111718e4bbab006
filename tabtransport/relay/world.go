package relay

import (
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// world is all that one user has here.
type world struct {
	// static after construction
	user   spec.UserID
	limits Limits
	counts *counters
	rate   *rate.Limiter // of the requests of all clients

	mu         sync.Mutex // guards all below and what is reached from it
	closed     bool
	extensions map[string]*extension
	clients    map[*client]struct{}
	seq        uint64      // orders connections by their last use
	status     *time.Timer // set while a change of the numbers is to be told
}

// extension is one browser extension, whether or not it has a socket now.
type extension struct {
	// static after construction
	id       string
	clientID string // what makes it the same one after a reconnect; "" if nothing does

	// guarded by world.mu
	name, version string
	since         time.Time // of its first socket
	session       *session  // nil while it is away
	connections   map[string]*connection
	grace         *time.Timer // runs while it is away
	hub           *connection // of the hub's own requests; nil until the first
}

// session is a socket that serves an extension.
type session struct {
	// static after construction
	sock    *socket
	dialect dialect
	ext     *extension
	rate    *rate.Limiter

	told told // guarded by world.mu
}

// client is one MCP client.
type client struct {
	// static after construction
	sock    *socket
	dialect clientDialect
	world   *world
	id      string
	name    string // what it calls itself: its project
	rate    *rate.Limiter

	// guarded by world.mu
	connections map[string]*connection
	lost        string // the extension whose absence has ended its connection; "" once it connects
	told        told
}

// connection binds a client to an extension. Its id holds no colon, as extensions
// take what precedes the first one in an id for the connection.
type connection struct {
	// static after construction
	id     string
	client *client // nil for the hub's own
	ext    *extension

	// guarded by world.mu
	table table
	tab   string // the JSON number of the tab whose events it gets; "" until it is known
	used  uint64 // world.seq of its last request
}

func newWorld(user spec.UserID, limits Limits, counts *counters) *world {
	return &world{
		user: user, limits: limits, counts: counts,
		rate:       rate.NewLimiter(limits.UserRate, limits.UserBurst),
		extensions: map[string]*extension{},
		clients:    map[*client]struct{}{},
	}
}

// idSpace makes the ids of extensions: the same (user, client_id) has the same one
// for good.
var idSpace = uuid.MustParse("7d2f5a52-6f0d-5c0b-9f43-0f3f0f1f6f5b")

func extensionID(user spec.UserID, clientID string) string {
	if clientID == "" {
		return "ext-" + uuid.NewString()
	}
	return "ext-" + uuid.NewSHA1(idSpace, []byte(string(user)+"\x00"+clientID)).String()
}

// identity is what an extension says of itself.
type identity struct {
	name, version, clientID string
}

// join gives an extension's socket its place. A socket that the extension had before
// is closed. What greet makes, if it is not nil, is sent before anything else.
func (w *world) join(who identity, sock *socket, d dialect, greet func(*extension) []byte) (*session, *spec.Error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := extensionID(w.user, who.clientID)
	ext := w.extensions[id]
	switch {
	case w.closed:
		return nil, spec.Errorf(codeServer, "The hub is shutting down")
	case ext == nil && len(w.extensions) >= w.limits.MaxExtensions:
		return nil, spec.Errorf(spec.CodeLimit, "Too many extensions: %d are connected, which is the most", len(w.extensions))
	case ext == nil:
		ext = &extension{id: id, clientID: who.clientID, since: time.Now(), connections: map[string]*connection{}}
		w.extensions[id] = ext
	case ext.session != nil:
		w.interruptLocked(ext, "Extension connected anew")
		ext.session.sock.close(closeReplaced, "a newer connection of this extension took its place")
	}
	if ext.grace != nil {
		ext.grace.Stop()
		ext.grace = nil
	}
	ext.name, ext.version = who.name, who.version
	ext.session = &session{sock: sock, dialect: d, ext: ext, rate: rate.NewLimiter(w.limits.MessageRate, w.limits.MessageBurst)}
	if greet != nil {
		sock.send(greet(ext))
	}
	w.welcomeBackLocked(ext)
	w.changedLocked()
	return ext.session, nil
}

// welcomeBackLocked tells the clients who lost their connection to an extension that
// it is there again: shipped ones wait for this to connect anew.
func (w *world) welcomeBackLocked(ext *extension) {
	for c := range w.clients {
		if c.lost == ext.id {
			c.sock.mustSend(c.dialect.notice("connected", ext.listed()))
		}
	}
}

// leave is called when an extension's socket has ended.
func (w *world) leave(s *session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ext := s.ext
	if ext.session != s {
		return // another took its place
	}
	ext.session = nil
	w.interruptLocked(ext, "Extension disconnected")
	for _, c := range ext.connections {
		if ext.clientID == "" || !c.client.dialect.waits() {
			w.endLocked(c)
		}
	}
	w.changedLocked()
	if ext.clientID == "" || w.closed {
		delete(w.extensions, ext.id)
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(w.limits.Grace, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if ext.grace == timer {
			w.forgetLocked(ext)
		}
	})
	ext.grace = timer
}

// interruptLocked ends the requests that an extension will not answer any more.
func (w *world) interruptLocked(ext *extension, why string) {
	err := func() *spec.Error { return errLost(why) }
	for _, c := range ext.connections {
		w.endRequestsLocked(c, time.Time{}, err, tabtransport.ErrLost)
	}
	if ext.hub != nil {
		w.endRequestsLocked(ext.hub, time.Time{}, err, tabtransport.ErrLost)
	}
}

func (w *world) endRequestsLocked(c *connection, before time.Time, err func() *spec.Error, sent error) {
	requests := c.table.drain(before)
	w.counts.interrupted.Add(uint64(len(requests)))
	c.failLocked(requests, err, sent)
}

// forgetLocked ends an extension that has not come back.
func (w *world) forgetLocked(ext *extension) {
	for _, c := range ext.connections {
		w.endLocked(c)
	}
	ext.grace = nil
	delete(w.extensions, ext.id)
	w.changedLocked()
}

// endLocked ends a connection whose extension is no more and tells its client.
func (w *world) endLocked(c *connection) {
	delete(c.ext.connections, c.id)
	delete(c.client.connections, c.id)
	c.client.sock.mustSend(c.client.dialect.ended(c.id, c.client.dialect.absent()))
	if c.client.dialect.waits() {
		c.client.lost = c.ext.id
	}
	w.changedLocked()
}

// releaseLocked ends a connection at its client's wish or end and tells its
// extension. What the extension still answers is for nobody.
func (w *world) releaseLocked(c *connection) {
	delete(c.ext.connections, c.id)
	delete(c.client.connections, c.id)
	w.counts.interrupted.Add(uint64(len(c.table.drain(time.Time{}))))
	if s := c.ext.session; s != nil {
		s.sock.send(s.dialect.released(c.id, "MCP client disconnected"))
	}
	w.changedLocked()
}

// enter gives a client its place.
func (w *world) enter(c *client) *spec.Error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return spec.Errorf(codeServer, "The hub is shutting down")
	}
	if len(w.clients) >= w.limits.MaxClients {
		return spec.Errorf(spec.CodeLimit, "Too many MCP clients: %d are connected, which is the most", len(w.clients))
	}
	w.clients[c] = struct{}{}
	w.changedLocked()
	return nil
}

// exit is called when a client's socket has ended.
func (w *world) exit(c *client) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.clients, c)
	for _, conn := range c.connections {
		w.releaseLocked(conn)
	}
	w.changedLocked()
}

// expire ends the requests of an extension that have waited for too long.
func (w *world) expire(ext *extension) {
	err := func() *spec.Error { return errLate(int(w.limits.RequestTimeout.Seconds())) }
	before := time.Now().Add(-w.limits.RequestTimeout)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range ext.connections {
		w.endRequestsLocked(c, before, err, tabtransport.ErrTimeout)
	}
}

// shutDown ends all requests and connections; the sockets are the Relay's to close.
func (w *world) shutDown() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, ext := range w.extensions {
		w.interruptLocked(ext, "The hub was shut down")
		if ext.grace != nil {
			ext.grace.Stop()
		}
	}
	if w.status != nil {
		w.status.Stop()
	}
}

func (w *world) count(s *Stats) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.extensions)+len(w.clients) > 0 {
		s.Users++
	}
	s.Clients += len(w.clients)
	for _, ext := range w.extensions {
		if ext.session != nil {
			s.Extensions++
		}
		s.Connections += len(ext.connections)
		for _, c := range ext.connections {
			s.InFlight += len(c.table.pending)
		}
		if ext.hub != nil {
			s.InFlight += len(ext.hub.table.pending)
		}
	}
}
