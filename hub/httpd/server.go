package httpd

import (
	"bytes"
	"context"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/mcpserver"
	"tabhub/spec"
	"tabhub/tabtransport/pairing"
)

// World is one user's hub and its MCP face.
type World struct {
	Hub *hub.Hub
	MCP *mcpserver.Server
	// Builtin are the hub's own tools, as MCP was given them.
	Builtin []builtin.Tool
}

// Info is what the hub process says of itself.
type Info struct {
	Version string    `json:"version"`
	PID     int       `json:"pid"`
	Addrs   []string  `json:"addrs"`
	Socket  string    `json:"socket,omitempty"` // path of the socket for programs of the hub's user
	DataDir string    `json:"dataDir,omitempty"`
	Auto    bool      `json:"auto"` // started by a bridge
	Started time.Time `json:"started"`
	// Sockets are the counters of the tabs' WebSockets.
	Sockets any `json:"sockets,omitempty"`
	// Refused is why browsers' extensions were refused lately.
	Refused []Refusal `json:"refused,omitempty"`
}

// Refusal says why extensions were refused.
type Refusal struct {
	Reason string    `json:"reason"`
	Own    bool      `json:"own"` // they ran on the hub's machine, as its own user
	Times  int       `json:"times"`
	Last   time.Time `json:"last"`
}

// Options configure a Server. Guard and World must be set.
type Options struct {
	Guard *Guard
	// World returns a user's world, and opens it if need be.
	World func(context.Context, spec.UserID) (World, error)

	// The endpoints that other packages serve; where one is nil the path is not
	// found. All of them are behind the guard.
	Tabs      http.Handler // /tabs
	WebMCP    http.Handler // upgrades of /
	Extension http.Handler // /extension
	Relay     http.Handler // /relay
	Client    http.Handler // upgrades of /mcp
	Pages     http.Handler // all other paths

	// URL is where the hub's user opens the dashboard, less the slash at its end.
	URL  string
	Info func() Info
	// Ring is the pairings of the hub with browsers. Nil: there can be none.
	Ring *pairing.Ring
	// Stop asks the process to end; why is "stop", "upgrade" or "idle".
	Stop func(why string)
	// Rotate replaces the hub's token. Nil: it has none that could be.
	Rotate func() error
	// Idle is how long the hub goes on without a client until it stops; 0 is for
	// ever.
	Idle time.Duration
	// BodyTimeout is how long the body of a request may take to come; 0 means 30 s.
	BodyTimeout time.Duration
	Log         *slog.Logger // nil discards
}

// Server serves all endpoints. Serve may be called for several listeners.
type Server struct {
	o       Options
	guard   *Guard
	log     *slog.Logger
	http    *http.Server
	api     *http.ServeMux
	clients clients

	ctx    context.Context // ends when attached streams must
	cancel context.CancelFunc
	bridge sync.WaitGroup // attached streams

	mu       sync.Mutex
	draining bool
	farewell string // what bridges are told at the end
}

