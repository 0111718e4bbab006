package httpd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"tabhub/hub/face/endpoint"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// Locator finds the process that has a user's hub, when several processes serve one hub. Its methods are
// safe for concurrent use; all but Has block.
type Locator interface {
	// UserOf returns the user of a credential, without checking it; "" if it is unknown. The credential
	// is a client's token, the id of a pairing, or a code of the dashboard.
	UserOf(ctx context.Context, credential string) (spec.UserID, error)
	// Locate opens the user's hub here and returns nil, or returns the handler that forwards the user's
	// requests. The message of an error that is a *spec.Error is for the user.
	Locate(ctx context.Context, user spec.UserID) (remote http.Handler, err error)
	// Take opens the user's hub here, for a request that another process has forwarded. The error is
	// storage.ErrOwned if another process has the user, or is about to.
	Take(ctx context.Context, user spec.UserID) error
	// Has reports whether the user's hub is open here.
	Has(user spec.UserID) bool
}

// forward forwards a request if its user is remote, and reports whether it has answered. This process
// serves requests without a credential, with an unknown one, and those about the process.
func (s *Server) forward(w http.ResponseWriter, r *http.Request, p *pass) bool {
	if p.isOfProcess() || p.preflight(r) {
		return false
	}
	if s.draining.Load() { // this process may no longer know the credential
		s.answerDraining(w)
		return true
	}
	user, err := s.userOf(r, p)
	if err == nil && user == "" {
		return false
	}
	var remote http.Handler
	if err == nil {
		remote, err = s.o.Locator.Locate(r.Context(), user)
	}
	if err != nil {
		w.Header().Set("Retry-After", "1")
		w.Header().Set("Connection", "close") // a balancer may have another process for the next request
		s.answerError(w, r, s.notLocated(user, err))
		return true
	}
	if remote == nil {
		p.here = user
		return false
	}
	s.passOn(w, r, p, user, remote)
	return true
}

// passOn serves a request by a remote handler. A GET ends with this process.
func (s *Server) passOn(w http.ResponseWriter, r *http.Request, p *pass, user spec.UserID, remote http.Handler) {
	ctx := r.Context()
	if r.Method == http.MethodGet { // it may be a stream without an end
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.ctx, cancel)()
	}
	r = r.WithContext(ctx)
	if p.route.merge != nil && p.from == fromOwner {
		s.merge(w, r, p, remote, s.enter(r, p, user, false))
		return
	}
	remote.ServeHTTP(w, s.enter(r, p, user, false))
}

// isOfProcess reports whether the process that receives a request serves it, for any user.
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

// userOf returns the user of a request, "" if unknown. It proves nothing. Of several credentials only the
// first counts: a good one does not make up for a bad one, and each may need a look-up.
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
	return s.o.Locator.UserOf(r.Context(), shown[0])
}

// signInCode returns the sign-in code in a request's body, and leaves the body whole.
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

// moved forwards a request that failed, without any effect, because another process has taken the user
// over since forward located it.
func (s *Server) moved(r *endpoint.Request, p *pass, err error) error {
	if s.o.Locator == nil || p.entrance != nil || !errors.Is(err, storage.ErrOwned) {
		return err
	}
	user := r.Identity.User
	remote, lost := s.o.Locator.Locate(r.Context(), user)
	switch {
	case lost != nil:
		return s.notLocated(user, lost)
	case remote == nil: // it is back
		return err
	}
	s.passOn(r.W, r.Request, p, user, remote)
	return nil
}

// notLocated is the error that the client gets if a user's hub was not found.
func (s *Server) notLocated(user spec.UserID, err error) error {
	s.log.Warn("a user's hub was not found", "user", user, "err", err)
	text := "your hub was not found; try again in a moment"
	if public, ok := errors.AsType[*spec.Error](err); ok {
		text = public.Message
	}
	return &endpoint.Error{Status: http.StatusServiceUnavailable, Text: text}
}

// merge answers with another process's answer about a user, and this process's about itself.
func (s *Server) merge(w http.ResponseWriter, r *http.Request, p *pass, remote http.Handler, out *http.Request) {
	got := &captured{header: http.Header{}, status: http.StatusOK}
	remote.ServeHTTP(got, out)
	if got.status == http.StatusOK {
		answer, err := p.route.merge(s.api, got.body.Bytes())
		if err == nil {
			endpoint.WriteJSON(w, http.StatusOK, answer)
			return
		}
		s.log.Error("another process's answer cannot be read", "path", r.URL.Path, "err", err)
		got.status = http.StatusBadGateway
	}
	endpoint.JSONHeaders(w.Header())
	w.WriteHeader(got.status)
	_, _ = endpoint.NewTimedWriter(w).Write(got.body.Bytes())
}

// captured is a response that is not sent yet.
type captured struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (c *captured) Header() http.Header         { return c.header }
func (c *captured) WriteHeader(status int)      { c.status = status }
func (c *captured) Write(b []byte) (int, error) { return c.body.Write(b) }

// LocateSocket opens the user's hub here for a socket whose first message shows a credential or the id of
// a pairing. If another process has the user, the error is a *tabtransport.RemoteError. It leaves an
// unknown credential to the check of credentials. It blocks until r's context ends at most.
func (s *Server) LocateSocket(r *http.Request, credential string) error {
	p := passOf(r.Context())
	if s.o.Locator == nil || p == nil || p.entrance != nil || credential == "" || !s.guard.accounts {
		return nil
	}
	user, err := s.o.Locator.UserOf(r.Context(), credential)
	if err == nil && user == "" {
		return nil
	}
	var remote http.Handler
	if err == nil {
		remote, err = s.o.Locator.Locate(r.Context(), user)
	}
	switch {
	case err != nil:
		return spec.Errorf(spec.CodeInternal, "%v", s.notLocated(user, err))
	case remote == nil:
		p.here = user
		return nil
	}
	return &tabtransport.RemoteError{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		remote.ServeHTTP(w, s.enter(r, p, user, true))
	})}
}

// HasMoved reports whether the user's hub has left this process since it was located for a request or by
// LocateSocket. Then an unknown credential may be good at the process that has the hub now.
func (s *Server) HasMoved(r *http.Request) bool { return s.hasMoved(passOf(r.Context())) }

func (s *Server) hasMoved(p *pass) bool {
	if p == nil || s.o.Locator == nil {
		return false
	}
	user := p.here
	if p.entrance != nil {
		user = p.entrance.User
	}
	return user != "" && !s.o.Locator.Has(user)
}
