package httpd

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"tabhub/hub/cluster"
	"tabhub/hub/cluster/forward"
	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/auth"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// Locator finds the node of a user. Its methods block, but for Has, and are safe for concurrent use.
type Locator interface {
	// UserOf returns whose a credential is, without checking it; "" if that cannot be told.
	// A credential is what a client shows, the id of a pairing, or a code of the dashboard.
	UserOf(ctx context.Context, credential string) (spec.UserID, error)
	// Locate has the user's hub opened here, or returns what serves the user's requests on
	// the node that has it.
	Locate(ctx context.Context, user spec.UserID) (elsewhere http.Handler, err error)
	// Take is Locate for a request that another node has passed on, because it takes this one
	// for the user's: a user whose hub no node has open gets it here.
	Take(ctx context.Context, user spec.UserID) (elsewhere http.Handler, err error)
	// Has reports whether the user's hub is open here, without blocking.
	Has(user spec.UserID) bool
}

// ClusterPath begins the paths of what nodes ask each other.
const ClusterPath = "/.cluster/"

// entranceHeader is what a node says of a request that has come to it, when it passes it on: an
// entrance, as JSON. It is written over what a client may have sent, and read by ServeNode alone.
const entranceHeader = "Tabhub-Entrance"

// entrance is what a node knows of a request's connection, and nobody else can know. It is no
// credential.
type entrance struct {
	User   spec.UserID `json:"user"`             // whose the node takes the request for
	Remote string      `json:"remote,omitempty"` // address of the client
	Local  string      `json:"local,omitempty"`  // address of the socket that it has come to, if that is TCP
	Secure bool        `json:"secure,omitempty"` // it has come over TLS
	Owner  bool        `json:"owner,omitempty"`  // by a listener of ServeOwner
	Near   bool        `json:"near,omitempty"`   // from a program on the node's machine
	Own    bool        `json:"own,omitempty"`    // of the node's user, as far as that was looked at
	Opened bool        `json:"opened,omitempty"` // the WebSocket was accepted, and told what is said first
}

// forward has a request served by the node that has its user, and reports whether it was
// answered. What shows no credential, a wrong one, or is about the process, is served here.
func (s *Server) forward(w http.ResponseWriter, r *http.Request, p *pass) bool {
	if p.isOfProcess() || p.preflight(r) {
		return false
	}
	if s.draining.Load() { // and may know the credential no more
		s.answerDraining(w)
		return true
	}
	user, err := s.userOf(r, p)
	if err == nil && user == "" {
		return false
	}
	var elsewhere http.Handler
	if err == nil {
		elsewhere, err = s.o.Elsewhere.Locate(r.Context(), user)
	}
	if err != nil {
		w.Header().Set("Retry-After", "1")
		w.Header().Set("Connection", "close") // a balancer may have another node for the next request
		s.answerError(w, r, s.notLocated(user, err))
		return true
	}
	if elsewhere == nil {
		p.here = user
		return false
	}
	s.passOn(w, r, p, user, elsewhere)
	return true
}

// passOn has a request served by the node that has its user, until this one ends if it only reads.
func (s *Server) passOn(w http.ResponseWriter, r *http.Request, p *pass, user spec.UserID, elsewhere http.Handler) {
	ctx := r.Context()
	if r.Method == http.MethodGet { // it may be a stream without an end
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.ctx, cancel)()
	}
	r = r.WithContext(ctx)
	if p.route.merge != nil && p.from == fromOwner {
		s.merge(w, r, p, elsewhere, s.enter(r, p, user, false))
		return
	}
	elsewhere.ServeHTTP(w, s.enter(r, p, user, false))
}

// isOfProcess reports whether a request is served by the node that it has come to.
func (p *pass) isOfProcess() bool {
	rt := p.route
	switch {
	case rt.process && rt.ownerOnly != ownerNever:
		return true
	case rt.process && p.from == fromOwner:
		return rt.merge == nil
	}
	return rt.need == credNone && !rt.ofUser
}

// userOf returns whose a request is, "" if nobody can tell. It proves nothing. Of several credentials
// the first says it: one that is wrong is not made good by another, and each may have to be looked up.
func (s *Server) userOf(r *http.Request, p *pass) (spec.UserID, error) {
	if !s.guard.accounts {
		return spec.LocalUser, nil
	}
	shown := requestTokens(r, p.route)
	if p.route.path == "/api/session" && len(shown) == 0 {
		shown = append(shown, signInCode(r))
	}
	if len(shown) == 0 || shown[0] == "" {
		return "", nil
	}
	return s.o.Elsewhere.UserOf(r.Context(), shown[0])
}

