package main

import (
	"context"
	"log/slog"
	"strings"

	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// jwtVerifier makes the verifier of --auth jwt. addrs are the hub's addresses.
func jwtVerifier(c *config, addrs []string, log *slog.Logger) (auth.Verifier, error) {
	o := auth.Options{JWKS: c.jwks, Issuer: c.jwtIssuer, Audiences: c.jwtAudiences, Log: log}
	for _, addr := range addrs {
		o.Endpoints = append(o.Endpoints, c.baseURL(addr))
	}
	if c.jwtSecret != "" {
		secret, err := auth.ReadSecret(c.jwtSecret)
		if err != nil {
			return nil, &usageError{err}
		}
		o.Secret = secret
	}
	v, err := auth.NewJWT(o)
	if err != nil {
		return nil, &usageError{err}
	}
	return v, nil
}

// verifier opens the clients, and returns what checks credentials, nil if none are asked
// for.
func (p *process) verifier() (v auth.Verifier, err error) {
	if p.clients, err = p.openClients(); err != nil {
		return nil, &usageError{err}
	}
	hub := &auth.Hub{Clients: p.clients}
	switch p.config.auth {
	case "none":
		return nil, nil
	case "jwt":
		hub.Accounts = true
		hub.Owner, err = jwtVerifier(p.config, p.info.Addrs, p.log)
		return hub, err
	}
	if p.token, err = p.openToken(); err != nil {
		return nil, &usageError{err}
	}
	if p.oauth, err = p.openGrants(); err != nil {
		return nil, &usageError{err}
	}
	hub.Owner, hub.OAuth = p.token, p.oauth
	if p.shared != nil {
		hub.Owner = &nodeToken{Token: p.token, isHere: p.hasLocalUser, read: p.shared.token}
	}
	return hub, nil
}

// identify returns who the client is that is started with the hub in one process. A token
// that it has must be right, as at a hub that runs by itself.
func (p *process) identify(token string) (auth.Identity, error) {
	if token == "" || p.credentials == nil {
		return auth.Identity{User: spec.LocalUser, Kind: auth.KindClient, Who: policy.Unnamed}, nil
	}
	return p.credentials.Verify(token)
}

// approve asks the owner whether a client may use the hub.
func (p *process) approve(ctx context.Context, s consent.SignIn) (consent.Answer, error) {
	t, err := p.tenants.Get(ctx, spec.LocalUser)
	if err != nil {
		return consent.Answer{}, err
	}
	return t.Hub.Desk().SignIn(ctx, s)
}

// record adds an entry to the owner's record.
func (p *process) record(e record.Entry) {
	if t, err := p.tenants.Get(context.Background(), spec.LocalUser); err == nil {
		t.Hub.Record(e)
	}
}

// issuer is where clients get the tokens of a hub with accounts, "" if jwt-issuer is a
// name only.
func (c *config) issuer() string {
	if c.auth == "jwt" && strings.HasPrefix(c.jwtIssuer, "https://") {
		return c.jwtIssuer
	}
	return ""
}

// rotate replaces the token.
func (p *process) rotate() error {
	secret, err := p.newToken()
	if err != nil {
		return err
	}
	p.token.Set(secret)
	p.forgetClient(spec.LocalUser, policy.TokenID)
	return nil
}

// forgetClient ends what a user's client has, whose credential was taken back.
func (p *process) forgetClient(user spec.UserID, id string) {
	for _, t := range p.tenants.Open() {
		if t.User == user {
			t.MCP.ForgetClient(id)
			t.Hub.ForgetClient(id)
		}
	}
}
