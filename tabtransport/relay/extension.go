package relay

import (
	"cmp"
	"net/http"

	"tabhub/describe"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
)

// authID is the id of the relay's only request of its own.
const authID = `"proxy:1"`

// Extension serves /extension: the extensions of the MCP Proxy Protocol 1.0.
func (r *Relay) Extension() http.Handler {
	return r.handler(r.limits.AuthTimeout, func(p *remote) role {
		if !tabtransport.IsOpened(p.request.Context()) {
			p.out.MustSend([]byte(`{"jsonrpc":"2.0","id":` + authID + `,"method":"authenticate","params":{}}`))
		}
		return &extensionPeer{remote: p, dialect: jsonrpc{}}
	})
}

// extensionPeer reads what an extension sends. It belongs to the reader.
type extensionPeer struct {
	*remote
	dialect   dialect
	announced bool   // it has sent what it sends to a hub that asks for no token
	name      string // from frames before it has authenticated, like version
	version   string
	tenant    *tenant // nil until it has authenticated, like session
	session   *session
}

func (p *extensionPeer) handle() {
	e := &p.env
	switch {
	case p.session == nil:
		p.unauthenticated()
	case !p.paced():
	case e.id != nil && e.method != "":
		p.refuseRequest()
	case e.id != nil:
		p.answer()
	case e.kind == "handshake":
	default:
		p.event()
	}
}

// unauthenticated serves an extension that has not authenticated.
func (p *extensionPeer) unauthenticated() {
	e := &p.env
	if string(e.id) == authID {
		p.authenticate()
		return
	}
	p.countEarly("the answer to authenticate")
	if e.id != nil && e.method != "" {
		p.refuseRequest()
	}
	if e.kind == "handshake" {
		p.announced = true
		for _, m := range e.rest {
			switch m.key {
			case "browser":
				p.name, _ = rawjson.String(m.value)
			case "version":
				p.version, _ = rawjson.String(m.value)
			}
		}
	}
}

func (p *extensionPeer) refuseRequest() {
	p.out.Send(p.dialect.failure(p.env.id, "", spec.Errorf(spec.CodeMethodNotFound, "Method not found: an extension answers requests and makes none")))
}

func (p *extensionPeer) authenticate() {
	e := &p.env
	got := map[string]string{}
	switch {
	case e.err != nil && p.announced:
		// It has no token, and believes that it needs none. The hub may agree.
	case e.err != nil || e.result == nil || e.result[0] != '{':
		p.refuse("the extension could not authenticate: sign in again in the extension")
		return
	default:
		if err := membersOf(e.result, got, []string{"name", "accessToken", "access_token", "client_id", "version"}); err != nil {
			p.refuse(err.Message)
			return
		}
	}
	p.admit(got, func(ext *extension) []byte {
		return p.dialect.notice("authenticated", struct {
			UserID      spec.UserID `json:"user_id"`
			ExtensionID string      `json:"extension_id"`
			ClientID    string      `json:"client_id,omitempty"`
		}{p.tenant.user, ext.id, ext.clientID})
	})
}

// admit checks the credential of an extension and adds it to its tenant. greet makes the first
// message to it, if it is not nil.
func (p *extensionPeer) admit(got map[string]string, greet func(*extension) []byte) {
	a, err := p.relay.verify(Handshake{Token: tokenOf(got), Extension: true, Request: p.request})
	if p.detach(err, openingsOf(p.dialect)) {
		return
	}
	if later := notNow(err); later != nil {
		p.out.Close(closeTryLater, later.Message)
		return
	}
	if err != nil {
		p.refuse(err.Error())
		return
	}
	who := identity{
		name:     describe.Clean(cmp.Or(got["name"], p.name), maxName),
		version:  describe.Clean(cmp.Or(got["version"], p.version), maxName),
		clientID: got["client_id"],
	}
	who.name = cmp.Or(who.name, "Browser")
	if len(who.clientID) > maxClientID {
		p.refuse("client_id is too long")
		return
	}
	p.tenant = p.relay.tenant(a.User)
	session, refused := p.tenant.join(who, p.out, p.dialect, greet)
	if refused != nil {
		p.out.Close(closeTryLater, refused.Message)
		return
	}
	p.session = session
	p.accept(a.Admission, func() []byte {
		p.tenant.keepAlive(session)
		return nil
	})
	p.relay.log.Info("extension connected", "user", a.User, "extension", session.ext.id, "name", who.name)
}

// openingsOf is how many frames the relay says first to an extension: it asks one of 1.0 to
// authenticate.
func openingsOf(d dialect) int {
	if d.bare() {
		return 0
	}
	return 1
}

func (p *extensionPeer) refuse(reason string) {
	p.relay.refusedExtension.Do(func() {
		p.relay.log.Warn("extension refused", "remote", p.request.RemoteAddr, "err", reason)
	})
	p.out.Close(spec.CloseRefused, reason)
}

// paced slows an extension down that sends too much. It reports false when the
// connection ends meanwhile.
func (p *extensionPeer) paced() bool {
	return p.session.rate.Allow() || p.session.rate.Wait(p.ws.Context()) == nil
}

// answer forwards an answer to the client that has asked, and to no other.
func (p *extensionPeer) answer() {
	req, conn := p.tenant.finish(p.session, &p.env)
	if req == nil {
		return
	}
	c := conn.client
	if err := c.gate.Hears(); err != nil {
		failure := *refusedBy(err)
		failure.Message += " The request was sent before: it may have taken effect."
		c.out.MustSend(c.dialect.failure(req.id, "", &failure))
		return
	}
	c.out.MustSend(c.dialect.answer(&p.env, req.id, conn.id))
}

// event passes on what the extension sent unasked.
func (p *extensionPeer) event() {
	e := &p.env
	var same []byte
	for _, to := range p.tenant.recipients(p.session, e) {
		d := to.client.dialect
		if e.method == "" && !d.bare() {
			continue // an answer without an id, which this client cannot have asked for
		}
		if to.client.gate.Hears() != nil {
			continue
		}
		frame := same
		if frame == nil || d.bare() {
			frame = d.event(e, to.id)
		}
		if !d.bare() {
			same = frame // it does not name the connection
		}
		to.client.out.MustSend(frame)
	}
}

// unreadable counts a frame that is not a message. One that answers a request ends it.
func (p *extensionPeer) unreadable(err *spec.Error) {
	e := &p.env
	if p.malformed == 0 {
		p.relay.log.Debug("extension sent what is not a message", "remote", p.request.RemoteAddr, "err", err)
	}
	p.countMalformed()
	if p.session != nil && e.id != nil && e.method == "" {
		e.result, e.err = nil, nil
		p.answer()
	}
}

func (p *extensionPeer) ended(err error) {
	if p.session != nil {
		p.tenant.leave(p.session)
		p.relay.log.Info("extension gone", "user", p.tenant.user, "extension", p.session.ext.id, "err", err)
	}
}

// tokenOf returns the token of a handshake, which has two spellings.
func tokenOf(got map[string]string) string { return cmp.Or(got["accessToken"], got["access_token"]) }
