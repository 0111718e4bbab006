package wsserver

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/wsconn"
)

// Options configure a Server.
type Options struct {
	// Authenticate decides whether a connection is admitted, and for which user. The
	// request's Host and Origin have been checked before; what is left is the
	// credential, in hello.Token or the request, or the proof in hello that ends ex.
	// hello is nil for a proxy that does not say hello, ex for a peer that has not
	// begun a pairing handshake. The context of r lasts as long as the connection.
	// The peer gets the error, so it must not hold secrets; its code, if it is
	// an *spec.Error, decides the close code. nil admits everyone as
	// spec.LocalUser.
	Authenticate func(r *http.Request, hello *spec.Hello, ex *pairing.Exchange) (tabtransport.Admission, error)

	// Pair begins a pairing handshake. The error is as that of Authenticate. Nil: no
	// browser can be paired here.
	Pair func(r *http.Request, m *spec.Pair) (*pairing.Exchange, error)

	// Owner answers a request for the owner of the hub, which a paired browser, admitted as adm, makes about a
	// tab or, with Tab 0, about no tab: *spec.Dashboard, *spec.Pause, *spec.Release, *spec.PackScript or
	// *spec.Recorded. The peer gets its result, or its error. Nil: nothing is answered.
	Owner func(adm tabtransport.Admission, tab spec.TabAddr, request any) (result any, err error)

	// Watch tells a paired browser, admitted as adm, what it is to know of its owner's hub: it calls tell with a
	// spec.OwnerState or spec.Packs, and again after each change. It blocks until ctx ends. Nil: there is none.
	Watch func(ctx context.Context, adm tabtransport.Admission, browser spec.PeerID, tell func(notice any))

	// Detachable: Authenticate and Pair may return a *tabtransport.RemoteError for a
	// request whose Handler then takes the connection over.
	Detachable bool

	Log *slog.Logger // nil discards

	// Instance names this hub to webmcp.v1 pages, which may remember it. "" stands
	// for a random one.
	Instance string

	KeepAlive time.Duration // between two pings; 0 means spec.KeepAlive
	MaxFrame  int64         // of a peer, in bytes; 0 means spec.MaxFrame
}

// Bounds of a connection.
const (
	// maxFirstFrame bounds what a peer may send before it is admitted, in bytes.
	maxFirstFrame = 4 << 20
	// maxUnadmitted bounds the connections that have not been admitted.
	maxUnadmitted = 1024
	// What waits to be written to one peer, besides as many frames that are no requests.
	maxQueuedFrames = 1024
	maxQueuedBytes  = 64 << 20
	// writeTimeout is how long one frame may take, besides a second for each MiB.
	writeTimeout = 10 * time.Second
)

// Server accepts the WebSockets of tabs and browsers. All methods are safe for
// concurrent use.
type Server struct {
	opts    Options
	conns   *wsconn.Server
	stats   counters
	reading *readSlot

	mu     sync.Mutex
	users  map[spec.UserID]*tabtransport.Peers
	keys   map[tabKey]bool      // of live webmcp.v1 connections
	logged map[string]time.Time // by origin: when a refusal was logged last
}

// tabKey is what a webmcp.v1 page calls itself.
type tabKey struct {
	user        spec.UserID
	origin, key string
}

// New returns a Server. The caller mounts its handlers and closes it.
func New(opts Options) *Server {
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	opts.Instance = cmp.Or(opts.Instance, uuid.NewString())
	opts.KeepAlive = cmp.Or(opts.KeepAlive, spec.KeepAlive)
	opts.MaxFrame = cmp.Or(opts.MaxFrame, spec.MaxFrame)
	s := &Server{
		opts:    opts,
		reading: newReadSlot(),
		users:   make(map[spec.UserID]*tabtransport.Peers),
		keys:    make(map[tabKey]bool),
		logged:  make(map[string]time.Time),
	}
	s.conns = wsconn.NewServer(wsconn.Config{
		MaxFrame:       opts.MaxFrame,
		MaxFirstFrame:  maxFirstFrame,
		MaxUnadmitted:  maxUnadmitted,
		MaxQueueFrames: maxQueuedFrames,
		MaxQueue:       maxQueuedBytes,
		Reserve:        maxQueuedFrames,
		WriteTimeout:   writeTimeout,
		KeepAlive:      opts.KeepAlive,
		Awaited:        "said hello",
		Yielded:        s.yielded,
	})
	return s
}

// Tabs returns the handler of /tabs: tabhub.v1, with and without hello, and the old
// port messages. It returns once the connection is upgraded.
func (s *Server) Tabs() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, []string{spec.Subprotocol}, func(c *conn) dialect { return &opening{conn: c} })
	})
}

// WebMCP returns the handler of upgrades that ask for webmcp.v1.
func (s *Server) WebMCP() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, webmcpSubprotocols, func(c *conn) dialect { return newWebMCP(s, c.ws) })
	})
}

// Transport returns the transport of a user; it is the same each time, until NewTransport
// makes another, or Forget. Connections of the user wait until somebody has called its Handle.
func (s *Server) Transport(user spec.UserID) *tabtransport.Peers {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.users[user]
	if p == nil {
		p = tabtransport.NewPeers()
		s.users[user] = p
	}
	return p
}

