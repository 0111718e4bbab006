package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"tabhub/hub/face/admin"
	"tabhub/hub/face/httpd"
	"tabhub/hub/pages"
	"tabhub/hub/tenant"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/relay"
)

// admission decides which tabs, browsers and peers of the relay join a process, and whose they are.
type admission struct{ *Process }

// admitTab says whose a tab or browser is, when it has said hello. The error may be a
// *tabtransport.RemoteError.
func (p admission) admitTab(r *http.Request, hello *spec.Hello, ex *pairing.Exchange) (tabtransport.Admission, error) {
	if hello != nil {
		if err := p.server.LocateSocket(r, hello.Token); err != nil {
			return tabtransport.Admission{}, err
		}
	}
	a, err := p.admitHello(r, hello, ex)
	if err != nil && p.server.HasMoved(r) {
		return a, errOtherHub
	}
	if err != nil {
		return a, p.refuse(r, err)
	}
	if page := pages.WidgetOrigin(hello); a.OwnPage && page != "" {
		if err := p.guard.AdmitPage(r, page); err != nil {
			return a, p.refuse(r, err)
		}
		a.Origin = page
	}
	// The connection waits until the user's hub is there.
	t, err := p.Tenants.Get(r.Context(), a.User)
	if err != nil {
		return a, p.notOpened(a.User, err)
	}
	return a, countSocket(r, t, false)
}

// countSocket takes the WebSocket of a request, of a client or not, off what its user may take,
// until it ends.
func countSocket(r *http.Request, t *tenant.Tenant, client bool) error {
	if t.Share == nil {
		return nil
	}
	leave, err := t.Share.Socket(client, r.Context().Done())
	if err != nil {
		return spec.Errorf(spec.CodeLimit, "%v", err)
	}
	context.AfterFunc(r.Context(), leave)
	return nil
}

// notOpened returns the error for a peer whose user's hub could not be opened.
func (p admission) notOpened(user spec.UserID, err error) *spec.Error {
	if errors.Is(err, storage.ErrOwned) { // since it was located
		return errOtherHub
	}
	p.Log.Error("a user's hub cannot be opened", "user", user, "err", err)
	return spec.Errorf(spec.CodeInternal, "the hub could not be opened; its log says why")
}

// admitHello checks what a tab or browser shows: the token, or the proof that ends its
// pairing handshake.
func (p admission) admitHello(r *http.Request, hello *spec.Hello, ex *pairing.Exchange) (tabtransport.Admission, error) {
	switch {
	case hello == nil:
		return p.guard.Admit(r, "")
	case ex == nil:
		return p.guard.Admit(r, hello.Token)
	}
	grant, err := ex.Accept(hello.Proof, hello.BrowserName)
	if err != nil {
		return tabtransport.Admission{}, p.pairingError(err)
	}
	return p.guard.AdmitPaired(r, grant)
}

// isOwnPage reports whether a URL is of the dashboard, or of the sign-in of clients, at an
// address of this hub.
func (p admission) isOwnPage(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || !httpd.IsOwnersPage(u.Path) {
		return false
	}
	at := naming.DomainOfURL(raw, true) // as browsers spell it
	if public, err := url.Parse(p.Config.PublicURL); err == nil && public.Host != "" && at == naming.DomainOfURL(p.Config.PublicURL, true) {
		return true
	}
	return slices.ContainsFunc(p.Info.Addrs, func(addr string) bool { return httpd.IsServedAt(addr, string(at)) })
}

// beginPairing answers a browser that says that it is paired with this hub.
func (p admission) beginPairing(r *http.Request, m *spec.Pair) (*pairing.Exchange, error) {
	if err := p.server.LocateSocket(r, string(m.Pairing)); err != nil {
		return nil, err
	}
	at, err := p.guard.PairingAddress(r)
	if err != nil {
		return nil, p.refuse(r, err)
	}
	ex, err := p.ring.Begin(m, at)
	if err != nil && p.server.HasMoved(r) {
		return nil, errOtherHub
	}
	if err != nil {
		return nil, p.refuse(r, p.pairingError(err))
	}
	return ex, nil
}

// refuse returns the error for a peer that err keeps out. Why an extension was refused is
// remembered for the owner.
func (p admission) refuse(r *http.Request, err error) error {
	if strings.Contains(r.Header.Get("Origin"), "-extension://") {
		p.refused.add(admin.Refusal{Reason: whyRefused(err), Own: p.guard.IsOwnUser(r), Last: time.Now()})
	}
	if coded, ok := errors.AsType[*spec.Error](err); ok {
		return coded
	}
	switch {
	case errors.Is(err, pairing.ErrUnknown), errors.Is(err, pairing.ErrProof):
		return spec.Errorf(spec.CodeUnpaired, "%v", err)
	case errors.Is(err, auth.ErrUnchecked): // it may come back
		return spec.Errorf(spec.CodeInternal, "%v", err)
	}
	return spec.Errorf(spec.CodeRefused, "%v", err)
}

