package daemon

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tabhub/cmd/tabhub/internal/daemon/node"
	"tabhub/hub"
	"tabhub/hub/face/httpd"
	"tabhub/hub/face/mcpserver"
	"tabhub/hub/tenant"
	"tabhub/hub/trust/auth"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
)

// machines are processes whose users move from one to the other: what they have in common.
type machines struct {
	t      *testing.T
	store  storagetest.Memory
	shared node.Shared
}

func newMachines(t *testing.T) *machines {
	block, err := aes.NewCipher(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		t.Fatal(err)
	}
	return &machines{t: t, shared: node.Shared{Hub: "hub-1", Key: make(pairing.Key, 32), Seal: sealedWith{aead}}}
}

// sealedWith is a sealer.
type sealedWith struct{ cipher.AEAD }

func (s sealedWith) Seal(user spec.UserID, name string, doc []byte) []byte {
	return s.AEAD.Seal(nil, nil, doc, []byte(string(user)+"\x00"+name))
}

func (s sealedWith) Open(user spec.UserID, name string, sealed []byte) ([]byte, error) {
	return s.AEAD.Open(nil, nil, sealed, []byte(string(user)+"\x00"+name))
}

// start returns a process that nobody has reached yet.
func (m *machines) start() *Process {
	m.t.Helper()
	secret := filepath.Join(m.t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("s3cret", 8)), 0o600); err != nil {
		m.t.Fatal(err)
	}
	p := &Process{Options: options(m.t, io.Discard, "--auth", "jwt", "--jwt-secret", secret), shared: &m.shared}
	p.Tenants = tenant.New(func(context.Context, spec.UserID) (*tenant.Tenant, error) {
		return nil, tenant.ErrClosed // here tenants are opened by the test
	}, p.Log)
	m.t.Cleanup(func() { p.Tenants.Close(context.Background()) })
	var err error
	if p.credentials, err = p.verifier(); err != nil {
		m.t.Fatal(err)
	}
	if p.ring, err = p.openRing(); err != nil {
		m.t.Fatal(err)
	}
	o := p.Config.GuardOptions()
	o.Verifier = p.credentials
	if p.guard, err = httpd.NewGuard(o); err != nil {
		m.t.Fatal(err)
	}
	return p
}

// hub opens the hub of a user.
func (m *machines) hub(user spec.UserID) *hub.Hub {
	m.t.Helper()
	h, err := hub.Open(m.t.Context(), hub.Options{User: user, Store: &m.store, Transport: tabtransport.NewPeers()})
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = h.Close(context.Background()) })
	return h
}

// open has a process become the owner of a user.
func (m *machines) open(p *Process, user spec.UserID) *tenant.Tenant {
	m.t.Helper()
	h := m.hub(user)
	c := &credentials{p: p, user: user}
	if err := c.Load(h); err != nil {
		m.t.Fatal(err)
	}
	return &tenant.Tenant{User: user, Hub: h, MCP: mcpserver.New(h.ClientView(), mcpserver.Options{}), Credentials: c}
}

