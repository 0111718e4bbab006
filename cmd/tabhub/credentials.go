package main

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"tabhub/hub"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/auth/oauth"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/private"
	"tabhub/tabtransport/pairing"
)

// shared is what processes have in common whose users move from one to the other: the
// credentials of a user are then sealed settings of the user's hub, and not in files of the
// data directory.
type shared struct {
	hub  string      // the hub's id
	key  pairing.Key // of copies of the extension
	seal sealer
	dir  auth.Directory // learns whose a credential is; nil on a hub without accounts

	// token returns the token of a hub without accounts, and newToken replaces it for all
	// processes. They block.
	token, newToken func() (string, error)
}

// sealer encrypts what is kept of a user, for the processes alone, as a document of that user
// and name.
type sealer interface {
	Seal(user spec.UserID, name string, doc []byte) []byte
	Open(user spec.UserID, name string, sealed []byte) ([]byte, error)
}

// The settings that the credentials of a user are. They are part of the stored format.
const (
	clientsSettings  = "clients"
	pairingsSettings = "pairings"
	grantsSettings   = "grants"
)

// document is where credentials of a user's hub are kept under a name.
func (s *shared) document(h *hub.Hub, user spec.UserID, name string) (doc private.Document, err error) {
	if body := h.Settings(name); body != nil {
		var sealed []byte
		if err = json.Unmarshal(body, &sealed); err == nil {
			doc.Body, err = s.seal.Open(user, name, sealed)
		}
		if err != nil {
			return doc, fmt.Errorf("the %s of user %q cannot be read: %w", name, user, err)
		}
	}
	doc.Save = func(body []byte, wait bool) error {
		sealed, err := json.Marshal(s.seal.Seal(user, name, body))
		if err != nil {
			return err
		}
		to := storage.Settings{Name: name, Body: sealed}
		if !wait {
			h.SaveSettings(to, nil)
			return nil
		}
		return h.KeepSettings(to)
	}
	return doc, nil
}

// openClients returns the clients that have credentials of their own.
func (p *process) openClients() (*auth.Clients, error) {
	if p.shared != nil {
		return auth.NewClients(p.shared.dir), nil
	}
	return auth.OpenClients(p.dir.Clients())
}

// openRing returns the pairings with browsers.
func (p *process) openRing() (*pairing.Ring, error) {
	if s := p.shared; s != nil {
		return pairing.New(s.hub, s.key, s.dir), nil
	}
	return openRing(p.dir)
}

// openToken returns the token of a hub without accounts.
func (p *process) openToken() (*auth.Token, error) {
	if p.shared != nil {
		return auth.NoToken(), nil
	}
	secret, err := p.dir.MakeToken()
	if err != nil {
		return nil, err
	}
	return auth.NewToken(secret), nil
}

// nodeToken is the token of a hub without accounts where another node may have its user. What is
// about this process alone is asked of this node, which then has to read what the token is.
type nodeToken struct {
	*auth.Token
	isHere func() bool            // the user is
	read   func() (string, error) // blocks

	mu     sync.Mutex // held while it is read: who else asks waits for the answer
	secret string
	err    error     // why it could not be read
	until  time.Time // when it is read again
}

// tokenAge is how long a node without the user goes by a token that was replaced.
const tokenAge = time.Second

// Verify implements auth.Verifier. It blocks where the user is on another node.
func (t *nodeToken) Verify(token string) (auth.Identity, error) {
	id, err := t.Token.Verify(token)
	if err == nil || t.isHere() {
		return id, err
	}
	secret, readErr := t.present()
	if readErr != nil {
		return id, fmt.Errorf("%w: %w", auth.ErrUnchecked, readErr)
	}
	if subtle.ConstantTimeCompare([]byte(token), []byte(secret)) != 1 {
		return id, err
	}
	return t.Identity(), nil
}

func (t *nodeToken) present() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !time.Now().Before(t.until) {
		t.secret, t.err = t.read()
		t.until = time.Now().Add(tokenAge)
	}
	return t.secret, t.err
}

// hasLocalUser reports whether this process has the hub of a hub without accounts.
func (p *process) hasLocalUser() bool {
	_, ok := p.tenants.Has(spec.LocalUser)
	return ok
}

// openGrants returns the clients that have signed in to a hub without accounts.
func (p *process) openGrants() (*oauth.Server, error) {
	s := oauth.New(oauth.Options{Clients: p.clients, Approve: p.approve, Record: p.record, Log: p.log})
	if p.shared != nil {
		return s, nil
	}
	doc, err := private.OpenDocument(p.dir.Grants())
	if err == nil {
		err = s.Load(doc)
	}
	if errors.Is(err, oauth.ErrNoGrants) {
		return nil, fmt.Errorf("%s holds no grants; restore it, or delete it and have your clients sign in again", p.dir.Grants())
	}
	return s, err
}

// newToken replaces the token of a hub without accounts.
func (p *process) newToken() (string, error) {
	if p.shared != nil {
		return p.shared.newToken()
	}
	return p.dir.NewToken()
}

// credentials are those of a user, who has the hub in this process.
type credentials struct {
	p        *process
	user     spec.UserID
	unloaded sync.Once // the user may be back by a second time
}

// load makes the credentials known that are kept with the user's hub. What is known when it
// fails it forgets.
func (c *credentials) load(h *hub.Hub) (err error) {
	defer func() {
		if err != nil {
			c.Unload()
		}
	}()
	p := c.p
	clients, err := p.shared.document(h, c.user, clientsSettings)
	if err != nil {
		return err
	}
	pairings, err := p.shared.document(h, c.user, pairingsSettings)
	if err != nil {
		return err
	}
	if err := p.clients.Load(c.user, clients); err != nil {
		return err
	}
	if err := p.ring.Load(c.ringUser(), pairings); err != nil {
		return err
	}
	if p.oauth != nil {
		grants, err := p.shared.document(h, c.user, grantsSettings)
		if err == nil {
			err = p.oauth.Load(grants)
		}
		if err != nil {
			return err
		}
	}
	if p.token != nil {
		secret, err := p.shared.token()
		if err == nil && len(secret) < minToken {
			err = errors.New("it is too short")
		}
		if err != nil {
			return fmt.Errorf("the hub's token cannot be read: %w", err)
		}
		p.token.Set(secret)
	}
	return nil
}

// minToken is the length of a token that is no accident.
const minToken = 16

// ringUser is the user as the ring has it.
func (c *credentials) ringUser() spec.UserID {
	if c.user == spec.LocalUser {
		return ""
	}
	return c.user
}

// Settle implements tenant.Credentials.
func (c *credentials) Settle() { c.p.clients.Settle(c.user) }

// Unload implements tenant.Credentials. Pages of the dashboard sign in again at the next hub.
func (c *credentials) Unload() { c.unloaded.Do(c.forget) }

func (c *credentials) forget() {
	p := c.p
	p.guard.SignOut(c.user)
	p.clients.Unload(c.user)
	p.ring.Unload(c.ringUser())
	if p.oauth != nil {
		p.oauth.Unload()
	}
	if p.token != nil {
		p.token.Unload()
	}
}
