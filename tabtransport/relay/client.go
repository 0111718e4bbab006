package relay

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"tabhub/describe"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Client serves WebSocket upgrades on /mcp: the clients of the MCP Proxy Protocol
// 1.0.
func (r *Relay) Client() http.Handler {
	return r.handler(r.limits.HandshakeTimeout, func(p *remote) role { return &clientPeer{remote: p, dialect: jsonrpc{}} })
}

// clientPeer reads what a client sends. It belongs to the reader, or to the goroutine of a
// lane.
type clientPeer struct {
	*remote
	dialect clientDialect
	client  *client // nil until it has shaken hands
	lanes   sync.WaitGroup
}

func (p *clientPeer) handle() {
	e := &p.env
	switch {
	case e.method == "" && (e.result != nil || e.err != nil): // nobody has asked a client anything
	case e.method == "":
		p.unreadable(spec.Errorf(spec.CodeInvalidRequest, "Invalid Request: method is missing"))
	case reservedID(e.id):
		p.fail(spec.Errorf(spec.CodeInvalidRequest, `Invalid Request: ids that start with "proxy:" or "ext:" are reserved`))
	case p.client != nil && !p.admitted():
	case e.method == "mcp_handshake":
		p.dialect.handshake(p)
	case p.client == nil:
		p.unauthenticated()
	case e.method == "list_extensions":
		p.reply(p.client.tenant.list())
	case e.method == "disconnect":
		p.dialect.disconnect(p)
	case reservedMethod(e.method):
		p.fail(spec.Errorf(spec.CodeMethodNotFound, "Method not found: %s is between the relay and an extension", e.method))
	default:
		p.admit()
	}
}

// unauthenticated answers a client that has not shaken hands.
func (p *clientPeer) unauthenticated() {
	p.fail(spec.Errorf(codeServer, "Not authenticated: send mcp_handshake first"))
	p.countEarly("mcp_handshake")
}

// reservedID reports whether an id is one that the relay uses itself.
func reservedID(raw json.RawMessage) bool {
	id, _ := rawjson.String(raw)
	return strings.HasPrefix(id, "proxy:") || strings.HasPrefix(id, "ext:")
}

// reservedMethod reports whether a method is one with which only the relay may
// address an extension. An extension would answer authenticate with its token.
func reservedMethod(method string) bool {
	switch method {
	case "authenticate", "authenticated", "extension_handshake", "status", "connection_status", "disconnected":
		return true
	}
	return false
}

// admitted applies the rate limits.
func (p *clientPeer) admitted() bool {
	err := admit(p.client.rate, p.client.tenant.rate)
	if err != nil {
		p.fail(err)
	}
	return err == nil
}

// admit has it decided about what reaches an extension: a message for one, or that the
// client connects to it.
func (p *clientPeer) admit() {
	if p.waitsBehind() {
		return
	}
	inFlight, ask, err := p.client.gate.Admit(p.env.method, p.env.params, p.wantsAnswer())
	switch {
	case err != nil:
		p.deny(refusedBy(err))
	case ask != nil:
		if lost := p.client.leads(&p.env); lost != nil {
			p.deny(lost)
			return
		}
		p.wait()
	default:
		p.serve(inFlight)
	}
}

// serve does what the gate has let pass.
func (p *clientPeer) serve(inFlight InFlight) {
	if p.env.method == connectMethod {
		p.dialect.connect(p)
		inFlight.End()
	} else {
		p.forward(inFlight)
	}
}

// deny answers what is not served of that which reaches an extension.
func (p *clientPeer) deny(err *spec.Error) {
	if p.env.method == connectMethod {
		p.dialect.notConnected(p, err)
	} else {
		p.fail(err)
	}
}

const connectMethod = "connect"

// forward passes a message on to the extension that the client is connected to. One that waits
// for an answer is under way until it is no longer pending.
func (p *clientPeer) forward(inFlight InFlight) {
	e := &p.env
	t := p.client.tenant
	out, err := t.begin(p.client, e, inFlight)
	if out.id.text == "" {
		defer inFlight.End()
	}
	if err != nil {
		p.fail(err)
		return
	}
	if out.session.out.Send(out.session.dialect.request(e, out.id)) != nil && t.abandon(out) {
		p.fail(failed(spec.FailQueueFull, "Extension does not keep up: nothing was sent; try again later"))
	}
}

// reply answers a control request.
func (p *clientPeer) reply(v any) {
	if p.wantsAnswer() {
		p.out.MustSend(p.dialect.result(p.env.id, v))
	}
}

// fail answers a request that is not served.
func (p *clientPeer) fail(err *spec.Error) {
	if p.wantsAnswer() {
		p.out.MustSend(p.dialect.failure(p.env.id, p.env.connectionID, err))
	}
}

