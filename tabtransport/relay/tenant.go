package relay

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"tabhub/spec"
)

// tenant is all that one user has here.
type tenant struct {
	// static after construction
	user   spec.UserID
	limits Limits
	rate   *rate.Limiter // of the requests of all clients

	mu         sync.Mutex // guards all below and what is reached from it
	closed     bool
	extensions map[string]*extension
	clients    map[*client]struct{}
	seq        uint64      // orders connections by their last use
	status     *time.Timer // set while a change of the status is to be sent
}

// extension is one browser extension, whether or not it is connected now.
type extension struct {
	// static after construction
	id       string
	clientID string // what makes it the same one after a reconnect; "" if nothing does

	// guarded by tenant.mu
	name, version string
	since         time.Time // of its first session
	session       *session  // nil while it is away
	connections   map[string]*connection
	grace         *time.Timer // runs while it is away
}

// session is a WebSocket that serves an extension.
type session struct {
	// static after construction
	out     outbox
	dialect dialect
	ext     *extension
	rate    *rate.Limiter

	status lastStatus // guarded by tenant.mu
}

// client is one MCP client.
type client struct {
	// static after construction
	out     outbox
	dialect clientDialect
	tenant  *tenant
	id      string
	name    string // what it calls itself: its project
	since   time.Time
	rate    *rate.Limiter

	credential string // as Admission.Client
	gate       Gate

	waiting atomic.Int32 // messages in lanes; it changes under tenant.mu

	// guarded by tenant.mu
	connections map[string]*connection
	lane        *lane  // of messages that wait for the owner, nil if none does
	waitingSize int    // of the messages in lanes, in bytes
	lost        string // the extension whose absence has ended its connection; "" once it connects
	status      lastStatus
}

// connection binds a client to an extension. Its id holds no colon, as extensions
// take what precedes the first one in an id for the connection.
type connection struct {
	// static after construction
	id     string
	client *client
	ext    *extension

	// guarded by tenant.mu
	pending pendingRequests
	tab     string // the JSON number of the tab whose events it gets; "" until it is known
	used    uint64 // tenant.seq of its last request
}