// NewTransport returns a transport without a Handler, for a user's hub that is being opened. New
// connections go to it; those of an earlier transport stay with the earlier hub.
func (s *Server) NewTransport(user spec.UserID) *tabtransport.Peers {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.users[user]
	if p == nil || p.IsHandled() {
		p = tabtransport.NewPeers()
		s.users[user] = p
	}
	return p
}

// Forget forgets the transport p of a user whose hub is closed, unless the user has another one now.
func (s *Server) Forget(user spec.UserID, p *tabtransport.Peers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users[user] == p {
		delete(s.users, user)
	}
}

// Close closes all connections with a code to reconnect later, in good order until ctx is
// done, and waits for them. New connections are closed at once.
func (s *Server) Close(ctx context.Context) error { return s.conns.Close(ctx) }

func (s *Server) serve(w http.ResponseWriter, r *http.Request, subprotocols []string, speak func(*conn) dialect) {
	err := s.conns.Serve(w, r, wsconn.Options{Subprotocols: subprotocols, SkipTooBig: true, Detachable: s.opts.Detachable}, func(ws *wsconn.Conn, r *http.Request) {
		s.stats.accepted.Add(1)
		c := newConn(s, ws, r)
		c.dialect = speak(c)
		c.run()
	})
	if err != nil {
		s.opts.Log.Debug("websocket handshake failed", "err", err)
	}
}

// authenticate is Options.Authenticate with its defaults.
func (s *Server) authenticate(r *http.Request, hello *spec.Hello, ex *pairing.Exchange) (adm tabtransport.Admission, err error) {
	if s.opts.Authenticate != nil {
		adm, err = s.opts.Authenticate(r, hello, ex)
	}
	adm.User = cmp.Or(adm.User, spec.LocalUser)
	return adm, err
}

// yielded is called for a connection without a hello that is closed in favour of newer ones.
func (s *Server) yielded(c *wsconn.Conn) {
	s.stats.refused.Add(1)
	if s.logsRefusal("no hello") {
		s.opts.Log.Warn("too many connections without a hello; the oldest are closed", "limit", maxUnadmitted, "remote", c.Remote())
	}
}

// claimKey reserves a webmcp.v1 tab key for a live connection. A duplicated browser
// tab has the same key; the copy gets another.
func (s *Server) claimKey(k tabKey) (key string, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	free := k
	for n := 2; s.keys[free]; n++ {
		free.key = k.key + "~" + strconv.Itoa(n)
	}
	s.keys[free] = true
	return free.key, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.keys, free)
	}
}

// logsRefusal reports whether to log a refusal of the origin: one a minute, because a
// refused peer may reconnect every few seconds.
func (s *Server) logsRefusal(origin string) bool {
	const maxLogged = 1024
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	last, before := s.logged[origin]
	if before && now.Sub(last) < time.Minute {
		return false
	}
	if !before && len(s.logged) >= maxLogged {
		maps.DeleteFunc(s.logged, func(_ string, last time.Time) bool { return now.Sub(last) >= time.Minute })
		if len(s.logged) >= maxLogged {
			return false
		}
	}
	s.logged[origin] = now
	return true
}

// Stats counts what has happened since the server was made.
type Stats struct {
	Connections int    `json:"connections"` // open now
	Accepted    uint64 `json:"accepted"`    // WebSockets
	Refused     uint64 `json:"refused"`     // by credentials or by the hub
	Malformed   uint64 `json:"malformed"`   // frames that are no message
	Stray       uint64 `json:"stray"`       // answers and progress without a pending request
	TooBig      uint64 `json:"tooBig"`      // frames over MaxFrame
	Throttled   uint64 `json:"throttled"`   // registrations replaced by a later one
	Slow        uint64 `json:"slow"`        // connections closed because the peer did not read or answer
	TooFast     uint64 `json:"tooFast"`     // connections closed because of floods
}

type counters struct {
	accepted, refused, malformed, stray, throttled, tooFast atomic.Uint64
}

// Stats returns the server's counters.
func (s *Server) Stats() Stats {
	return Stats{
		Connections: s.conns.Len(),
		Accepted:    s.stats.accepted.Load(),
		Refused:     s.stats.refused.Load(),
		Malformed:   s.stats.malformed.Load(),
		Stray:       s.stats.stray.Load(),
		TooBig:      s.conns.TooBig(),
		Throttled:   s.stats.throttled.Load(),
		Slow:        s.conns.Slow(),
		TooFast:     s.stats.tooFast.Load(),
	}
}

// closeCode returns the close code for a refusal.
func closeCode(err error) spec.CloseCode {
	if coded, ok := errors.AsType[*spec.Error](err); ok {
		switch coded.Code {
		case spec.CodeLimit:
			return spec.CloseTooFast
		case spec.CodeUnsupported:
			return spec.CloseUnsupported
		case spec.CodeInternal:
			return spec.CloseGoingAway
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return spec.CloseGoingAway
	}
	return spec.CloseRefused
}
