package main

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub"
	"tabhub/hub/auth"
	"tabhub/hub/httpd"
	"tabhub/hub/mcpserver"
	"tabhub/hub/tenant"
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
	shared shared
	token  string // of the hub without accounts
	flags  []string
}

func newMachines(t *testing.T, flags ...string) *machines {
	block, err := aes.NewCipher(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		t.Fatal(err)
	}
	m := &machines{t: t, token: "the token of all processes", flags: flags}
	m.shared = shared{
		hub: "hub-1", key: make(pairing.Key, 32), seal: sealedWith{aead},
		token: func() (string, error) { return m.token, nil },
		newToken: func() (string, error) {
			m.token += "+"
			return m.token, nil
		},
	}
	return m
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
func (m *machines) start() *process {
	m.t.Helper()
	a := &app{env: func(string) string { return "" }}
	f := pflag.NewFlagSet("serve", pflag.PanicOnError)
	a.addHubFlags(f)
	a.config.dataDir = m.t.TempDir()
	if err := f.Parse(m.flags); err != nil {
		m.t.Fatal(err)
	}
	if err := a.loadSettings(f); err != nil {
		m.t.Fatal(err)
	}
	p := &process{config: &a.config, dir: home.Dir(m.t.TempDir()), log: slog.New(slog.DiscardHandler), shared: &m.shared}
	p.tenants = tenant.New(func(context.Context, spec.UserID) (*tenant.Tenant, error) {
		return nil, tenant.ErrClosed // here tenants are opened by the test
	}, p.log)
	m.t.Cleanup(func() { p.tenants.Close(context.Background()) })
	var err error
	if p.credentials, err = p.verifier(); err != nil {
		m.t.Fatal(err)
	}
	if p.ring, err = p.openRing(); err != nil {
		m.t.Fatal(err)
	}
	o := p.config.guardOptions()
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
func (m *machines) open(p *process, user spec.UserID) *tenant.Tenant {
	m.t.Helper()
	h := m.hub(user)
	c := &credentials{p: p, user: user}
	if err := c.load(h); err != nil {
		m.t.Fatal(err)
	}
	return &tenant.Tenant{User: user, Hub: h, MCP: mcpserver.New(h, mcpserver.Options{}), Credentials: c}
}

func (m *machines) close(of *tenant.Tenant) {
	m.t.Helper()
	if err := of.Close(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
}

// pair introduces a browser of a user's to a process, and returns how it comes back.
func pair(t *testing.T, p *process, user spec.UserID) (spec.PairingID, pairing.Key) {
	t.Helper()
	i, err := p.ring.Invite(user, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	key, err := meet(p, i.Pairing, i.Secret)
	if err != nil {
		t.Fatal(err)
	}
	return i.Pairing, key
}

// meet is a handshake of a browser. It returns the key that follows an invitation's.
func meet(p *process, id spec.PairingID, key pairing.Key) (pairing.Key, error) {
	const at = "wss://hub.example"
	m := &spec.Pair{ProtocolVersion: spec.ProtocolVersion, Pairing: id, Nonce: pairing.NewNonce()}
	ex, err := p.ring.Begin(m, at)
	if err != nil {
		return nil, err
	}
	r := ex.Result()
	said := pairing.Transcript{Pairing: id, Hub: r.Hub, Address: at, BrowserNonce: m.Nonce, HubNonce: r.Nonce}
	_, err = ex.Accept(said.BrowserProof(key), "Chromium 156")
	return said.NextKey(key), err
}

func secretFile(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(strings.Repeat("s3cret", 8)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A user's hub moves to another machine, and back: clients and browsers go on with what they
// have, and what the user has taken back meanwhile is good nowhere.
func TestCredentialsMoveWithTheirUser(t *testing.T) {
	m := newMachines(t, "--auth", "jwt", "--jwt-secret", secretFile(t))
	a, b := m.start(), m.start()
	onA := m.open(a, "ann")
	made, token, err := a.clients.Mint(auth.Client{Name: "notes", Kind: auth.ClientToken, User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	browser, key := pair(t, a, "ann")
	in, err := a.credentials.Verify(token)
	if err != nil {
		t.Fatal(err)
	}
	if !a.hasBrowser("ann") || a.hasBrowser("bob") {
		t.Error("whose browser it is")
	}
	m.close(onA)
	if !errors.Is(context.Cause(in.Revoked), tabtransport.ErrGoingAway) {
		t.Errorf("who is in is told %v", context.Cause(in.Revoked))
	}
	if _, err := a.credentials.Verify(token); err == nil {
		t.Error("the first machine lets her client in, whose hub it has not")
	}

	onB := m.open(b, "ann")
	if id, err := b.credentials.Verify(token); err != nil || id.User != "ann" || id.Who.ID != made.ID || id.Ended() {
		t.Errorf("her client, on the second machine: %+v, %v", id, err)
	}
	if list := b.clients.List("ann"); len(list) != 1 || list[0].LastUsed.IsZero() {
		t.Errorf("the second machine lists %+v", list)
	}
	if _, err := meet(b, browser, key); err != nil || !b.hasBrowser("ann") {
		t.Errorf("her browser, on the second machine: %v", err)
	}
	if err := errors.Join(b.clients.Revoke("ann", made.ID), b.ring.Forget(browser)); err != nil {
		t.Fatal(err)
	}
	m.close(onB)

	m.open(a, "ann")
	m.close(onA) // once more, which is nothing to the hub that is hers now
	if len(a.ring.List("ann")) != 0 {
		t.Error("a browser is back")
	}
	if _, err := a.ring.Invite("ann", time.Time{}); err != nil {
		t.Errorf("back on the first machine: %v", err)
	}
	if _, err := a.credentials.Verify(token); err == nil {
		t.Error("back on the first machine: what was revoked is good")
	}
	if _, err := meet(a, browser, key); !errors.Is(err, pairing.ErrUnknown) {
		t.Errorf("back on the first machine: what was forgotten: %v", err)
	}
}

// A machine whose user another one has taken over, while it did not look, changes nothing any
// more, and says why.
func TestCredentialsOfAStaleHub(t *testing.T) {
	m := newMachines(t, "--auth", "jwt", "--jwt-secret", secretFile(t))
	a, b := m.start(), m.start()
	onA := m.open(a, "ann")
	browser, key := pair(t, a, "ann")
	late, err := a.ring.Invite("ann", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	m.open(b, "ann")
	if _, _, err := a.clients.Mint(auth.Client{Name: "late", Kind: auth.ClientToken, User: "ann"}); !errors.Is(err, storage.ErrStaleEpoch) {
		t.Errorf("a client is made: %v", err)
	}
	if err := a.ring.Forget(browser); !errors.Is(err, storage.ErrStaleEpoch) {
		t.Errorf("a browser is forgotten: %v", err)
	}
	_, err = meet(a, late.Pairing, late.Secret)
	if told := a.pairingError(err); !strings.Contains(told.Error(), "another hub serves this user now") {
		t.Errorf("a browser is paired: %v", told)
	}
	<-onA.Hub.Done()
	m.close(onA)
	if _, err := meet(b, browser, key); err != nil || len(b.clients.List("ann")) != 0 {
		t.Errorf("the other machine: %v, %+v", err, b.clients.List("ann"))
	}
}

// Whoever reads the store lets nobody in, and who writes one user's credentials in the place of
// another's, or others, is found out.
func TestCredentialsAreSealed(t *testing.T) {
	m := newMachines(t, "--auth", "jwt", "--jwt-secret", secretFile(t))
	a := m.start()
	onA := m.open(a, "ann")
	browser, _ := pair(t, a, "ann")
	m.close(onA)
	kept, err := m.store.Load(t.Context(), "ann", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var sealed storage.Settings
	for _, s := range kept.Settings {
		if strings.Contains(string(s.Body), string(browser)) {
			t.Errorf("%s can be read: %s", s.Name, s.Body)
		}
		if s.Name == pairingsSettings {
			sealed = s
		}
	}
	for user, change := range map[spec.UserID]storage.Settings{
		"bob":  sealed,
		"carl": {Name: pairingsSettings, Body: []byte(`{"pairings":[]}`)},
		"dora": {Name: clientsSettings, Body: sealed.Body},
	} {
		h := m.hub(user)
		if err := h.KeepSettings(change); err != nil {
			t.Fatal(err)
		}
		if err := h.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := (&credentials{p: a, user: user}).load(m.hub(user)); err == nil || !strings.Contains(err.Error(), string(user)) {
			t.Errorf("%s: %v", user, err)
		}
		if _, err := a.ring.Invite(user, time.Time{}); !errors.Is(err, tabtransport.ErrGoingAway) {
			t.Errorf("%s is half loaded: %v", user, err)
		}
	}
}

// The token of a hub without accounts is good where the owner's hub is, and what replaces it
// goes with that.
func TestTokenMovesWithTheOwner(t *testing.T) {
	m := newMachines(t, "--auth", "token")
	a, b := m.start(), m.start()
	first := m.token
	for _, token := range []string{"", first} {
		if _, err := a.token.Verify(token); err == nil {
			t.Errorf("%q is good where the owner is not", token)
		}
	}
	onA := m.open(a, spec.LocalUser)
	in, err := a.token.Verify(first)
	if err != nil {
		t.Fatal(err)
	}
	written := a.ring.Issue("", "wss://hub.example")
	if _, err := meet(a, written.Pairing, written.Key); err != nil {
		t.Fatal(err)
	}
	m.close(onA)
	if !errors.Is(context.Cause(in.Revoked), tabtransport.ErrGoingAway) {
		t.Errorf("who is in is told %v", context.Cause(in.Revoked))
	}
	onB := m.open(b, spec.LocalUser)
	if _, err := b.token.Verify(first); err != nil {
		t.Errorf("on the second machine: %v", err)
	}
	if _, err := meet(b, written.Pairing, written.Key); err != nil || !b.hasBrowser(spec.LocalUser) {
		t.Errorf("the extension that was written, on the second machine: %v", err)
	}
	if err := b.rotate(); err != nil {
		t.Fatal(err)
	}
	m.close(onB)
	m.open(a, spec.LocalUser)
	if _, err := a.token.Verify(first); err == nil {
		t.Error("back on the first machine: the token that was replaced is good")
	}
	if _, err := a.token.Verify(m.token); err != nil {
		t.Errorf("back on the first machine: %v", err)
	}
}

// A node that has not the user of a hub without accounts takes the token that all nodes have, and
// no other: its metrics are read with it, and it is stopped with it. Where the user is, nothing is
// asked of the others.
func TestTokenOfANode(t *testing.T) {
	here, reads, secret, broken := false, 0, "the token of all nodes", error(nil)
	n := &nodeToken{Token: auth.NoToken(), isHere: func() bool { return here }, read: func() (string, error) {
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
	secret, n.until = "the next token", time.Time{}
	if _, err := n.Verify(old); err == nil {
		t.Error("a token that was replaced is taken")
	}
	reads, broken, n.until = 0, errors.New("NATS is away"), time.Time{}
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
	p := new(process)
	r := httptest.NewRequest("GET", "/tabs", nil)
	for err, want := range map[error]int{auth.ErrUnchecked: spec.CodeInternal, errors.New("the token has expired"): spec.CodeRefused} {
		if e, ok := errors.AsType[*spec.Error](p.refuse(r, err)); !ok || e.Code != want {
			t.Errorf("%v: %v", err, e)
		}
	}
}
