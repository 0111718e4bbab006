package mcpserver

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/lists"
	"tabhub/spec"
)

// defaultWriteLimit is how long an HTTP client may take nothing of what it is sent.
const defaultWriteLimit = 30 * time.Second

// Options configure a Server. The zero value of each field is a usable default.
type Options struct {
	methods.Options

	// PublicURL is where clients reach the hub, without the endpoint's path. It is
	// what the endpoint event of /sse begins with; "" takes it from the request.
	PublicURL string
	// BehindProxy lets X-Forwarded-Proto and X-Forwarded-Host say what was asked for.
	BehindProxy bool

	KeepAlive   time.Duration // between comments on an idle event stream; 0 means spec.KeepAlive
	IdleSession time.Duration // a Streamable HTTP session that is not used; 0 means 30 min
	WriteLimit  time.Duration // a write to an HTTP client; 0 means defaultWriteLimit
	MaxBody     int64         // bytes of a message; 0 means spec.MaxFrame
	MaxSessions int           // Streamable HTTP and SSE sessions; 0 means 4096
}

// Server is one Hub as an MCP server, over any number of connections. Its methods
// are safe for concurrent use.
type Server struct {
	// static after construction
	methods *methods.Server
	hub     methods.Hub
	opts    Options
	log     *slog.Logger
	ctx     context.Context
	cancel  context.CancelCauseFunc

	sessions sessions
	replays  replays
	opened   atomic.Uint64 // streams
	streams  methods.Group // connections that stay open: streams and event streams
}

// New returns a Server for h. Close it before the Hub is closed.
func New(h methods.Hub, o Options) *Server {
	s := &Server{methods: methods.New(h, o.Options), hub: h, log: cmp.Or(o.Log, slog.New(slog.DiscardHandler))}
	o.KeepAlive = cmp.Or(o.KeepAlive, spec.KeepAlive)
	o.IdleSession = cmp.Or(o.IdleSession, 30*time.Minute)
	o.WriteLimit = cmp.Or(o.WriteLimit, defaultWriteLimit)
	o.MaxBody = cmp.Or(o.MaxBody, spec.MaxFrame)
	o.MaxSessions = cmp.Or(o.MaxSessions, 4096)
	s.opts = o
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.sessions.init(s)
	return s
}

// Sessions describes the clients that have a session, or listen, the first to come first.
func (s *Server) Sessions() []methods.SessionInfo { return s.methods.Sessions() }

// Listed returns which tools of the hub's list clients are listed; clients that ignore changes of
// the list may be listed less.
func (s *Server) Listed(l *lists.Listing) func(*lists.Item) bool { return s.methods.Listed(l) }

// ForgetClient forgets the stored sessions of a client whose credential was revoked.
func (s *Server) ForgetClient(client string) {
	s.sessions.forget(client)
}

// Close refuses new requests (those of ServeBridge get no answer) and waits for those
// under way until ctx is done; what is left then is answered with NOT_CONNECTED. Then it
// ends all streams and waits for them. It is idempotent. The error is ctx's if it cut
// something short.
//
// Calls that are tasks are left to the Server of another process.
func (s *Server) Close(ctx context.Context) error {
	err := s.methods.Drain(ctx)
	s.cancel(methods.ErrClosing)
	s.sessions.close()
	s.methods.Wait()
	_ = s.streams.Close(context.Background()) // they end by themselves now
	return err
}
