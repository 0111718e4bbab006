package httpd

import (
	"bytes"
	"context"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"tabhub/hub/cluster"
	"tabhub/hub/face/mcpserver"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/tenant"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/auth/oauth"
	"tabhub/spec"
	"tabhub/tabtransport/pairing"
)

// Options configure a Server. Guard, Tenants, Info, Doctor and Stop must be set.
type Options struct {
	Guard   *Guard
	Tenants *tenant.Registry // the caller closes it, after Shutdown

	// The endpoints that other packages serve; where one is nil the path is not
	// found. All of them are behind the guard.
	Tabs      http.Handler // /tabs
	WebMCP    http.Handler // upgrades of /
	Extension http.Handler // /extension
	Relay     http.Handler // /relay
	Client    http.Handler // upgrades of /mcp
	Metrics   http.Handler // /metrics
	Pages     http.Handler // all other paths

	// URL is where the hub's user opens the dashboard, less the slash at its end.
	URL  string
	Info func() Info
	// OAuth lets clients in that know nothing but the hub's address. Nil: none.
	OAuth *oauth.Server
	// Issuer is the authorization server of a hub with accounts, "" if it has none that
	// clients could go to.
	Issuer string
	// Ring is the pairings of the hub with browsers. Nil: there can be none.
	Ring *pairing.Ring
	// Doctor looks at everything that tabhub needs.
	Doctor func(context.Context) []Finding
	// Stop asks the process to end; why is "stop", "upgrade" or "idle".
	Stop func(why string)
	// CheckUpgrade returns why the process is not to end for an upgrade. Nil: nothing is
	// against it.
	CheckUpgrade func(context.Context) error
	// Token is the hub's own, and Rotate replaces it. Nil: it has none.
	Token  *auth.Token
	Rotate func() error
	// Clients are the clients with a credential of their own. Nil: there can be none.
	Clients *auth.Clients
	// RelayClients describes the clients of the relay that a user has. Nil: there are none.
	RelayClients func(spec.UserID) []methods.SessionInfo
	// RelayExtensions returns how many extensions of a user the relay has. Nil: there are none.
	RelayExtensions func(spec.UserID) int
	// Connect says how MCP clients are connected. Nil: that is not known.
	Connect func() []Connectable
	// Nodes is the cluster that the process is a node of. Nil: there is none.
	Nodes Nodes
	// Idle is how long the hub goes on without a client until it stops; 0 is for
	// ever.
	Idle time.Duration
	// Elsewhere finds the users whose hubs other nodes have. Nil: this is the only one.
	Elsewhere Locator
	// Cluster serves what nodes ask each other, below ClusterPath. Nil: nothing.
	Cluster http.Handler
	Log     *slog.Logger // nil discards
}

// Server serves all endpoints. Serve may be called for several listeners.
type Server struct {
	o       Options
	guard   *Guard
	log     *slog.Logger
	http    *http.Server
	node    *http.Server // of ServeNode
	clients clients

	watchers atomic.Int32 // who reads a stream
	doctor   sync.Mutex   // held while Options.Doctor runs
	refusals *refusals

	refusedPages *refusedPages
	strangers    *strangers // nil if nobody needs a credential

	ctx    context.Context // ends when attached streams must
	cancel context.CancelFunc
	bridge sync.WaitGroup // attached streams

	draining atomic.Bool // set with mu held
	fresh    sync.Map    // connections (net.Conn) on which nothing has come, as browsers open them in advance

	mu       sync.Mutex
	farewell string         // what bridges are told at the end
	streams  map[stream]int // how many are read
}