// wantsAnswer reports whether the message is a request: one of the predecessor always
// is, one of 1.0 if it has an id.
func (p *clientPeer) wantsAnswer() bool {
	return p.env.id != nil || p.dialect.bare()
}

func (p *clientPeer) unreadable(err *spec.Error) {
	p.out.MustSend(p.dialect.failure(p.env.id, "", err))
	p.countMalformed()
}

// errDetached: another process serves the client from now on.
var errDetached = new(spec.Error)

// enter checks the credential of a client and adds it to its tenant. A client that is known already
// is checked again: a newer token of the same user extends its stay.
func (p *clientPeer) enter(got map[string]string, name string) *spec.Error {
	who := Handshake{Token: tokenOf(got), Client: "mcp-" + uuid.NewString(), Name: describe.Clean(name, maxName), Again: p.client != nil, Request: p.request}
	a, err := p.relay.verify(who)
	if p.client == nil && p.detach(err, 0) {
		return errDetached
	}
	if later := notNow(err); later != nil {
		return later
	}
	if err != nil {
		return spec.Errorf(codeServer, "Authentication failed: %v", err)
	}
	if c := p.client; c != nil {
		if c.tenant.user != a.User {
			return spec.Errorf(codeServer, "Authentication failed: this connection belongs to another user")
		}
		if c.credential != a.Client {
			return spec.Errorf(codeServer, "Authentication failed: this connection belongs to another client")
		}
		p.accept(a.Admission, nil)
		return nil
	}
	limits := p.relay.limits
	c := &client{
		out: p.out, dialect: p.dialect, tenant: p.relay.tenant(a.User),
		id: who.Client, name: who.Name, since: time.Now(), credential: a.Client, gate: a.Gate,
		rate:        rate.NewLimiter(limits.ClientRate, limits.ClientBurst),
		connections: map[string]*connection{},
	}
	if err := c.tenant.enter(c); err != nil {
		return err
	}
	p.client = c
	p.accept(a.Admission, nil)
	p.relay.log.Info("client connected", "user", a.User, "client", c.id, "name", c.name)
	return nil
}

// refused ends a client that could not enter.
func (p *clientPeer) refused(err *spec.Error) {
	code := spec.CloseRefused
	if notNow(err) != nil {
		code = closeTryLater
	} else {
		p.relay.refusedClient.Do(func() {
			p.relay.log.Warn("client refused", "remote", p.request.RemoteAddr, "err", err.Message)
		})
	}
	p.out.Close(code, err.Message)
}

func (p *clientPeer) ended(err error) {
	if p.client != nil {
		p.client.tenant.exit(p.client)
		p.lanes.Wait()
		p.relay.log.Info("client gone", "user", p.client.tenant.user, "client", p.client.id, "err", err)
	}
}

func (jsonrpc) handshake(p *clientPeer) {
	got, err := p.env.paramStrings("accessToken", "access_token", "client_id")
	if err != nil {
		p.fail(err)
		return
	}
	if err := p.enter(got, got["client_id"]); err == errDetached {
		return
	} else if err != nil {
		p.fail(err)
		p.refused(err)
		return
	}
	p.reply(struct {
		Authenticated bool        `json:"authenticated"`
		UserID        spec.UserID `json:"user_id"`
		MCPClientID   string      `json:"mcp_client_id"`
	}{true, p.client.tenant.user, p.client.id})
}

func (jsonrpc) connect(p *clientPeer) {
	got, err := p.env.paramStrings("extension_id", "extensionId")
	if id := cmp.Or(got["extension_id"], got["extensionId"]); err == nil && id == "" {
		err = spec.Errorf(spec.CodeInvalidParams, "Invalid params: extension_id is missing")
	} else if err == nil {
		err = p.client.tenant.connect(p.request.Context(), p.client, id, "", 1, func(c *connection) []byte {
			if !p.wantsAnswer() {
				return nil
			}
			return jsonrpc{}.result(p.env.id, struct {
				ConnectionID  string `json:"connection_id"`
				ExtensionID   string `json:"extension_id"`
				ExtensionName string `json:"extension_name"`
			}{c.id, c.ext.id, c.ext.name})
		})
	}
	if err != nil {
		p.deny(err)
	}
}

func (jsonrpc) notConnected(p *clientPeer, err *spec.Error) { p.fail(err) }

func (jsonrpc) disconnect(p *clientPeer) {
	if err := p.client.tenant.disconnect(p.client, p.env.connectionID); err != nil {
		p.fail(err)
		return
	}
	p.reply(struct {
		Disconnected bool `json:"disconnected"`
	}{true})
}