// New returns a Server that serves nothing yet.
func New(o Options) *Server {
	s := &Server{o: o, guard: o.Guard, log: o.Log, farewell: "stop"}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.o.BodyTimeout <= 0 {
		s.o.BodyTimeout = bodyTimeout
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.clients.idle = o.Idle
	s.clients.expired = func() {
		s.log.Info("no client left: stopping", "idle", o.Idle)
		o.Stop("idle")
	}
	s.api = s.adminAPI()
	s.http = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		BaseContext:       baseContext,
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

// Shutdown refuses new requests, has the MCP faces answer what is under way, tells
// the bridges why the hub ends, and closes all connections. When ctx is done it
// gives up on waiting. why is what Options.Stop was called with, or "stop".
func (s *Server) Shutdown(ctx context.Context, why string, worlds []World) error {
	s.mu.Lock()
	s.draining = true
	s.farewell = why
	s.mu.Unlock()
	s.clients.stop()
	var wg sync.WaitGroup
	for _, w := range worlds {
		wg.Go(func() { w.MCP.Close(ctx) })
	}
	wg.Wait()
	s.cancel()
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

// ServeHTTP is the mux.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	timeBody(w, r, s.o.BodyTimeout)
	passed, err := s.guard.check(r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	r = passed
	p := passOf(r.Context())
	if p.endpoint.cors && cors(w, r, p) {
		return
	}
	if s.isDraining() && r.URL.Path != "/healthz" {
		w.Header().Set("Retry-After", "1")
		writeError(w, http.StatusServiceUnavailable, "the hub is shutting down; try again in a moment")
		return
	}
	s.route(w, r, p)
}

func (s *Server) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

func (s *Server) route(w http.ResponseWriter, r *http.Request, p *pass) {
	ws := isUpgrade(r, "websocket")
	switch path := r.URL.Path; {
	case path == "/mcp" && ws:
		s.serveRelay(s.o.Client, w, r)
	case path == "/mcp":
		s.serveMCP(w, r, p, (*mcpserver.Server).MCP)
	case path == "/sse":
		s.serveMCP(w, r, p, (*mcpserver.Server).SSE)
	case path == "/message":
		s.serveMCP(w, r, p, (*mcpserver.Server).Message)
	case path == "/tabs":
		delegate(s.o.Tabs, w, r)
	case path == "/" && ws:
		delegate(s.o.WebMCP, w, r)
	case path == "/extension":
		s.serveRelay(s.o.Extension, w, r)
	case path == "/relay":
		s.serveRelay(s.o.Relay, w, r)
	case path == "/attach":
		s.attach(w, r, p)
	case path == "/", strings.HasPrefix(path, dashboardFiles):
		s.dashboard(w, r)
	case path == "/healthz":
		s.health(w)
	case path == "/readyz":
		s.ready(w, r, p)
	case strings.HasPrefix(path, "/api/"):
		defer s.clients.enter()()
		s.api.ServeHTTP(w, r)
	default:
		delegate(s.o.Pages, w, r)
	}
}

func delegate(h http.Handler, w http.ResponseWriter, r *http.Request) {
	if h == nil {
		writeError(w, http.StatusNotFound, "there is nothing at this path")
		return
	}
	h.ServeHTTP(w, r)
}

// serveRelay serves a socket of the relay, whose peers are clients for as long as
// they are connected: an extension that comes and goes with the hub could not be
// reached.
func (s *Server) serveRelay(h http.Handler, w http.ResponseWriter, r *http.Request) {
	defer s.clients.enter()()
	delegate(h, w, r)
}

// serveMCP hands a request to the user's MCP face. The request ends with its
// credential.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request, p *pass, face func(*mcpserver.Server) http.Handler) {
	defer s.clients.enter()()
	world, err := s.o.World(r.Context(), p.identity.User)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	ctx, cancel := p.identity.bound(mcpserver.WithIdentity(r.Context(), string(p.identity.User)))
	defer cancel()
	face(world.MCP).ServeHTTP(w, r.WithContext(ctx))
}

func (s *Server) health(w http.ResponseWriter) {
	writeJSON(w, http.StatusOK, map[string]string{"service": "tabhub", "status": "ok", "version": s.o.Info().Version})
}

func (s *Server) ready(w http.ResponseWriter, r *http.Request, p *pass) {
	world, err := s.o.World(r.Context(), p.identity.User)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if e := world.Hub.Status().StoreError; e != "" {
		writeError(w, http.StatusServiceUnavailable, "the store does not take writes: "+e)
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}

// fail answers an error of this process. Its text stays in the log: it may hold
// paths.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	s.log.Error("request failed", "path", r.URL.Path, "err", err)
	writeError(w, http.StatusInternalServerError, "the hub could not do this; its log says why")
}

// refuse answers what the guard did not let through. The request's query and
// headers may hold a token and are not logged.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	no, ok := errors.AsType[*refusal](err)
	if !ok {
		no = &refusal{http.StatusForbidden, err.Error()}
	}
	if no.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="tabhub"`)
	}
	w.Header().Set("Connection", "close")
	if wantsPage(r) {
		writeRefusal(w, no)
		return
	}
	if path := r.URL.Path; no.status == http.StatusUnauthorized && (path == "/sse" || path == "/message") {
		// As Moonsurf says it, whose clients may look for that.
		const said = "Authentication required"
		writeJSON(w, no.status, map[string]string{"error": said, "hint": strings.TrimPrefix(no.text, said+": ")})
		return
	}
	writeError(w, no.status, no.text)
}

// serverLog takes the lines of net/http: a panic is an error, the rest is what
// strangers do to connections.
type serverLog struct{ log *slog.Logger }

func (l serverLog) Write(line []byte) (int, error) {
	level := slog.LevelDebug
	if bytes.HasPrefix(line, []byte("http: panic")) {
		level = slog.LevelError
	}
	l.log.Log(context.Background(), level, string(bytes.TrimSpace(line)))
	return len(line), nil
}
