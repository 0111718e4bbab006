package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync/atomic"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// Client is an MCP client that has a credential of its own.
type Client struct {
	ID       string        `json:"id"`             // made by the hub
	Name     string        `json:"name"`           // of at most 64 bytes; no other client of the user has it
	Kind     ClientKind    `json:"kind"`           // how it came by its credential
	User     spec.UserID   `json:"user,omitempty"` // whose client it is
	Scope    *policy.Scope `json:"scope,omitempty"`
	Made     time.Time     `json:"made"`
	Expires  time.Time     `json:"expires,omitzero"`  // zero: never
	LastUsed time.Time     `json:"lastUsed,omitzero"` // zero: never
}

func (c Client) expired() bool { return !c.Expires.IsZero() && !time.Now().Before(c.Expires) }

// ClientKind says how a client came by its credential.
type ClientKind string

const (
	ClientEntry ClientKind = "entry" // `tabhub install` has written it into the client's configuration
	ClientToken ClientKind = "token" // the owner has given it one
	ClientOAuth ClientKind = "oauth" // the owner has let it in; it has no token of Clients
)

// credential is a Client as Clients has it.
type credential struct {
	Client            // immutable, but for LastUsed
	sum    string     // of the token, see sumOf; "": it has none
	set    *clientSet // where it is kept
	who    *policy.Principal
	used   atomic.Int64 // LastUsed, in Unix seconds; 0: never
	valid  context.Context
	end    context.CancelCauseFunc // of valid; the cause says whether it was revoked
}

// sumOf returns the hash of a token, in hexadecimal.
func sumOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func newCredential(c Client, sum string) *credential {
	made := &credential{Client: c, sum: sum, who: &policy.Principal{ID: c.ID, Name: c.Name, Scope: c.Scope}}
	if !c.LastUsed.IsZero() {
		made.used.Store(c.LastUsed.Unix())
	}
	made.valid, made.end = context.WithCancelCause(context.Background())
	return made
}

// client returns the Client as it is now.
func (c *credential) client() Client {
	now := c.Client
	if used := c.used.Load(); used != 0 {
		now.LastUsed = time.Unix(used, 0)
	}
	return now
}

func (c *credential) identity() Identity {
	return Identity{User: c.User, Kind: KindClient, Principal: c.who, Expires: c.Expires, Revoked: c.valid}
}
