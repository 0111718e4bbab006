package main

import (
	"errors"
	"net/http"

	"tabhub/hub/httpd"
	"tabhub/hub/pages"
	"tabhub/spec"
	"tabhub/tabtransport/relay"
	"tabhub/tabtransport/wsserver"
)

// admitTab says whose a tab or browser is, when it has said hello.
func (p *process) admitTab(r *http.Request, hello *spec.Hello) (wsserver.Admission, error) {
	refuse := func(err error) (wsserver.Admission, error) {
		return wsserver.Admission{}, spec.Errorf(spec.CodeRefused, "%v", err)
	}
	a, err := p.admitHello(r, hello)
	if err != nil {
		return refuse(err)
	}
	out := wsserver.Admission{User: a.User, Attested: a.Attested, Until: a.Expires, Revoked: a.Revoked}
	if page := pages.WidgetOrigin(hello); a.Own && page != "" {
		if err := p.guard.AdmitPage(r, page); err != nil {
			return refuse(err)
		}
		out.Origin = page
	}
	// The connection waits until the user's hub is there.
	if _, err := p.users.Get(r.Context(), a.User); err != nil {
		p.log.Error("a user's hub cannot be opened", "user", a.User, "err", err)
		return wsserver.Admission{}, spec.Errorf(spec.CodeInternal, "the hub could not be opened; its log says why")
	}
	return out, nil
}

// admitHello checks the credential that a tab or browser shows: the token, or, of a
// browser that the hub itself has started, what it was started with.
func (p *process) admitHello(r *http.Request, hello *spec.Hello) (httpd.Admission, error) {
	if hello == nil {
		return p.guard.Admit(r, "")
	}
	p.mu.Lock()
	instances := p.instances
	p.mu.Unlock()
	if hello.Instance != "" && instances != nil && instances.Runs(hello.Instance) {
		return p.guard.AdmitStarted(r)
	}
	return p.guard.Admit(r, hello.Token)
}

// admitRelay says whose a peer of the relay is, when it has shown its token.
func (p *process) admitRelay(h relay.Handshake) (relay.Admission, error) {
	admit := p.guard.AdmitClient
	if h.Extension {
		admit = p.guard.AdmitExtension
	}
	a, err := admit(h.Request, h.Token)
	if err != nil {
		return relay.Admission{}, err
	}
	// The user's hub takes extensions that can open tabs.
	if _, err := p.users.Get(h.Request.Context(), a.User); err != nil {
		p.log.Error("a user's hub cannot be opened", "user", a.User, "err", err)
		return relay.Admission{}, errors.New("the hub could not be opened; its log says why")
	}
	return relay.Admission{User: a.User, Until: a.Expires, Revoked: a.Revoked}, nil
}