// signInCode returns the code of a page that signs in, and leaves it in the body.
func signInCode(r *http.Request) string {
	var in struct {
		Code string `json:"code"`
	}
	head, _ := io.ReadAll(io.LimitReader(r.Body, 1<<10))
	_ = json.Unmarshal(head, &in)
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), r.Body), r.Body}
	return in.Code
}

// enter returns the request as it is passed on.
func (s *Server) enter(r *http.Request, p *pass, user spec.UserID, opened bool) *http.Request {
	e := entrance{User: user, Remote: r.RemoteAddr, Secure: r.TLS != nil, Owner: isOwner(r.Context()), Near: p.local, Opened: opened}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		e.Local = local.String()
	}
	e.Own = p.local && (p.route.kinds&auth.KindPage != 0 || p.route.need == credNone) && s.guard.isOwners(r, p)
	b, _ := json.Marshal(e)
	out := r.WithContext(r.Context())
	out.Header = r.Header.Clone()
	out.Header[entranceHeader] = []string{strings.ReplaceAll(string(b), "\x7f", `\u007f`)}
	return out
}

// errOtherUser: the node that has passed a request on takes it for another user's.
var errOtherUser = endpoint.Unauthorized("the credentials that were sent are of different users; send one")

// checkUser refuses a request that was passed on for another user than its credential's.
func (p *pass) checkUser(id *auth.Identity) error {
	if p.entrance == nil || id == nil || id.User == "" || id.User == p.entrance.User {
		return nil
	}
	return errOtherUser
}

// moved serves a request whose user another node has taken over in this moment, which err may
// say with a method Elsewhere. Nothing was done.
func (s *Server) moved(r *endpoint.Request, p *pass, err error) error {
	to, ok := errors.AsType[interface {
		error
		Elsewhere() http.Handler
	}](err)
	switch {
	case !ok:
		return err
	case p.entrance != nil:
		misdirect(r.W, to.Elsewhere())
	default:
		s.passOn(r.W, r.Request, p, r.Identity.User, to.Elsewhere())
	}
	return nil
}

// notLocated is the error for who asks if a user's node was not found.
func (s *Server) notLocated(user spec.UserID, err error) error {
	s.log.Warn("a user's node was not found", "user", user, "err", err)
	return &endpoint.Error{Status: http.StatusServiceUnavailable, Text: "the node that has your hub was not found; try again in a moment"}
}

// merge answers with what another node says of a user, and this one of itself.
func (s *Server) merge(w http.ResponseWriter, r *http.Request, p *pass, elsewhere http.Handler, out *http.Request) {
	got := &captured{header: http.Header{}, status: http.StatusOK}
	elsewhere.ServeHTTP(got, out)
	if got.status == http.StatusOK {
		answer, err := p.route.merge(s.api, got.body.Bytes())
		if err == nil {
			endpoint.WriteJSON(w, http.StatusOK, answer)
			return
		}
		s.log.Error("another node's answer cannot be read", "path", r.URL.Path, "err", err)
		got.status = http.StatusBadGateway
	}
	endpoint.JSONHeaders(w.Header())
	w.WriteHeader(got.status)
	_, _ = endpoint.NewTimedWriter(w).Write(got.body.Bytes())
}

// captured is an answer that is not sent yet.
type captured struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (c *captured) Header() http.Header         { return c.header }
func (c *captured) WriteHeader(status int)      { c.status = status }
func (c *captured) Write(b []byte) (int, error) { return c.body.Write(b) }

// Settle has the hub opened here of the user whose credential a socket has shown in its first
// message, or the id of whose pairing. If another node has it, the error is a
// *tabtransport.ElsewhereError. A credential that nobody knows is left to who checks it. It
// blocks, until the end of r's context at the longest.
func (s *Server) Settle(r *http.Request, credential string) error {
	p := passOf(r.Context())
	if s.o.Elsewhere == nil || p == nil || p.entrance != nil || credential == "" || !s.guard.accounts {
		return nil
	}
	user, err := s.o.Elsewhere.UserOf(r.Context(), credential)
	if err == nil && user == "" {
		return nil
	}
	var elsewhere http.Handler
	if err == nil {
		elsewhere, err = s.o.Elsewhere.Locate(r.Context(), user)
	}
	switch {
	case err != nil:
		return spec.Errorf(spec.CodeInternal, "%v", s.notLocated(user, err))
	case elsewhere == nil:
		p.here = user
		return nil
	}
	return &tabtransport.ElsewhereError{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		elsewhere.ServeHTTP(w, s.enter(r, p, user, true))
	})}
}

