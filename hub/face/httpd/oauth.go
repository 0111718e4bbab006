package httpd

import (
	"context"
	"encoding/json"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"tabhub/hub/face/admin/dashboard"
	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/auth/oauth"
)

// Where the metadata is; what it is of follows the path.
const (
	resourceMetadata = "/.well-known/oauth-protected-resource"
	serverMetadata   = "/.well-known/oauth-authorization-server"
	openIDMetadata   = "/.well-known/openid-configuration" // where some clients look, too
)

// authorization has the endpoints by which clients sign in.
type authorization struct {
	guard  *Guard
	server *oauth.Server // nil: the hub is no authorization server
	issuer string        // see Options.Issuer
	log    *slog.Logger
	ctx    context.Context // done when the Server ends
}

// baseOf is the address of the hub as the client of a request knows it. Clients compare the addresses
// in metadata with the one that they were given.
func (g *Guard) baseOf(r *http.Request) string {
	if g.public != nil && (g.proxied || strings.EqualFold(g.public.Host, r.Host)) {
		return originOf(g.public) + strings.TrimRight(g.public.EscapedPath(), "/")
	}
	return g.selfOrigin(r)
}

// challenge shows an MCP client that was refused where it gets a token by OAuth. It returns the
// WWW-Authenticate, and a hint for people, which follows the reason of the refusal.
func (a *authorization) challenge(r *http.Request) (challenge, hint string) {
	challenge = `Bearer realm="tabhub"`
	path := strings.Replace(r.URL.Path, "/message", "/sse", 1)
	m, ok := a.resourceAt(r, path)
	if !ok {
		return challenge, ""
	}
	if r.Header["Authorization"] != nil {
		challenge += `, error="invalid_token"`
	} else {
		hint = "; a client that can sign in (OAuth) gets a token by itself, at " + m.AuthorizationServers[0]
	}
	return challenge + `, resource_metadata="` + a.guard.baseOf(r) + resourceMetadata + path + `"`, hint
}

// resourceAt returns the metadata of the endpoint at a path, and whether there is any.
func (a *authorization) resourceAt(r *http.Request, path string) (oauth.ResourceMetadata, bool) {
	m, ok := oauth.ResourceAt(a.guard.baseOf(r), path, a.issuer)
	return m, ok && (a.server != nil || a.issuer != "")
}

func (a *authorization) getResourceMetadata(r *endpoint.Request) error {
	m, ok := a.resourceAt(r.Request, strings.TrimPrefix(r.URL.Path, resourceMetadata))
	if !ok {
		return errNoPath
	}
	return r.Answer(m)
}

// getServerMetadata serves the metadata of the authorization server that the hub is itself.
// Its path ends in that of the hub's address.
func (a *authorization) getServerMetadata(r *endpoint.Request) error {
	base := a.guard.baseOf(r.Request)
	path := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, serverMetadata), openIDMetadata)
	if a.server == nil || !strings.HasSuffix(base, path) || path != "" && path[0] != '/' {
		return errNoPath
	}
	return r.Answer(oauth.ServerAt(base))
}

// authorized serves a route by a method of authorization.
func authorized(serve func(*authorization, *endpoint.Request) error) func(*Server, *endpoint.Request) error {
	return func(s *Server, r *endpoint.Request) error { return serve(&s.authorization, r) }
}

// ifOAuth serves an endpoint of a hub that is its own authorization server.
func ifOAuth(serve func(*authorization, *endpoint.Request) error) func(*Server, *endpoint.Request) error {
	return authorized(func(a *authorization, r *endpoint.Request) error {
		if a.server == nil {
			return &endpoint.Error{Status: http.StatusNotFound, Text: "clients do not sign in at this hub: it asks for no token, or for those of an issuer"}
		}
		err := serve(a, r)
		if refused, ok := errors.AsType[*oauth.Error](err); ok {
			return answerOAuth(r, refused)
		}
		return err
	})
}

// answerOAuth answers an error in the form that OAuth gives it.
func answerOAuth(r *endpoint.Request, no *oauth.Error) error {
	status := http.StatusBadRequest
	if no.Code == oauth.TooMany {
		status = http.StatusTooManyRequests
		r.W.Header().Set("Retry-After", "60")
	}
	endpoint.WriteJSON(r.W, status, map[string]string{"error": no.Code, "error_description": no.Text})
	return nil
}

// sourceOf returns the source whose limits a request without a credential uses up: a user of this
// machine, as far as the system tells, or an address. The owner's proxy is not the owner: it passes on
// requests of others.
func (g *Guard) sourceOf(r *endpoint.Request) oauth.Source {
	p := passOf(r.Context())
	if isOwner(r.Context()) || p.local && g.isOwners(r.Request, p) {
		return oauth.Owner
	}
	if p.entrance == nil && hasLocalPeer(r.Request) {
		if uid, err := peerUser(r.Request); err == nil {
			return oauth.Source("user " + strconv.Itoa(uid))
		}
	}
	remote, _ := netip.ParseAddrPort(r.RemoteAddr)
	bits := 64 // a machine in a network of IPv6 can have any of its addresses
	if remote.Addr().Unmap().Is4() {
		bits = 32
	}
	network, _ := remote.Addr().Unmap().Prefix(bits)
	return oauth.Source(network.String())
}

