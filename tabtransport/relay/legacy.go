package relay

import (
	"cmp"
	"net/http"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Legacy serves /relay: both roles of the Browser MCP proxy protocol. A client that
// starts with JSON-RPC there is served as one of 1.0.
func (r *Relay) Legacy() http.Handler {
	return r.handler(r.limits.HandshakeTimeout, func(p *remote) role { return legacyPeer{p} })
}

// legacyPeer is a peer on /relay, whose first message says what it is.
type legacyPeer struct{ *remote }

func (p legacyPeer) handle() {
	if p.countEarly("a handshake") {
		return
	}
	e := &p.env
	switch {
	case e.method == "extension_handshake":
		x := &extensionPeer{remote: p.remote, dialect: plain{}}
		p.role = x
		got, err := e.paramStrings("name", "accessToken", "access_token", "client_id", "version")
		if err != nil {
			x.refuse(err.Message)
			return
		}
		x.admit(got, nil)
	case e.method == "mcp_handshake":
		c := &clientPeer{remote: p.remote, dialect: plain{}}
		if e.jsonrpc != nil {
			c.dialect = jsonrpc{}
		}
		p.role = c
		c.handle()
	case e.method != "":
		p.out.Send(plain{}.failure(e.id, "", spec.Errorf(codeServer, "The first message must be extension_handshake or mcp_handshake")))
	}
}

func (p legacyPeer) unreadable(err *spec.Error) {
	if !p.countEarly("a handshake") {
		p.out.Send(plain{}.failure(p.env.id, "", err))
	}
}

func (legacyPeer) ended(error) {}

// handshake is answered only where the client waits for it: with a token, or an id.
func (d plain) handshake(p *clientPeer) {
	got, err := p.env.paramStrings("accessToken", "access_token", "projectName", "client_id")
	if err == nil {
		err = p.enter(got, cmp.Or(got["projectName"], got["client_id"]))
	}
	if err == errDetached {
		return
	}
	if err != nil {
		p.out.MustSend(marshal(struct {
			Type  string `json:"type"`
			Error string `json:"error"`
		}{"error", err.Message}))
		p.refused(err)
		return
	}
	if p.env.id != nil {
		p.reply(struct {
			Success     bool   `json:"success"`
			MCPClientID string `json:"mcpClientId"`
		}{true, p.client.id})
	}
	if tokenOf(got) != "" {
		p.out.MustSend([]byte(`{"method":"handshake_ack"}`))
	}
}

// connectOutcome answers connect.
type connectOutcome struct {
	Success      bool   `json:"success"`
	ConnectionID string `json:"connectionId,omitempty"`
	Error        string `json:"error,omitempty"`
}

func (d plain) connect(p *clientPeer) {
	got, err := p.env.paramStrings("extensionId", "extension_id")
	if id := cmp.Or(got["extensionId"], got["extension_id"]); err == nil && id == "" {
		err = spec.Errorf(spec.CodeInvalidParams, "Invalid params: extensionId is missing")
	} else if err == nil {
		err = p.client.tenant.connect(p.request.Context(), p.client, id, tabNumber(rawjson.Get(p.env.params, "tabId")), p.relay.limits.MaxConnections, func(c *connection) []byte {
			return d.result(p.env.id, connectOutcome{Success: true, ConnectionID: c.id})
		})
	}
	if err != nil {
		p.deny(err)
	}
}

func (plain) notConnected(p *clientPeer, err *spec.Error) {
	p.reply(connectOutcome{Error: err.Message})
}

func (d plain) disconnect(p *clientPeer) {
	if err := p.client.tenant.disconnect(p.client, p.env.connectionID); err != nil {
		p.fail(err)
		return
	}
	p.reply(struct {
		Success bool `json:"success"`
	}{true})
}