// ServeNode is Serve for a listener that gives out only connections of other nodes, or of this
// one. It believes them what they say of a request's connection, and nothing else: the guard
// checks the request as if it had come here.
func (s *Server) ServeNode(ln net.Listener) error {
	if err := s.node.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (s *Server) serveNode(w http.ResponseWriter, r *http.Request) {
	if r.Header[entranceHeader] == nil && strings.HasPrefix(r.URL.Path, ClusterPath) {
		if s.o.Cluster == nil {
			http.NotFound(w, r)
		} else {
			s.o.Cluster.ServeHTTP(w, r)
		}
		return
	}
	r, e, err := entered(r)
	if err != nil {
		endpoint.WriteError(w, http.StatusBadRequest, err.Error())
		return
	}
	if s.draining.Load() {
		misdirect(w, nil)
		return
	}
	switch elsewhere, err := s.o.Elsewhere.Take(r.Context(), e.User); {
	case errors.Is(err, cluster.ErrIsolated): // another is about to have the user
		misdirect(w, nil)
	case err != nil:
		w.Header().Set("Retry-After", "1")
		s.answerError(w, r, s.notLocated(e.User, err))
	case elsewhere != nil:
		misdirect(w, elsewhere)
	default:
		s.handle(w, r, e)
	}
}

// answerLeft answers a request whose user has left before the credential was known to be good. Nothing
// was done: a node that has passed it on has it served where the user is now.
func (s *Server) answerLeft(w http.ResponseWriter, r *http.Request, p *pass, err error) {
	if p.entrance != nil {
		misdirect(w, nil)
		return
	}
	w.Header().Set("Retry-After", "1")
	s.answerError(w, r, s.notLocated(p.here, err))
}

// HasLeft reports whether the user whose hub was here when a request was located, or Settle was
// called, has it here no more. Then an unknown credential may be good where it is now.
func (s *Server) HasLeft(r *http.Request) bool { return s.hasLeft(passOf(r.Context())) }

func (s *Server) hasLeft(p *pass) bool {
	if p == nil || s.o.Elsewhere == nil {
		return false
	}
	user := p.here
	if p.entrance != nil {
		user = p.entrance.User
	}
	return user != "" && !s.o.Elsewhere.Has(user)
}

// entered returns a request as it was at the node that has passed it on, and what that says of it.
func entered(r *http.Request) (*http.Request, *entrance, error) {
	e := new(entrance)
	said := r.Header[entranceHeader]
	if len(said) != 1 || json.Unmarshal([]byte(said[0]), e) != nil || e.User == "" {
		return nil, nil, errors.New("this address is for the nodes of a cluster; clients and browsers use the hub's address")
	}
	var local *net.TCPAddr
	if at, err := netip.ParseAddrPort(e.Local); err == nil {
		local = net.TCPAddrFromAddrPort(at)
	}
	ctx := context.WithValue(r.Context(), ownerKey{}, e.Owner)
	ctx = context.WithValue(ctx, http.LocalAddrContextKey, local)
	if e.Opened {
		ctx = tabtransport.WithOpened(ctx)
	}
	r = r.WithContext(ctx)
	r.Header.Del(entranceHeader)
	r.RemoteAddr, r.TLS = e.Remote, nil
	if e.Secure {
		r.TLS = new(tls.ConnectionState)
	}
	return r, e, nil
}

// misdirect answers a request whose user this node does not have. Nothing was done.
func misdirect(w http.ResponseWriter, elsewhere http.Handler) {
	w.Header()[forward.OwnerHeader] = []string{nodeOf(elsewhere)}
	endpoint.WriteError(w, http.StatusMisdirectedRequest, "this node does not have the user's hub")
}

// nodeOf returns the node that a user's requests are served by, "" if that is not known.
func nodeOf(elsewhere http.Handler) string {
	if at, ok := elsewhere.(interface{ Node() string }); ok {
		return at.Node()
	}
	return ""
}
