package daemon

import (
	"errors"
	"fmt"
	"sync"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/daemon/node"
	"tabhub/hub"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/auth/oauth"
	"tabhub/spec"
	"tabhub/storage/private"
	"tabhub/tabtransport/pairing"
)

// openClients returns the clients that have credentials of their own.
func (p *Process) openClients() (*auth.Clients, error) {
	if p.shared != nil {
		return auth.NewClients(p.shared.Dir), nil
	}
	return auth.OpenClients(p.Dir.Clients())
}

// openRing returns the pairings with browsers.
func (p *Process) openRing() (*pairing.Ring, error) {
	if s := p.shared; s != nil {
		return pairing.New(s.Hub, s.Key, s.Dir), nil
	}
	return command.OpenRing(p.Dir)
}

// openToken returns the token of a hub without accounts.
func (p *Process) openToken() (*auth.Token, error) {
	if p.shared != nil {
		return auth.NoToken(), nil
	}
	secret, err := p.Dir.MakeToken()
	if err != nil {
		return nil, err
	}
	return auth.NewToken(secret), nil
}

// hasLocalUser reports whether this process has the hub of a hub without accounts.
func (p *Process) hasLocalUser() bool {
	_, ok := p.Tenants.Has(spec.LocalUser)
	return ok
}

// openGrants returns the clients that have signed in to a hub without accounts.
func (p *Process) openGrants() (*oauth.Server, error) {
	s := oauth.New(oauth.Options{Clients: p.clients, Approve: p.approve, Record: p.record, Log: p.Log})
	if p.shared != nil {
		return s, nil
	}
	doc, err := private.OpenDocument(p.Dir.Grants())
	if err == nil {
		err = s.Load(doc)
	}
	if errors.Is(err, oauth.ErrNoGrants) {
		return nil, fmt.Errorf("%s holds no grants; restore it, or delete it and have your clients sign in again", p.Dir.Grants())
	}
	return s, err
}

// newToken replaces the token of a hub without accounts.
func (p *Process) newToken() (string, error) {
	if p.shared != nil {
		return p.shared.NewToken()
	}
	return p.Dir.NewToken()
}

// credentials are those of a user whose hub is in this process.
type credentials struct {
	p        *Process
	user     spec.UserID
	unloaded sync.Once // the user may be back by a second time
}

// Load makes the credentials known that are stored with the user's hub. What is known when it
// fails it forgets.
func (c *credentials) Load(h *hub.Hub) (err error) {
	defer func() {
		if err != nil {
			c.Unload()
		}
	}()
	p := c.p
	clients, err := p.shared.Document(h, c.user, node.ClientsSettings)
	if err != nil {
		return err
	}
	pairings, err := p.shared.Document(h, c.user, node.PairingsSettings)
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
		grants, err := p.shared.Document(h, c.user, node.GrantsSettings)
		if err == nil {
			err = p.oauth.Load(grants)
		}
		if err != nil {
			return err
		}
	}
	if p.token != nil {
		secret, err := p.shared.Token()
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
