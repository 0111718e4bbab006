package pairing_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/spec"
	"tabhub/storage/private"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport/pairing"
)

const here = "ws://127.0.0.1:3300"

// keeper is where a ring is stored. Each process in turn opens it there.
type keeper interface {
	open(t testing.TB) *pairing.Ring
	text(t testing.TB) string // what is stored
}

// withKeepers runs a test with each way to keep a ring. The times of a test are those of a
// bubble.
func withKeepers(t *testing.T, test func(t *testing.T, k keeper)) {
	t.Run("file", func(t *testing.T) {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) { test(t, inFile(filepath.Join(dir, "pairings"))) })
	})
	t.Run("documents", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, newDocuments()) })
	})
}

// inFile is a file for all users.
type inFile string

func (path inFile) open(t testing.TB) *pairing.Ring {
	t.Helper()
	ring, err := pairing.Open(string(path), "hub-1")
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func (path inFile) text(t testing.TB) string {
	text, err := os.ReadFile(string(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// inDocuments is a document for each user, in a store that nodes share.
type inDocuments struct {
	store storagetest.Memory
	dir   directory
	key   pairing.Key
}

func newDocuments() *inDocuments {
	key := make(pairing.Key, 32)
	rand.Read(key)
	return &inDocuments{dir: directory{}, key: key}
}

// node returns the ring of a node that has no user yet.
func (d *inDocuments) node() *pairing.Ring { return pairing.New("hub-1", d.key, d.dir) }

// open has a node become the owner of all users.
func (d *inDocuments) open(t testing.TB) *pairing.Ring {
	ring := d.node()
	for _, user := range []spec.UserID{"", "ann"} {
		d.load(t, ring, user)
	}
	return ring
}

func (d *inDocuments) load(t testing.TB, ring *pairing.Ring, user spec.UserID) {
	t.Helper()
	if err := ring.Load(user, d.document(t, user)); err != nil {
		t.Fatal(err)
	}
}

// document is how the next owner of a user keeps the pairings.
func (d *inDocuments) document(t testing.TB, user spec.UserID) private.Document {
	t.Helper()
	return d.store.Documents(t, cmp.Or(user, spec.LocalUser))("pairings")
}

func (d *inDocuments) text(t testing.TB) string {
	return string(d.document(t, "").Body) + string(d.document(t, "ann").Body)
}

// directory is a pairing.Directory in this process.
type directory map[string]spec.UserID

func (d directory) Hint(id string, user spec.UserID, _ time.Time) error {
	if user == "lost" {
		return errors.New("no node can be notified")
	}
	d[id] = user
	return nil
}

func (d directory) Forget(id string) { delete(d, id) }

func invite(t testing.TB, ring *pairing.Ring, user spec.UserID, expires time.Time) pairing.Invitation {
	t.Helper()
	i, err := ring.Invite(user, expires)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// browser plays the browser's side of a handshake: it has dialed address.
type browser struct {
	id      spec.PairingID
	key     pairing.Key
	address string
}

// meet runs the handshake of the browser and the hub at the hub's address. It returns the
// hub's credential for the browser, the key that replaces that of an invitation, and whether
// the browser believes the hub.
func (b browser) meet(ring *pairing.Ring, at string) (grant pairing.Credential, next pairing.Key, believed bool, err error) {
	m := pairMessage(b.id, pairing.NewNonce())
	ex, err := ring.Begin(m, at)
	if err != nil {
		return grant, nil, false, err
	}
	r := ex.Result()
	t := pairing.Transcript{Pairing: b.id, Hub: r.Hub, Address: b.address, BrowserNonce: m.Nonce, HubNonce: r.Nonce}
	believed = r.Proof == t.HubProof(b.key)
	grant, err = ex.Accept(t.BrowserProof(b.key), "Chromium 156")
	return grant, t.NextKey(b.key), believed, err
}

func pairMessage(id spec.PairingID, nonce string) *spec.Pair {
	return &spec.Pair{ProtocolVersion: spec.ProtocolVersion, Pairing: id, Nonce: nonce}
}

func (b browser) mustMeet(t testing.TB, ring *pairing.Ring) (pairing.Credential, pairing.Key) {
	t.Helper()
	grant, next, believed, err := b.meet(ring, b.address)
	if err != nil || !believed {
		t.Fatalf("%v, and the browser believes the hub: %t", err, believed)
	}
	return grant, next
}

func copyOf(ring *pairing.Ring) browser {
	c := ring.Issue("", here+"/tabs")
	return browser{c.Pairing, c.Key, here}
}

// An extension that the owner's command wrote is known by the hub that runs, and by the
// one after it, without anybody's doing.
func TestCopyIsPaired(t *testing.T) { withKeepers(t, testCopyIsPaired) }

func testCopyIsPaired(t *testing.T, k keeper) {
	ring := k.open(t)
	b := copyOf(ring)
	grant, _ := b.mustMeet(t, ring)
	if grant.Pairing != b.id || grant.User != "" || !grant.Expires.IsZero() || grant.Revoked.Err() != nil {
		t.Errorf("%+v", grant)
	}
	path, isFile := k.(inFile)
	if isFile {
		if err := os.Chmod(string(path), 0o644); err != nil { // as a backup may restore it
			t.Fatal(err)
		}
	}
	b.mustMeet(t, k.open(t))
	if list := k.open(t).List(""); len(list) != 1 || list[0].ID != b.id || list[0].Kind != pairing.KindCopy || list[0].Browser != "Chromium 156" {
		t.Errorf("%+v", list)
	}
	if !isFile {
		return
	}
	if fi, err := os.Stat(string(path)); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("others may read the keys: %v, %v", fi.Mode(), err)
	}
}

// A program on another port or address of this machine that relays the handshake convinces
// neither side.
func TestHandshakeIsBoundToItsAddress(t *testing.T) { withKeepers(t, testHandshakeIsBoundToItsAddress) }

func testHandshakeIsBoundToItsAddress(t *testing.T, k keeper) {
	ring := k.open(t)
	b := copyOf(ring)
	for _, at := range []string{"ws://127.0.0.1:41234", "ws://[::1]:3300", "wss://127.0.0.1:3300", ""} {
		if _, _, believed, err := b.meet(ring, at); believed || !errors.Is(err, pairing.ErrProof) {
			t.Errorf("a browser that dialed %s, passed on to %s: believed %t, %v", b.address, at, believed, err)
		}
	}
}

func TestHandshakeNeedsTheKey(t *testing.T) { withKeepers(t, testHandshakeNeedsTheKey) }

func testHandshakeNeedsTheKey(t *testing.T, k keeper) {
	ring := k.open(t)
	other := newDocuments().open(t)
	b := copyOf(ring)
	wrong := browser{b.id, copyOf(ring).key, here}
	if _, _, believed, err := wrong.meet(ring, here); believed || !errors.Is(err, pairing.ErrProof) {
		t.Errorf("another copy's key: %t, %v", believed, err)
	}
	if _, _, _, err := b.meet(other, here); !errors.Is(err, pairing.ErrUnknown) {
		t.Errorf("another hub's copy: %v", err)
	}
	for _, id := range []spec.PairingID{"", "copy.", "copy.x.y", "browser.x", spec.PairingID(strings.ToUpper(string(b.id)))} {
		if _, _, _, err := (browser{id, b.key, here}).meet(ring, here); !errors.Is(err, pairing.ErrUnknown) {
			t.Errorf("the id %q: %v", id, err)
		}
	}
	// The hub accepts neither its reflected proof nor the proof of an earlier handshake.
	m := &spec.Pair{Pairing: b.id, Nonce: pairing.NewNonce()}
	ex, err := ring.Begin(m, here)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ex.Accept(ex.Result().Proof, ""); !errors.Is(err, pairing.ErrProof) {
		t.Errorf("a proof said back: %v", err)
	}
	old := pairing.Transcript{Pairing: b.id, Hub: "hub-1", Address: here, BrowserNonce: m.Nonce, HubNonce: pairing.NewNonce()}
	if _, err := ex.Accept(old.BrowserProof(b.key), ""); !errors.Is(err, pairing.ErrProof) {
		t.Errorf("an old proof: %v", err)
	}
}

// A browser from elsewhere pairs by a secret that works once. Afterwards both sides have
// another key, which was never sent.
func TestInvitation(t *testing.T) { withKeepers(t, testInvitation) }

func testInvitation(t *testing.T, k keeper) {
	ring := k.open(t)
	o := invite(t, ring, "ann", time.Time{})
	b := browser{o.Pairing, o.Secret, here}
	grant, next := b.mustMeet(t, ring)
	if grant.User != "ann" {
		t.Errorf("%+v", grant)
	}
	if _, _, believed, err := b.meet(ring, here); believed || err == nil {
		t.Errorf("the invitation was accepted twice: %v", err)
	}
	b.key = next
	b.mustMeet(t, k.open(t))
	if text := k.text(t); !strings.Contains(text, string(o.Pairing)) || strings.Contains(text, o.Secret.String()) {
		t.Error("the pairing is not stored, or its secret is")
	}
	// A waiter may come a moment later than the browser.
	if p, err := ring.Await(t.Context(), o.Pairing); err != nil || p.ID != o.Pairing {
		t.Errorf("waiting for one that was taken: %+v, %v", p, err)
	}
}

// If the hub's answer was lost, only one side may know that the invitation is accepted.
func TestInvitationWhoseAnswerWasLost(t *testing.T) { withKeepers(t, testInvitationWhoseAnswerWasLost) }

func testInvitationWhoseAnswerWasLost(t *testing.T, k keeper) {
	ring := k.open(t)
	o := invite(t, ring, "", time.Time{})
	m := &spec.Pair{Pairing: o.Pairing, Nonce: pairing.NewNonce()}
	ex, err := ring.Begin(m, here)
	if err != nil {
		t.Fatal(err)
	}
	// The browser's proof was lost: the invitation can still be accepted, by a new handshake.
	if _, next := (browser{o.Pairing, o.Secret, here}).mustMeet(t, ring); next == nil {
		t.Error("no key")
	}
	r := ex.Result()
	late := pairing.Transcript{Pairing: o.Pairing, Hub: r.Hub, Address: here, BrowserNonce: m.Nonce, HubNonce: r.Nonce}
	if _, err := ex.Accept(late.BrowserProof(o.Secret), ""); !errors.Is(err, pairing.ErrUnknown) {
		t.Errorf("two have accepted one invitation: %v", err)
	}
}

func TestInvitationEnds(t *testing.T) { withKeepers(t, testInvitationEnds) }

func testInvitationEnds(t *testing.T, k keeper) {
	ring := k.open(t)
	waited := make(chan error)
	o := invite(t, ring, "", time.Time{})
	go func() {
		_, err := ring.Await(context.Background(), o.Pairing)
		waited <- err
	}()
	time.Sleep(pairing.InvitationLife)
	if _, _, _, err := (browser{o.Pairing, o.Secret, here}).meet(ring, here); !errors.Is(err, pairing.ErrUnknown) {
		t.Errorf("an invitation outlived its time: %v", err)
	}
	if err := <-waited; !errors.Is(err, pairing.ErrUnknown) {
		t.Error(err)
	}
	// A pairing made from an invitation ends with the credential that was invited.
	o = invite(t, ring, "ann", time.Now().Add(time.Hour))
	b := browser{o.Pairing, o.Secret, here}
	_, b.key = b.mustMeet(t, ring)
	time.Sleep(time.Hour + time.Second)
	if _, _, _, err := b.meet(ring, here); !errors.Is(err, pairing.ErrUnknown) {
		t.Errorf("a pairing outlived the credential: %v", err)
	}
	// And does not stay in the file, which would grow with each.
	o = invite(t, ring, "ann", time.Time{})
	browser{o.Pairing, o.Secret, here}.mustMeet(t, ring)
	if list := ring.List("ann"); len(list) != 1 || list[0].ID != o.Pairing {
		t.Errorf("expired invitations are still stored: %+v", list)
	}
}

func TestAwaitInvitation(t *testing.T) { withKeepers(t, testAwaitInvitation) }

func testAwaitInvitation(t *testing.T, k keeper) {
	ring := k.open(t)
	o := invite(t, ring, "", time.Time{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ring.Await(ctx, o.Pairing); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	got := make(chan pairing.Pairing)
	go func() {
		p, err := ring.Await(context.Background(), o.Pairing)
		if err != nil {
			t.Error(err)
		}
		got <- p
	}()
	synctest.Wait()
	browser{o.Pairing, o.Secret, here}.mustMeet(t, ring)
	if p := <-got; p.ID != o.Pairing || p.Browser != "Chromium 156" {
		t.Errorf("%+v", p)
	}
}

// Forgetting a pairing closes its connections; it is not accepted again.
func TestForget(t *testing.T) { withKeepers(t, testForget) }

func testForget(t *testing.T, k keeper) {
	ring := k.open(t)
	a, b := copyOf(ring), copyOf(ring)
	grantA, _ := a.mustMeet(t, ring)
	grantB, _ := b.mustMeet(t, ring)
	if err := ring.Forget(a.id); err != nil {
		t.Fatal(err)
	}
	if grantA.Revoked.Err() == nil || grantB.Revoked.Err() != nil {
		t.Errorf("revoked: %v, %v", grantA.Revoked.Err(), grantB.Revoked.Err())
	}
	if _, _, _, err := a.meet(ring, here); !errors.Is(err, pairing.ErrUnknown) {
		t.Errorf("it is taken again: %v", err)
	}
	if again := ring.Issue(a.id, here); again.Pairing == a.id {
		t.Error("its copy is written again as it was")
	}
	if err := ring.Forget(a.id); !errors.Is(err, pairing.ErrUnknown) {
		t.Error(err)
	}
	ring = k.open(t)
	if _, _, _, err := a.meet(ring, here); !errors.Is(err, pairing.ErrUnknown) {
		t.Errorf("it is taken again by the next hub: %v", err)
	}
	grantB, _ = b.mustMeet(t, ring)
	if err := ring.ForgetAll(); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := b.meet(ring, here); grantB.Revoked.Err() == nil || !errors.Is(err, pairing.ErrUnknown) {
		t.Errorf("all are forgotten, and one is not: %v", err)
	}
	if again := k.open(t).Issue(b.id, here); again.Pairing == b.id {
		t.Error("a copy is still known")
	}
}

func TestOpenBadFile(t *testing.T) {
	for _, text := range []string{"", "{}", `{"key":"AAAA"}`, `{"key":12}`, "\x00"} {
		path := filepath.Join(t.TempDir(), "pairings")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := pairing.Open(path, "hub-1"); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", text, err)
		}
		if left, err := os.ReadFile(path); err != nil || string(left) != text {
			t.Errorf("%q became %q", text, left)
		}
	}
}

// A user of a hub with accounts cannot fill its file.
func TestPairingsOfAUserAreBounded(t *testing.T) { withKeepers(t, testPairingsOfAUserAreBounded) }

func testPairingsOfAUserAreBounded(t *testing.T, k keeper) {
	ring := k.open(t)
	var first, last browser
	var grant pairing.Credential
	for i := range 33 {
		o := invite(t, ring, "ann", time.Time{})
		last = browser{o.Pairing, o.Secret, here}
		var g pairing.Credential
		g, last.key = last.mustMeet(t, ring)
		if i == 0 {
			first, grant = last, g
		}
	}
	if n := len(ring.List("ann")); n != 32 {
		t.Errorf("she has %d pairings", n)
	}
	if _, _, _, err := first.meet(ring, here); !errors.Is(err, pairing.ErrUnknown) || grant.Revoked.Err() == nil {
		t.Errorf("her oldest: %v, revoked %v", err, grant.Revoked.Err())
	}
	last.mustMeet(t, ring)
}
