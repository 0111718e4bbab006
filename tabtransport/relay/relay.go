package relay

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/time/rate"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/unknown"
)

// Options configure a Relay.
type Options struct {
	// Verify says whose a peer is. Its errors are sentences that the peer is told. It
	// may block.
	Verify func(Handshake) (Admission, error)
	// Hub returns where a user's extensions join the hub, so that it can open tabs in
	// them. It must not block. Nil: they do not.
	Hub    func(user spec.UserID) tabtransport.Attacher
	Log    *slog.Logger // nil discards
	Limits Limits
}

// Handshake is what a peer says of itself before it is let in.
type Handshake struct {
	Token     string        // "" if it shows none
	Extension bool          // it offers a browser; otherwise it is a client, which uses one
	Request   *http.Request // that opened its socket
}

// Admission is what Verify has found out about a peer.
type Admission struct {
	User    spec.UserID
	Until   time.Time       // when its connection ends with its token; zero: never
	Revoked context.Context // done when the token is taken back, which ends it, too; nil: never
}

// Relay serves the MCP Proxy Protocol. Its handlers expect that the Host and Origin
// of a request have been checked. All methods are safe for concurrent use.
type Relay struct {
	// static after construction
	verify func(Handshake) (Admission, error)
	hub    func(spec.UserID) tabtransport.Attacher
	log    *slog.Logger
	limits Limits

	counts  counters
	unknown unknown.Set    // sockets of whom nothing is known yet
	open    sync.WaitGroup // handlers that run
	// Who is refused may come back every few seconds: one refusal a minute is logged.
	refusedExtension, refusedClient rate.Sometimes

	mu      sync.Mutex
	closed  bool
	sockets map[*socket]struct{}
	// worlds are kept for good: a user who could make theirs anew would escape its
	// rate limits.
	worlds map[spec.UserID]*world
}

// New returns a Relay.
func New(o Options) *Relay {
	r := &Relay{
		verify:  o.Verify,
		hub:     o.Hub,
		log:     o.Log,
		limits:  o.Limits.withDefaults(),
		sockets: map[*socket]struct{}{},
		worlds:  map[spec.UserID]*world{},
	}
	r.unknown.Max = r.limits.MaxUnknown
	r.refusedExtension.Interval, r.refusedClient.Interval = time.Minute, time.Minute
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	return r
}

// Close ends all connections and waits for them: requests under way are answered
// with an error, then the sockets are closed so that peers come back.
func (r *Relay) Close() {
	r.mu.Lock()
	r.closed = true
	sockets := slices.Collect(maps.Keys(r.sockets))
	r.mu.Unlock()
	for _, w := range r.all() {
		w.shutDown()
	}
	for _, s := range sockets {
		s.close(spec.CloseGoingAway, "the hub is shutting down")
	}
	// A peer that does not read must not keep the hub from ending.
	enough := time.AfterFunc(lastTimeout, func() {
		for _, s := range sockets {
			s.ws.Close()
		}
	})
	defer enough.Stop()
	r.open.Wait()
}

// serve upgrades a request and lets f read its socket, whose peer must be known
// within patience. f returns when the socket has ended.
func (r *Relay) serve(w http.ResponseWriter, req *http.Request, patience time.Duration, f func(*socket)) {
	ws, err := upgrader.Upgrade(w, req, nil)
	if err != nil {
		return // the upgrader has answered
	}
	s := newSocket(ws, r.limits, &r.counts)
	s.unknown = r.unknown.Add(func() {
		s.close(spec.CloseTooFast, "too many connections have not shaken hands, and this one is the oldest")
	})
	defer s.unknown.Leave()
	defer r.remove(s)
	if !r.add(s) {
		s.close(spec.CloseGoingAway, "the hub is shutting down")
		return
	}
	s.endsAt(time.Now().Add(patience), "no handshake in time")
	f(s)
}

func (r *Relay) add(s *socket) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.sockets[s] = struct{}{}
	r.open.Add(1)
	return true
}

// remove waits for the socket's end.
func (r *Relay) remove(s *socket) {
	s.end()
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.sockets[s]; ok {
		delete(r.sockets, s)
		r.open.Done()
	}
}

// world returns the world of a user.
func (r *Relay) world(user spec.UserID) *world {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.worlds[user]
	if w == nil {
		w = newWorld(user, r.limits, &r.counts)
		r.worlds[user] = w
	}
	return w
}

// existing returns the world of a user, or nil if nobody of them has been here.
func (r *Relay) existing(user spec.UserID) *world {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.worlds[user]
}

// all returns the worlds that there are.
func (r *Relay) all() []*world {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.worlds))
}

// clip cuts s to at most n bytes, at a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