// New returns a Server that serves nothing yet.
func New(o Options) *Server {
	s := &Server{o: o, guard: o.Guard, log: o.Log, refusals: newRefusals(), refusedPages: newRefusedPages(), farewell: "stop", streams: map[stream]int{}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if o.Guard.verifier != nil {
		s.strangers = new(strangers)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.clients.idle = o.Idle
	s.clients.expired = func() {
		s.log.Info("no client left: stopping", "idle", o.Idle)
		o.Stop("idle")
	}
	s.http = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		BaseContext:       baseContext,
		ConnContext:       s.connContext,
		ConnState:         s.connState,
		ErrorLog:          log.New(serverLog{s.log}, "", 0),
	}
	s.node = &http.Server{
		Handler:           http.HandlerFunc(s.serveNode),
		ConnContext:       cluster.WithConn,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10, // what the entrance has let pass, and what it says itself
		ErrorLog:          s.http.ErrorLog,
	}
	s.clients.start()
	return s
}

// Serve accepts connections until Shutdown, when it returns nil. Several may run at
// once, also of ServeOwner.
func (s *Server) Serve(ln net.Listener) error {
	if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeOwner is Serve for a listener that gives out only connections of the user who
// runs the hub, as one of a Unix socket does that looks at its peers. Their requests
// need no credential, and no Host that stands for this hub.
func (s *Server) ServeOwner(ln net.Listener) error { return s.Serve(ownerListener{ln}) }

type ownerListener struct{ net.Listener }

type ownerKey struct{}

func baseContext(ln net.Listener) context.Context {
	_, owner := ln.(ownerListener)
	return context.WithValue(context.Background(), ownerKey{}, owner)
}

// isOwner reports whether a request came by a listener of ServeOwner.
func isOwner(ctx context.Context) bool {
	owner, _ := ctx.Value(ownerKey{}).(bool)
	return owner
}

// Shutdown refuses new requests, has the tenants' MCP servers answer what is under way,
// tells the bridges why the hub ends, and closes all connections. When ctx is done it gives up on
// waiting. why is what bridges are told, see FarewellMethod.
func (s *Server) Shutdown(ctx context.Context, why string) error {
	s.mu.Lock()
	s.draining.Store(true)
	s.farewell = why
	s.mu.Unlock()
	s.clients.stop()
	s.o.Tenants.Drain(ctx)
	s.cancel()
	for conn := range s.fresh.Range {
		conn.(net.Conn).Close() // net/http would wait for them for five seconds
	}
	err := s.http.Shutdown(ctx)
	if err != nil {
		s.http.Close()
	}
	if nodeErr := s.node.Shutdown(ctx); nodeErr != nil {
		s.node.Close()
		err = nodeErr
	}
	done := make(chan struct{})
	go func() { s.bridge.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	return err
}

// connContext takes in a connection, which is a stranger's unless it is the owner's or nobody needs a
// credential.
func (s *Server) connContext(ctx context.Context, conn net.Conn) context.Context {
	if isOwner(ctx) || s.strangers == nil {
		return ctx
	}
	return s.strangers.add(ctx, conn)
}

func (s *Server) connState(conn net.Conn, state http.ConnState) {
	if s.strangers != nil && (state == http.StateClosed || state == http.StateHijacked) {
		s.strangers.remove(conn)
	}
	switch state {
	case http.StateNew:
		s.fresh.Store(conn, nil)
	case http.StateIdle: // it was active before
	default:
		s.fresh.Delete(conn)
	}
}

// request is a request that the guard has let through.
type request struct {
	*http.Request
	w      http.ResponseWriter
	pass   *pass
	tenant *tenant.Tenant // the caller's; nil where route.tenant is not set
}

// ServeHTTP asks the guard and has the route of the request serve it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handle(w, r, nil) }

// handle is ServeHTTP for a request of which another node may say how it has come there.
func (s *Server) handle(w http.ResponseWriter, r *http.Request, entrance *entrance) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	timeBody(w, r)
	p, err := s.guard.checkOrigin(r, entrance)
	if err == nil && s.o.Nodes != nil && entrance == nil && p.route.ofNode != nil {
		p.route.ofNode(s, w)
		return
	}
	if err == nil && s.o.Elsewhere != nil && entrance == nil && s.forward(w, r, p) {
		return
	}
	var passed *http.Request
	if err == nil {
		if passed, err = s.guard.checkCredential(r, p); err != nil && s.hasLeft(p) {
			s.answerLeft(w, r, p, err)
			return
		}
	}
	if err == nil {
		err = p.checkUser(p.identity)
	}
	if err == nil && p.identity != nil && s.strangers != nil {
		s.strangers.admit(r.Context())
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	if p.route.cors && cors(w, passed, p) {
		return
	}
	if s.draining.Load() && r.URL.Path != "/healthz" {
		if entrance != nil {
			misdirect(w, nil)
		} else {
			s.answerDraining(w)
		}
		return
	}
	if err := s.serve(&request{Request: passed, w: w, pass: p}); err != nil {
		s.answerError(w, passed, err)
	}
}

func (s *Server) answerDraining(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	writeError(w, http.StatusServiceUnavailable, "the hub is shutting down; try again in a moment")
}

func (s *Server) serve(r *request) (err error) {
	rt := r.pass.route
	if rt.client {
		defer s.clients.enter()()
	}
	if !r.pass.rightMethod {
		return wrongMethod(r)
	}
	if err := s.guard.checkOwner(r.pass); err != nil {
		return err
	}
	if rt.tenant {
		if r.tenant, err = s.o.Tenants.Get(r.Context(), r.pass.identity.User); err != nil {
			return s.moved(r, err)
		}
	}
	leave, err := s.share(r)
	if err != nil {
		return err
	}
	defer leave()
	return rt.serve(s, r)
}

// share takes a request off what its user may take of the process, until leave is called.
func (s *Server) share(r *request) (leave func(), err error) {
	t, rt := r.tenant, r.pass.route
	if t == nil && r.pass.identity != nil {
		t, _ = s.o.Tenants.Has(r.pass.identity.User)
	}
	gone, client := r.Context().Done(), rt.kinds&auth.KindClient != 0
	switch {
	case t == nil:
		return func() {}, nil
	case rt.stream && r.Method == http.MethodGet:
		leave, err = t.Share.Socket(client, gone)
	default:
		leave, err = t.Share.Request(client, gone)
	}
	if err != nil {
		r.w.Header().Set("Retry-After", "1")
	}
	return leave, err
}

// given serves a route by a handler of the Options. If that is nil, the path is not found.
func given(handler func(*Options) http.Handler) func(*Server, *request) error {
	return func(s *Server, r *request) error {
		h := handler(&s.o)
		if h == nil {
			return errNoPath
		}
		h.ServeHTTP(r.w, r.Request)
		return nil
	}
}

// serveMCP serves a route by the MCP server of the caller's tenant. The request ends with
// its credential.
func serveMCP(transport func(*mcpserver.Server) http.Handler) func(*Server, *request) error {
	return func(_ *Server, r *request) error {
		id, err := r.identity()
		if err != nil {
			return err
		}
		ctx, cancel := id.Context(methods.WithIdentity(r.Context(), id))
		defer cancel()
		transport(r.tenant.MCP).ServeHTTP(r.w, r.WithContext(ctx))
		return nil
	}
}

// serverLog takes the lines of net/http: a panic is an error, the rest is what
// clients do to connections.
type serverLog struct{ log *slog.Logger }

func (l serverLog) Write(line []byte) (int, error) {
	level := slog.LevelDebug
	if bytes.HasPrefix(line, []byte("http: panic")) {
		level = slog.LevelError
	}
	l.log.Log(context.Background(), level, string(bytes.TrimSpace(line)))
	return len(line), nil
}
