package node

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"tabhub/hub"
	"tabhub/hub/trust/auth"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/private"
	"tabhub/tabtransport/pairing"
)

// Shared is what processes have in common whose users move from one to the other: the
// credentials of a user are then sealed settings of the user's hub, and not in files of the
// data directory.
type Shared struct {
	Hub  string      // the hub's id
	Key  pairing.Key // of copies of the extension
	Seal sealer
	Dir  auth.Directory // learns whose a credential is; nil on a hub without accounts

	// token returns the token of a hub without accounts, and newToken replaces it for all
	// processes. They block.
	Token, NewToken func() (string, error)
}

// sealer encrypts what is stored of a user, for the processes alone, as a document of that user
// and name.
type sealer interface {
	Seal(user spec.UserID, name string, doc []byte) []byte
	Open(user spec.UserID, name string, sealed []byte) ([]byte, error)
}

// The settings that the credentials of a user are. They are part of the stored format.
const (
	ClientsSettings  = "clients"
	PairingsSettings = "pairings"
	GrantsSettings   = "grants"
)

// Document stores credentials of a user's hub under a name.
func (s *Shared) Document(h *hub.Hub, user spec.UserID, name string) (doc private.Document, err error) {
	if body := h.Core.Settings(name); body != nil {
		var sealed []byte
		if err = json.Unmarshal(body, &sealed); err == nil {
			doc.Body, err = s.Seal.Open(user, name, sealed)
		}
		if err != nil {
			return doc, fmt.Errorf("the %s of user %q cannot be read: %w", name, user, err)
		}
	}
	doc.Save = func(body []byte, wait bool) error {
		sealed, err := json.Marshal(s.Seal.Seal(user, name, body))
		if err != nil {
			return err
		}
		to := storage.Settings{Name: name, Body: sealed}
		if !wait {
			h.Core.SaveSettings(to, nil)
			return nil
		}
		return h.Core.KeepSettings(to)
	}
	return doc, nil
}

// NodeToken is the token of a hub without accounts where another node may have its user. What is
// about this process alone is asked of this node, which then has to read what the token is.
type NodeToken struct {
	*auth.Token
	IsHere func() bool            // the user is
	Read   func() (string, error) // blocks

	mu     sync.Mutex // held while it is read: others that ask wait for the answer
	secret string
	err    error     // why it could not be read
	Until  time.Time // when it is read again
}

// tokenAge is how long a node without the user goes by a token that was replaced.
const tokenAge = time.Second

// Verify implements auth.Verifier. It blocks where the user is on another node.
func (t *NodeToken) Verify(token string) (auth.Identity, error) {
	id, err := t.Token.Verify(token)
	if err == nil || t.IsHere() {
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

func (t *NodeToken) present() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !time.Now().Before(t.Until) {
		t.secret, t.err = t.Read()
		t.Until = time.Now().Add(tokenAge)
	}
	return t.secret, t.err
}
