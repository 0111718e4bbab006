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

	"tabhub/hub/face/admin"
	"tabhub/hub/face/endpoint"
	"tabhub/hub/face/mcpserver"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/tenant"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/auth/oauth"
	"tabhub/spec"
	"tabhub/storage"
)

// Options configure a Server. Guard, Tenants and the functions of API must be set.
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

	// API configures the admin API. New sets those of its members that the door knows.
	API admin.Options
	// URL is where users open the dashboard, without the slash at its end.
	URL string
	// OAuth lets clients sign in that know nothing but the hub's address. Nil: none can.
	OAuth *oauth.Server
	// Issuer is the authorization server of a hub with accounts, "" if it has none to which
	// clients can go.
	Issuer string
	// Token is the hub's own. Nil: it has none.
	Token *auth.Token
	// Idle is how long the hub runs without a client before it stops; 0: for ever.
	Idle time.Duration
	// Locator finds the users whose hubs are in other processes. Nil: all are in this one.
	Locator Locator
	// Cluster serves /api/cluster. Nil: nothing does.
	Cluster http.Handler
	// Ready says why a balancer should have other processes take new connections, in /readyz, which
	// then needs no credential; nil: it should not. Options.Ready nil: /readyz is of the user's hub.
	Ready func() error
	Log   *slog.Logger // nil discards
}

// Server serves all endpoints. Serve may be called for several listeners.
type Server struct {
	o       Options
	guard   *Guard
	log     *slog.Logger
	http    *http.Server
	clients clients

	api      *admin.API
	refusals *refusals
	conns    connections

	authorization authorization

	ctx    context.Context // ends when attached streams must
	cancel context.CancelFunc
	bridge sync.WaitGroup // attached streams

	draining atomic.Bool // set with mu held

	mu       sync.Mutex
	farewell string // the reason for the end, for bridges
}

