package httpd

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/auth"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// entranceHeader has, as JSON, the entrance of a request that a process has accepted and forwards. It
// replaces one that a client may have sent, and only ServeForwarded reads it.
const entranceHeader = "Tabhub-Entrance"

// entrance is what only the process that accepted a request's connection knows of it. It is no
// credential.
type entrance struct {
	User        spec.UserID `json:"user"`             // the user whose hub must serve it
	Remote      string      `json:"remote,omitempty"` // address of the client
	Local       string      `json:"local,omitempty"`  // address that the client connected to, if it is TCP
	Secure      bool        `json:"secure,omitempty"` // the connection has TLS
	Owner       bool        `json:"owner,omitempty"`  // by a listener of ServeOwner
	SameMachine bool        `json:"near,omitempty"`   // from a program on the same machine
	SameAccount bool        `json:"own,omitempty"`    // from the account that runs the process, as far as that was checked
	Opened      bool        `json:"opened,omitempty"` // the WebSocket was accepted, and has got the first message
}

// ServeForwarded serves a request that another process of this hub has accepted and forwarded. It trusts
// that process about the request's connection, and about nothing else: the guard checks the request as
// if the client had sent it here. The error is storage.ErrOwned if the user's hub is not here: then
// nothing was done or answered, and the caller tells the other process so.
func (s *Server) ServeForwarded(w http.ResponseWriter, r *http.Request) error {
	r, e, err := entered(r)
	if err != nil {
		endpoint.WriteError(w, http.StatusBadRequest, err.Error())
		return nil
	}
	if s.draining.Load() {
		return errNotHere
	}
	switch err := s.o.Locator.Take(r.Context(), e.User); {
	case errors.Is(err, storage.ErrOwned):
		return err
	case err != nil:
		w.Header().Set("Retry-After", "1")
		s.answerError(w, r, s.notLocated(e.User, err))
		return nil
	}
	return s.handle(w, r, e)
}

// errNotHere is the error of ServeForwarded if it does not know which process has the user.
var errNotHere = fmt.Errorf("the user's hub is not here any more: %w", storage.ErrOwned)

// enter returns a request with its entrance, to forward it.
func (s *Server) enter(r *http.Request, p *pass, user spec.UserID, opened bool) *http.Request {
	e := entrance{User: user, Remote: r.RemoteAddr, Secure: r.TLS != nil, Owner: isOwner(r.Context()), SameMachine: p.local, Opened: opened}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		e.Local = local.String()
	}
	e.SameAccount = p.local && (p.route.kinds&auth.KindPage != 0 || p.route.need == credNone) && s.guard.isOwners(r, p)
	b, _ := json.Marshal(e)
	out := r.WithContext(r.Context())
	out.Header = r.Header.Clone()
	out.Header[entranceHeader] = []string{strings.ReplaceAll(string(b), "\x7f", `\u007f`)}
	return out
}

// errOtherUser says that a request was forwarded for another user than that of its credential.
var errOtherUser = endpoint.Unauthorized("the credentials that were sent are of different users; send one")

// checkUser refuses a request that was forwarded for another user than that of its credential.
func (p *pass) checkUser(id *auth.Identity) error {
	if p.entrance == nil || id == nil || id.User == "" || id.User == p.entrance.User {
		return nil
	}
	return errOtherUser
}

// entered returns a request as it was at the process that has forwarded it, and its entrance.
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