func newTenant(user spec.UserID, limits Limits) *tenant {
	return &tenant{
		user: user, limits: limits,
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

// join makes an extension's WebSocket its session. One that it had before is closed. What
// greet makes, if it is not nil, is sent before anything else.
func (t *tenant) join(who identity, out outbox, d dialect, greet func(*extension) []byte) (*session, *spec.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := extensionID(t.user, who.clientID)
	ext := t.extensions[id]
	switch {
	case t.closed:
		return nil, spec.Errorf(codeServer, "The hub is shutting down")
	case ext == nil && len(t.extensions) >= t.limits.MaxExtensions:
		return nil, spec.Errorf(spec.CodeLimit, "Too many extensions: %d are connected, which is the most", len(t.extensions))
	case ext == nil:
		ext = &extension{id: id, clientID: who.clientID, since: time.Now(), connections: map[string]*connection{}}
		t.extensions[id] = ext
	case ext.session != nil:
		t.interruptLocked(ext, "Extension connected anew")
		ext.session.out.Close(closeReplaced, "a newer connection of this extension took its place")
	}
	if ext.grace != nil {
		ext.grace.Stop()
		ext.grace = nil
	}
	ext.name, ext.version = who.name, who.version
	ext.session = &session{out: out, dialect: d, ext: ext, rate: rate.NewLimiter(t.limits.MessageRate, t.limits.MessageBurst)}
	if greet != nil {
		out.Send(greet(ext))
	}
	t.welcomeBackLocked(ext)
	t.changedLocked()
	return ext.session, nil
}

// welcomeBackLocked tells the clients that have lost their connection to an extension that
// it is there again: shipped ones wait for this to connect anew.
func (t *tenant) welcomeBackLocked(ext *extension) {
	for c := range t.clients {
		if c.lost == ext.id {
			c.out.MustSend(c.dialect.notice("connected", ext.listed()))
		}
	}
}

// leave is called when a session has ended.
func (t *tenant) leave(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ext := s.ext
	if ext.session != s {
		return // another took its place
	}
	ext.session = nil
	t.interruptLocked(ext, "Extension disconnected")
	for _, c := range ext.connections {
		if ext.clientID == "" || !c.client.dialect.waits() {
			t.endLocked(c)
		}
	}
	t.changedLocked()
	if ext.clientID == "" || t.closed {
		delete(t.extensions, ext.id)
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(t.limits.Grace, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if ext.grace == timer {
			t.forgetLocked(ext)
		}
	})
	ext.grace = timer
}

// interruptLocked ends the requests that an extension will not answer any more.
func (t *tenant) interruptLocked(ext *extension, why string) {
	err := failed(spec.FailTabClosed, "%s before it answered: the request may have taken effect", why)
	for _, c := range ext.connections {
		t.endRequestsLocked(c, time.Time{}, err)
	}
}

// endRequestsLocked answers the requests of a connection that were sent before a time with err, or
// all if the time is zero. The client gets these answers before the end of the connection.
func (t *tenant) endRequestsLocked(c *connection, before time.Time, err *spec.Error) {
	for _, r := range c.pending.drain(before) {
		if r.id != nil {
			c.client.out.MustSend(c.client.dialect.failure(r.id, "", err))
		}
	}
}

// forgetLocked ends an extension that has not come back.
func (t *tenant) forgetLocked(ext *extension) {
	for _, c := range ext.connections {
		t.endLocked(c)
	}
	ext.grace = nil
	delete(t.extensions, ext.id)
	t.changedLocked()
}

// endLocked ends a connection whose extension is no more and tells its client.
func (t *tenant) endLocked(c *connection) {
	delete(c.ext.connections, c.id)
	delete(c.client.connections, c.id)
	c.client.endLaneLocked()
	c.client.out.MustSend(c.client.dialect.ended(c.id))
	if c.client.dialect.waits() {
		c.client.lost = c.ext.id
	}
	t.changedLocked()
}

// releaseLocked ends a connection when its client asks for that or goes away, and notifies
// its extension. Later responses of the extension are dropped.
func (t *tenant) releaseLocked(c *connection) {
	delete(c.ext.connections, c.id)
	delete(c.client.connections, c.id)
	c.client.endLaneLocked()
	c.pending.drain(time.Time{})
	if s := c.ext.session; s != nil {
		s.out.Send(s.dialect.released(c.id))
	}
	t.changedLocked()
}

// enter gives a client its place.
func (t *tenant) enter(c *client) *spec.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return spec.Errorf(codeServer, "The hub is shutting down")
	}
	if len(t.clients) >= t.limits.MaxClients {
		return spec.Errorf(spec.CodeLimit, "Too many MCP clients: %d are connected, which is the most", len(t.clients))
	}
	t.clients[c] = struct{}{}
	t.changedLocked()
	return nil
}

// exit is called when a client's WebSocket has ended.
func (t *tenant) exit(c *client) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.clients, c)
	for _, conn := range c.connections {
		t.releaseLocked(conn)
	}
	t.changedLocked()
}

// expire ends the requests of an extension's clients that have waited for too long.
func (t *tenant) expire(ext *extension) {
	err := failed(spec.FailToolTimeout, "Extension did not answer in %d s: the request may have taken effect", int(t.limits.RequestTimeout.Seconds()))
	before := time.Now().Add(-t.limits.RequestTimeout)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range ext.connections {
		t.endRequestsLocked(c, before, err)
	}
}

// shutDown ends all requests and connections; the WebSockets are the Relay's to close.
func (t *tenant) shutDown() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, ext := range t.extensions {
		t.interruptLocked(ext, "The hub was shut down")
		if ext.grace != nil {
			ext.grace.Stop()
		}
	}
	if t.status != nil {
		t.status.Stop()
	}
}