// New returns a Server that serves nothing yet.
func New(o Options) *Server {
	s := &Server{o: o, guard: o.Guard, log: o.Log, refusals: newRefusals(), farewell: "stop"}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.conns.bound = o.Guard.verifier != nil
	api := &s.o.API
	api.Tenants, api.Accounts, api.URL, api.Log, api.Served = o.Tenants, o.Guard.accounts, o.URL, s.log, s.clients.count
	s.api = admin.New(*api)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.authorization = authorization{o.Guard, o.OAuth, o.Issuer, s.log, s.ctx}
	s.clients.idle = o.Idle
	s.clients.expired = func() {
		s.log.Info("no client left: stopping", "idle", o.Idle)
		o.API.Stop("idle")
	}
	s.http = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		BaseContext:       baseContext,
		ConnContext:       s.conns.add,
		ConnState:         s.conns.change,
		ErrorLog:          log.New(serverLog{s.log}, "", 0),
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

// ServeOwner is Serve for a listener that accepts only programs of the user who runs the hub, such
// as that of a Unix socket which checks its peers. Their requests need no credential, and no Host
// that is a name of this hub.
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

// Shutdown refuses new requests, has the tenants' MCP servers answer the requests in flight, tells
// the bridges why the hub ends (see FarewellMethod), and closes all connections. When ctx is done it
// stops waiting.
func (s *Server) Shutdown(ctx context.Context, why string) error {
	s.mu.Lock()
	s.draining.Store(true)
	s.farewell = why
	s.mu.Unlock()
	s.clients.stop()
	s.o.Tenants.Drain(ctx)
	s.cancel()
	s.api.Close()
	s.conns.closeFresh()
	err := s.http.Shutdown(ctx)
	if err != nil {
		s.http.Close()
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

// ErrorLog is for what else accepts connections for the hub.
func (s *Server) ErrorLog() *log.Logger { return s.http.ErrorLog }

// Streams returns how many streams of the admin API a user has open. An open dashboard has one.
func (s *Server) Streams(user spec.UserID) int { return s.api.Streams(user) }

// ServeHTTP has the guard check a request, and the request's route serve it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.o.Ready != nil && r.Header["Upgrade"] == nil && s.o.Ready() != nil {
		w.Header().Set("Connection", "close") // the next request goes to another process
	}
	_ = s.handle(w, r, nil)
}

// handle is ServeHTTP for a request that may have been forwarded. The error is that of ServeForwarded.
func (s *Server) handle(w http.ResponseWriter, r *http.Request, entrance *entrance) error {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	timeBody(w, r)
	p, err := s.guard.checkOrigin(r, entrance)
	if err == nil && s.o.Ready != nil && entrance == nil && p.route.ofProcess != nil {
		p.route.ofProcess(s, w)
		return nil
	}
	if err == nil && s.o.Locator != nil && entrance == nil && s.forward(w, r, p) {
		return nil
	}
	var passed *http.Request
	if err == nil {
		if passed, err = s.guard.checkCredential(r, p); err != nil && s.hasMoved(p) {
			return s.notHere(w, r, p)
		}
	}
	if err == nil {
		err = p.checkUser(p.identity)
	}
	if err == nil && p.identity != nil {
		s.conns.prove(r.Context())
	}
	if err != nil {
		s.refuse(w, r, err)
		return nil
	}
	if p.route.cors && cors(w, passed, p) {
		return nil
	}
	if s.draining.Load() && r.URL.Path != "/healthz" {
		if entrance != nil {
			return errNotHere
		}
		s.answerDraining(w)
		return nil
	}
	err = s.serve(&endpoint.Request{Request: passed, W: w, Identity: p.identity, Owner: p.from == fromOwner, Dashboard: p.from&fromSelf != 0}, p)
	if entrance != nil && errors.Is(err, storage.ErrOwned) {
		return err
	}
	if err != nil {
		s.answerError(w, passed, err)
	}
	return nil
}

// notHere answers a request whose user has moved before the credential was known to be good. Nothing
// was done: where it was forwarded, the other process has it served where the user is now.
func (s *Server) notHere(w http.ResponseWriter, r *http.Request, p *pass) error {
	if p.entrance != nil {
		return errNotHere
	}
	w.Header().Set("Retry-After", "1")
	s.answerError(w, r, s.notLocated(p.here, errNotHere))
	return nil
}

func (s *Server) answerDraining(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	endpoint.WriteError(w, http.StatusServiceUnavailable, "the hub is shutting down; try again in a moment")
}

func (s *Server) serve(r *endpoint.Request, p *pass) (err error) {
	rt := p.route
	if rt.client {
		defer s.clients.enter()()
	}
	if !p.rightMethod {
		return wrongMethod(r, p)
	}
	if err := s.guard.checkOwner(p); err != nil {
		return err
	}
	if rt.tenant {
		if r.Tenant, err = s.o.Tenants.Get(r.Context(), r.Identity.User); err != nil {
			return s.moved(r, p, err)
		}
	}
	leave, err := s.share(r, rt)
	if err != nil {
		return err
	}
	defer leave()
	return s.moved(r, p, rt.serve(s, r))
}

// share counts a request among those of its user, which are bounded, until leave is called.
func (s *Server) share(r *endpoint.Request, rt *route) (leave func(), err error) {
	t := r.Tenant
	if t == nil && r.Identity != nil {
		t, _ = s.o.Tenants.Has(r.Identity.User)
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
		r.W.Header().Set("Retry-After", "1")
	}
	return leave, err
}

// given serves a route by a handler of the Options. Without one the path is not found.
func given(handler func(*Options) http.Handler) func(*Server, *endpoint.Request) error {
	return func(s *Server, r *endpoint.Request) error {
		h := handler(&s.o)
		if h == nil {
			return errNoPath
		}
		h.ServeHTTP(r.W, r.Request)
		return nil
	}
}

// serveMCP serves a route by the MCP server of the caller's tenant. The request ends with its
// credential.
func serveMCP(transport func(*mcpserver.Server) http.Handler) func(*Server, *endpoint.Request) error {
	return func(_ *Server, r *endpoint.Request) error {
		id, err := boundIdentity(r)
		if err != nil {
			return err
		}
		ctx, cancel := id.Context(methods.WithIdentity(r.Context(), id))
		defer cancel()
		transport(r.Tenant.MCP).ServeHTTP(r.W, r.WithContext(ctx))
		return nil
	}
}

// serverLog takes the lines of net/http: a panic is an error, the rest is about connections that
// clients have broken.
type serverLog struct{ log *slog.Logger }

func (l serverLog) Write(line []byte) (int, error) {
	level := slog.LevelDebug
	if bytes.HasPrefix(line, []byte("http: panic")) {
		level = slog.LevelError
	}
	l.log.Log(context.Background(), level, string(bytes.TrimSpace(line)))
	return len(line), nil
}