// forOwner answers a request that a paired browser makes for its user, the hub's owner.
func (p admission) forOwner(a tabtransport.Admission, tab spec.TabAddr, request any) (any, error) {
	if p.ring.IsStarted(a.Pairing) {
		return nil, errNotOwner
	}
	if _, ok := request.(*spec.Dashboard); ok {
		// What is signed in ends with the pairing.
		url, err := p.server.SignInURL(auth.Identity{User: a.User, Kind: auth.KindBrowser, Principal: policy.Owner, Expires: a.Expires, Revoked: a.Revoked})
		return spec.DashboardResult{URL: url}, err
	}
	t, err := p.Tenants.Get(context.Background(), a.User)
	if err != nil {
		return nil, err
	}
	switch request := request.(type) {
	case *spec.Pause:
		err = t.Hub.Rules.Pause(consent.ByWindow, *request.On)
	case *spec.Release:
		t.Hub.Agents.EndLease(tab, consent.ByWindow)
	case *spec.PackScript:
		document, ok := t.Hub.Packs.Script(request.Pack)
		if !ok {
			return nil, fmt.Errorf("that version of the pack %s is not active, or is no script", request.Pack.Name)
		}
		return spec.PackScriptResult{Document: document}, nil
	case *spec.Recorded:
		name, err := t.Hub.Packs.Recorded(request, consent.ByWindow)
		return spec.RecordedResult{Name: name}, err
	default:
		err = fmt.Errorf("the hub does not serve %T", request)
	}
	return struct{}{}, err
}

// errNotOwner tells a browser that the hub has started for a client what it is not good for.
var errNotOwner = errors.New("this browser was started for an app: it does not speak for the owner of the hub")

// watch tells a paired browser which packs are active, and what its user is to see: in one that the hub has
// started for a client, which tabs are held.
func (p admission) watch(ctx context.Context, a tabtransport.Admission, browser spec.PeerID, tell func(any)) {
	t, err := p.Tenants.Get(ctx, a.User)
	if err != nil {
		return
	}
	var packs sync.WaitGroup
	defer packs.Wait()
	packs.Go(func() { t.Hub.Packs.Watch(ctx, func(active spec.Packs) { tell(active) }) })
	started := p.ring.IsStarted(a.Pairing)
	t.Hub.Owner.WatchOwner(ctx, browser, func(s spec.OwnerState) {
		if started {
			s = spec.OwnerState{Held: s.Held}
		}
		tell(s)
	})
}

var errOtherHub = spec.Errorf(spec.CodeInternal, "another hub serves this user now: connect again")

// pairingError returns the error for an extension that the ring refuses. An error of this
// process may have paths in it and stays in the log.
func (p admission) pairingError(err error) error {
	if errors.Is(err, pairing.ErrUnknown) || errors.Is(err, pairing.ErrProof) {
		return err
	}
	if errors.Is(err, tabtransport.ErrGoingAway) || errors.Is(err, storage.ErrStaleEpoch) {
		return errOtherHub
	}
	p.Log.Error("a browser cannot be paired", "err", err)
	return spec.Errorf(spec.CodeInternal, "the pairing could not be kept; the hub's log says why")
}

// admitRelay says whose a peer of the relay is, when it has shown its token.
func (p admission) admitRelay(h relay.Handshake) (a relay.Admission, err error) {
	if err := p.server.LocateSocket(h.Request, h.Token); err != nil {
		return a, err
	}
	var who *policy.Principal
	if h.Extension {
		a.Admission, err = p.guard.AdmitExtension(h.Request, h.Token)
	} else {
		a.Admission, who, err = p.guard.AdmitClient(h.Request, h.Token)
	}
	switch {
	case err != nil && p.server.HasMoved(h.Request):
		return a, errOtherHub
	case errors.Is(err, auth.ErrUnchecked): // it may come back
		return a, spec.Errorf(spec.CodeInternal, "%v", err)
	case err != nil:
		return a, err
	}
	// The user's hub counts sockets, and decides about clients.
	t, err := p.Tenants.Get(h.Request.Context(), a.User)
	if err != nil {
		return a, p.notOpened(a.User, err)
	}
	if a.Revoked == nil {
		a.Revoked = t.Here // what is signed ends with nothing else that this process does
	}
	if !h.Again {
		if err := countSocket(h.Request, t, !h.Extension); err != nil {
			return a, err
		}
	}
	if !h.Extension {
		bound, err := httpd.BoundOf(h.Request)
		if err != nil {
			return a, err
		}
		gate := &relayGate{t.Hub, &consent.Caller{Principal: who, Said: h.Name, Session: h.Client, Bound: bound}}
		if err := gate.closed(); err == errBound {
			return a, errors.New(bindsAway)
		}
		a.Client, a.Gate = who.ID, gate
	}
	return a, nil
}
