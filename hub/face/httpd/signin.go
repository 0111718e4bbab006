package httpd

import (
	"net/http"
	"time"

	"golang.org/x/time/rate"

	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/auth"
	"tabhub/spec"
)

const (
	// SignInLife is how long a sign-in address of the dashboard is good.
	SignInLife = 10 * time.Minute
	// loginLife is how long a page stays logged in.
	loginLife = 12 * time.Hour
	// writerIdle is how long a page may still write after its owner has used it last.
	writerIdle = 15 * time.Minute
	// signInsPerUser bounds both the sign-in addresses and the logged-in pages of a user.
	signInsPerUser = 32
)

// signIns are how pages of the dashboard log in without a cookie or the token. An address that the hub
// has made holds a code. The page exchanges it, once, for the secret of a login, which it sends as a
// Bearer to the admin API.
//
// After the hub has ended, a page may send its login to another program that has the hub's port. It is
// worth nothing there: the process that knew it is gone. A program that had the port before the hub may
// have left a service worker in the browser, which sees and does all that the page does. So at the
// hub's usual origins a login only reads. The owner's address leads to an origin of its own
// (dashboardHost), at which there can be no such worker: a login that begins there is good there alone,
// and for the owner's decisions, too (auth.KindWriter).
type signIns struct {
	codes  *logins
	logins *logins
	wrong  *rate.Limiter  // codes that the hub has not made
	warn   rate.Sometimes // of too many of them
}

func newSignIns(dir auth.Directory) *signIns {
	return &signIns{
		codes:  newLogins(SignInLife, signInsPerUser, dir),
		logins: newLogins(loginLife, signInsPerUser, dir),
		wrong:  rate.NewLimiter(rate.Every(3*time.Second), 20),
		warn:   rate.Sometimes{Interval: time.Minute},
	}
}

// SignInURL returns an address that logs one page of the dashboard in as id. It is good once, for
// SignInLife, or until id expires or is revoked. The login ends with id, too. The page may write if the
// hub is on this machine, so the address is for the owner alone. The error is the directory's.
func (s *Server) SignInURL(id auth.Identity) (string, error) {
	return s.signInURL(id, newDashboardHost(s.o.URL))
}

// signInURL is SignInURL for a page at one of the dashboard's own hosts, or, if host is "", at the
// hub's address, where it only reads.
func (s *Server) signInURL(id auth.Identity, host string) (string, error) {
	if s.guard.verifier == nil {
		return s.o.URL + "/", nil // no login is needed
	}
	base := s.o.URL
	if host != "" {
		base = "http://" + host
	}
	code, _, err := s.guard.signIns.codes.add(id, host)
	return base + "/#code=" + code, err
}

// SignOut ends the addresses that SignInURL has made for a user, and the logins that came of them.
func (g *Guard) SignOut(user spec.UserID) {
	g.signIns.codes.forgetAll(user)
	g.signIns.logins.forgetAll(user)
}

// SignInReport is the answer to POST /api/signin.
type SignInReport struct {
	URL string `json:"url"`
}

// LoginReport is the answer to POST /api/session and, without Login, to PUT.
type LoginReport struct {
	Login   string    `json:"session,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
	Writes  time.Time `json:"writes,omitzero"` // until then the page may write if it is not used; zero: it only reads
}

// postSignIn makes an address that logs a page in as the caller.
func (s *Server) postSignIn(r *endpoint.Request) error {
	id, host := *r.Identity, newDashboardHost(s.o.URL)
	if !r.Owner && !s.guard.accounts {
		host = "" // with the token alone a caller decides nothing
	}
	if s.o.Token != nil && r.Owner {
		id = s.o.Token.Identity() // the owner shows none, but a new token logs all pages out
	}
	url, err := s.signInURL(id, host)
	if err != nil {
		return err
	}
	return r.Answer(SignInReport{url})
}

// postSession logs a page in that shows a code or, on a hub with accounts, a token.
func (s *Server) postSession(r *endpoint.Request) error {
	id, err := s.signIn(r)
	if err != nil {
		return err
	}
	host := dashboardHost(r.Request)
	login, expires, err := s.guard.signIns.logins.add(id, host)
	if err != nil {
		return err
	}
	report := LoginReport{Login: login, Expires: expires}
	if host != "" {
		report.Writes = time.Now().Add(writerIdle)
	}
	return r.Answer(report)
}

// putSession notes that the owner uses the page.
func (s *Server) putSession(r *endpoint.Request) error {
	return r.Answer(LoginReport{Writes: r.Identity.Expires})
}

func (s *Server) signIn(r *endpoint.Request) (auth.Identity, error) {
	shown := r.Identity
	switch {
	case s.guard.verifier == nil:
		return auth.Identity{}, endpoint.BadRequest("this hub asks for no credential, so there is nothing to sign in to")
	case shown != nil && s.guard.accounts && dashboardHost(r.Request) == "":
		return *shown, nil
	case shown != nil:
		return auth.Identity{}, endpoint.Forbidden("the token is not for pages; open the address that `tabhub dashboard --print` prints")
	}
	var in struct {
		Code string `json:"code"`
	}
	if err := r.Read(1<<10, &in); err != nil {
		return auth.Identity{}, err
	}
	at := dashboardHost(r.Request)
	if code, ok := s.guard.signIns.codes.take(in.Code); ok && (at == "" || at == code.host) {
		return code.Identity, nil
	}
	// A right code is accepted however many wrong ones came before, so that guesses, which have no
	// chance with 128 bits, lock no user out.
	if !s.guard.signIns.wrong.Allow() {
		s.guard.signIns.warn.Do(func() { s.log.Warn("a program tries one sign-in code after the other") })
		r.W.Header().Set("Retry-After", "3")
		return auth.Identity{}, &endpoint.Error{Status: http.StatusTooManyRequests, Text: "too many codes were wrong; try again in a moment"}
	}
	return auth.Identity{}, endpoint.Unauthorized("this address is used up or too old: each signs in one page, once, for %d minutes", int(SignInLife.Minutes()))
}

// deleteSession logs out the page that asks for it.
func (s *Server) deleteSession(r *endpoint.Request) error {
	s.guard.signIns.logins.take(passOf(r.Context()).login)
	r.W.WriteHeader(http.StatusNoContent)
	return nil
}