func (a *authorization) postRegister(r *endpoint.Request) error {
	var in oauth.Registration
	if err := r.Read(16<<10, &in); err != nil {
		return &oauth.Error{Code: "invalid_client_metadata", Text: err.Error()}
	}
	made, err := a.server.Register(a.guard.sourceOf(r), in)
	if err == nil {
		endpoint.WriteJSON(r.W, http.StatusCreated, made)
	}
	return err
}

func (a *authorization) postOAuthToken(r *endpoint.Request) error {
	if err := readForm(r); err != nil {
		return err
	}
	tokens, err := a.server.Token(a.guard.baseOf(r.Request), r.PostForm)
	if err != nil {
		return err
	}
	return r.Answer(tokens)
}

func (a *authorization) postRevoke(r *endpoint.Request) error {
	if err := readForm(r); err != nil {
		return err
	}
	if err := a.server.Revoke(r.PostForm); err != nil {
		return err
	}
	return r.Answer(struct{}{})
}

// readForm reads the body into r.PostForm.
func readForm(r *endpoint.Request) error {
	r.Body = http.MaxBytesReader(r.W, r.Body, 16<<10)
	if err := r.ParseForm(); err != nil || len(r.PostForm) == 0 {
		return &oauth.Error{Code: "invalid_request", Text: "send the parameters in the body, as application/x-www-form-urlencoded"}
	}
	return nil
}

// authorizePage is the page that a client opens in a browser to sign in.
var authorizePage = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(dashboard.Files, "authorize.html"))
})

// authorizeView is what the page shows. It shows what a client says as text.
type authorizeView struct {
	Request *oauth.Request
	Error   string
	Back    template.URL // leads back to the client, with an error; "" if the client may not be told
}

// getAuthorize shows which client asks to sign in. It asks the owner nothing yet: any site can lead a
// browser here.
func (a *authorization) getAuthorize(r *endpoint.Request) error {
	var view authorizeView
	var err error
	view.Request, err = a.server.Parse(a.guard.baseOf(r.Request), passOf(r.Context()).local, r.URL.Query())
	no, bad := errors.AsType[*oauth.Error](err)
	switch {
	case bad:
		view.Error = no.Text
	case err != nil:
		return err
	default:
		no = &oauth.Error{Code: "access_denied", Text: "the sign-in was cancelled"}
	}
	if view.Request != nil {
		view.Back = template.URL(view.Request.Refuse(no.Code, no.Text)) // of a scheme that was checked
	}
	endpoint.PageHeaders(r.W.Header(), "text/html; charset=utf-8", dashboardPolicy)
	r.W.Header().Del("Cross-Origin-Opener-Policy") // a client that is a page waits for the window that it has opened
	if bad {
		r.W.WriteHeader(http.StatusBadRequest)
	}
	return authorizePage().Execute(r.W, view)
}

// AuthorizeEvent is a line of the answer to a click on the page.
type AuthorizeEvent struct {
	Code     string `json:"code,omitempty"`     // to be shown
	Location string `json:"location,omitempty"` // where the page goes on
	Error    string `json:"error,omitempty"`
}

// heartbeat is how often a proxy hears of an answer that takes long.
const heartbeat = 20 * time.Second

// postAuthorize asks the owner, after a click on the page. The answer is AuthorizeEvents, a line for
// each. It lasts as long as the question: closing the page withdraws the question, and only this page
// learns where it goes on.
func (a *authorization) postAuthorize(r *endpoint.Request) error {
	req, err := a.server.Parse(a.guard.baseOf(r.Request), passOf(r.Context()).local, r.URL.Query())
	if err != nil {
		return err
	}
	var in struct {
		ReadOnly bool     `json:"readOnly"`
		Sites    []string `json:"sites" validate:"max=32,dive,max=256"`
	}
	if err := r.Read(16<<10, &in); err != nil {
		return err
	}
	from := a.guard.sourceOf(r)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(a.ctx, cancel)()

	r.W.Header().Set("Content-Type", "application/x-ndjson")
	r.W.Header().Set("Cache-Control", "no-store")
	r.W.Header().Set("X-Accel-Buffering", "no")
	events := make(chan AuthorizeEvent, 2)
	go func() {
		defer close(events)
		access := oauth.Access{ReadOnly: in.ReadOnly, Sites: in.Sites}
		location, err := a.server.Authorize(ctx, from, req, access, func(code string) { events <- AuthorizeEvent{Code: code} })
		events <- AuthorizeEvent{Location: location, Error: a.explain(r, err)}
	}()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case e, open := <-events:
			if !open {
				return nil
			}
			sendEvent(r, e)
		case <-beat.C:
			sendEvent(r, AuthorizeEvent{})
		}
	}
}

// explain says on the page what went wrong, "" if nothing did.
func (a *authorization) explain(r *endpoint.Request, err error) string {
	no, ok := errors.AsType[*oauth.Error](err)
	switch {
	case err == nil:
		return ""
	case ok:
		return no.Text
	case a.ctx.Err() != nil:
		return "the hub is ending; try again in a moment"
	case r.Context().Err() == nil:
		a.log.Error("the owner could not be asked", "err", err)
	}
	return "the hub could not ask its owner; its log says why"
}

// sendEvent writes a line. The end of the request's context says that the page has gone.
func sendEvent(r *endpoint.Request, e AuthorizeEvent) {
	_ = json.NewEncoder(r.W).Encode(e)
	_ = http.NewResponseController(r.W).Flush()
}