func (m *machines) Close(of *tenant.Tenant) {
	m.t.Helper()
	if err := of.Close(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
}

// pair introduces a browser of a user's to a process.
func pair(t *testing.T, p *Process, user spec.UserID) spec.PairingID {
	t.Helper()
	i, err := p.ring.Invite(user, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	const at = "wss://hub.example"
	m := &spec.Pair{ProtocolVersion: spec.ProtocolVersion, Pairing: i.Pairing, Nonce: pairing.NewNonce()}
	ex, err := p.ring.Begin(m, at)
	if err != nil {
		t.Fatal(err)
	}
	r := ex.Result()
	said := pairing.Transcript{Pairing: i.Pairing, Hub: r.Hub, Address: at, BrowserNonce: m.Nonce, HubNonce: r.Nonce}
	if _, err := ex.Accept(said.BrowserProof(i.Secret), "Chromium 156"); err != nil {
		t.Fatal(err)
	}
	return i.Pairing
}

// Credentials read from the store open no hub, and the hub refuses those of one user that were written
// in the place of another's.
func TestCredentialsAreSealed(t *testing.T) {
	m := newMachines(t)
	a, b := m.start(), m.start()
	onA := m.open(a, "ann")
	browser := pair(t, a, "ann")
	m.Close(onA)
	onB := m.open(b, "ann")
	if !b.hasBrowser("ann") || b.hasBrowser("bob") || a.hasBrowser("ann") {
		t.Error("her browser does not move with her")
	}
	m.Close(onB)
	kept, err := m.store.Load(t.Context(), "ann", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var sealed storage.Settings
	for _, s := range kept.Settings {
		if strings.Contains(string(s.Body), string(browser)) {
			t.Errorf("%s can be read: %s", s.Name, s.Body)
		}
		if s.Name == node.PairingsSettings {
			sealed = s
		}
	}
	for user, change := range map[spec.UserID]storage.Settings{
		"bob":  sealed,
		"carl": {Name: node.PairingsSettings, Body: []byte(`{"pairings":[]}`)},
		"dora": {Name: node.ClientsSettings, Body: sealed.Body},
	} {
		h := m.hub(user)
		if err := h.Core.KeepSettings(change); err != nil {
			t.Fatal(err)
		}
		if err := h.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := (&credentials{p: a, user: user}).Load(m.hub(user)); err == nil || !strings.Contains(err.Error(), string(user)) {
			t.Errorf("%s: %v", user, err)
		}
		if _, err := a.ring.Invite(user, time.Time{}); !errors.Is(err, tabtransport.ErrGoingAway) {
			t.Errorf("%s is half loaded: %v", user, err)
		}
	}
}

// A node that has not the user of a hub without accounts takes the token that all nodes have, and
// no other: its metrics are read with it, and it is stopped with it. Where the user is, nothing is
// asked of the others.
func TestTokenOfANode(t *testing.T) {
	here, reads, secret, broken := false, 0, "the token of all nodes", error(nil)
	n := &node.NodeToken{Token: auth.NoToken(), IsHere: func() bool { return here }, Read: func() (string, error) {
		reads++
		return secret, broken
	}}
	if id, err := n.Verify(secret); err != nil || id.User != spec.LocalUser || id.Kind != auth.KindOwner || id.Revoked.Err() != nil {
		t.Errorf("the token: %+v %v", id, err)
	}
	for _, wrong := range []string{"", "another", secret + "x"} {
		if _, err := n.Verify(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
	if reads != 1 {
		t.Errorf("four tokens within a second cost %d reads", reads)
	}
	old := secret
	secret, n.Until = "the next token", time.Time{}
	if _, err := n.Verify(old); err == nil {
		t.Error("a token that was replaced is taken")
	}
	reads, broken, n.Until = 0, errors.New("NATS is away"), time.Time{}
	for range 3 { // each of which waits for long
		if _, err := n.Verify(secret); !errors.Is(err, broken) || !errors.Is(err, auth.ErrUnchecked) {
			t.Errorf("without NATS: %v", err)
		}
	}
	if reads != 1 {
		t.Errorf("three tokens within a second cost %d reads without NATS", reads)
	}
	here, broken = true, nil
	if _, err := n.Verify(secret); err == nil {
		t.Error("where the user is, another token than the user's is taken")
	}
}

// A page or an extension whose token cannot be checked now comes back: what is refused does not.
func TestUncheckedTokenIsNotRefused(t *testing.T) {
	p := new(Process)
	r := httptest.NewRequest("GET", "/tabs", nil)
	for err, want := range map[error]int{auth.ErrUnchecked: spec.CodeInternal, errors.New("the token has expired"): spec.CodeRefused} {
		if e, ok := errors.AsType[*spec.Error]((admission{p}).refuse(r, err)); !ok || e.Code != want {
			t.Errorf("%v: %v", err, e)
		}
	}
	if told := (admission{p}).pairingError(storage.ErrStaleEpoch); !strings.Contains(told.Error(), "another hub serves this user now") {
		t.Errorf("a browser of a hub that has moved: %v", told)
	}
}
