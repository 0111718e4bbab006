package daemon

import (
	"context"
	"log/slog"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/daemon/node"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// jwtVerifier makes the verifier of --auth jwt. addrs are the hub's addresses.
func jwtVerifier(c *settings.Config, addrs []string, log *slog.Logger) (auth.Verifier, error) {
	o := auth.Options{JWKS: c.Jwks, Issuer: c.JwtIssuer, Audiences: c.JwtAudiences, Log: log}
	for _, addr := range addrs {
		o.Endpoints = append(o.Endpoints, c.BaseURL(addr))
	}
	if c.JwtSecret != "" {
		secret, err := auth.ReadSecret(c.JwtSecret)
		if err != nil {
			return nil, command.Usage(err)
		}
		o.Secret = secret
	}
	v, err := auth.NewJWT(o)
	if err != nil {
		return nil, command.Usage(err)
	}
	return v, nil
}

// verifier opens the clients, and returns what checks credentials, nil if none are asked
// for.
func (p *Process) verifier() (v auth.Verifier, err error) {
	if p.clients, err = p.openClients(); err != nil {
		return nil, command.Usage(err)
	}
	hub := &auth.Hub{Clients: p.clients}
	switch p.Config.Auth {
	case "none":
		return nil, nil
	case "jwt":
		hub.Accounts = true
		hub.Owner, err = jwtVerifier(p.Config, p.Info.Addrs, p.Log)
		return hub, err
	}
	if p.token, err = p.openToken(); err != nil {
		return nil, command.Usage(err)
	}
	if p.oauth, err = p.openGrants(); err != nil {
		return nil, command.Usage(err)
	}
	hub.Owner, hub.OAuth = p.token, p.oauth
	if p.shared != nil {
		hub.Owner = &node.NodeToken{Token: p.token, IsHere: p.hasLocalUser, Read: p.shared.Token}
	}
	return hub, nil
}

// Identify returns the identity of the client that shares a process with the hub. If it has a token,
// the token must be valid, as at a hub that runs by itself.
func (p *Process) Identify(token string) (auth.Identity, error) {
	if token == "" || p.credentials == nil {
		return auth.Identity{User: spec.LocalUser, Kind: auth.KindClient, Principal: policy.Unnamed}, nil
	}
	return p.credentials.Verify(token)
}

// approve asks the owner whether a client may use the hub.
func (p *Process) approve(ctx context.Context, s consent.SignIn) (consent.Answer, error) {
	t, err := p.Tenants.Get(ctx, spec.LocalUser)
	if err != nil {
		return consent.Answer{}, err
	}
	return t.Hub.Owner.Desk().SignIn(ctx, s)
}

// record adds an entry to the owner's record.
func (p *Process) record(e record.Entry) {
	if t, err := p.Tenants.Get(context.Background(), spec.LocalUser); err == nil {
		t.Hub.Core.Record(e)
	}
}

// rotate replaces the token.
func (p *Process) rotate() error {
	secret, err := p.newToken()
	if err != nil {
		return err
	}
	p.token.Set(secret)
	p.forgetClient(spec.LocalUser, policy.TokenID)
	return nil
}

// forgetClient ends what a user's client has, whose credential was taken back.
func (p *Process) forgetClient(user spec.UserID, id string) {
	for _, t := range p.Tenants.Open() {
		if t.User == user {
			t.MCP.ForgetClient(id)
			t.Hub.Agents.ForgetClient(id)
		}
	}
}
