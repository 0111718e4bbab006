package pairing_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport/pairing"
)

const here = "ws://127.0.0.1:3300"

func open(t testing.TB) (ring *pairing.Ring, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pairings")
	return reopen(t, path), path
}

func reopen(t testing.TB, path string) *pairing.Ring {
	t.Helper()
	ring, err := pairing.Open(path, "hub-1")
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// browser plays the browser's side of a handshake: it has dialed address.
type browser struct {
	id      spec.PairingID
	key     pairing.Key
	address string
}

// meet has the browser and the hub prove themselves at the address where the hub is. It
// returns what the hub grants, the key that follows that of an invitation, and whether the
// browser believes the hub.
func (b browser) meet(ring *pairing.Ring, at string) (grant pairing.Grant, next pairing.Key, believed bool, err error) {
	m := &spec.Pair{ProtocolVersion: spec.ProtocolVersion, Pairing: b.id, Nonce: pairing.NewNonce()}
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

func (b browser) mustMeet(t testing.TB, ring *pairing.Ring) (pairing.Grant, pairing.Key) {
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
func TestCopyIsPaired(t *testing.T) {
	ring, path := open(t)
	b := copyOf(ring)
	grant, _ := b.mustMeet(t, ring)
	if grant.Pairing != b.id || grant.User != "" || !grant.Expires.IsZero() || grant.Revoked.Err() != nil {
		t.Errorf("%+v", grant)
	}
	if err := os.Chmod(path, 0o644); err != nil { // as a backup may restore it
		t.Fatal(err)
	}
	b.mustMeet(t, reopen(t, path))
	if list := reopen(t, path).List(); len(list) != 1 || list[0].ID != b.id || list[0].Kind != pairing.KindCopy || list[0].Browser != "Chromium 156" {
		t.Errorf("%+v", list)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("others may read the keys: %v, %v", fi.Mode(), err)
	}
}

// Whoever has another port, or another address of this machine, and passes on what both
// sides say, is believed by neither.
func TestHandshakeIsBoundToItsAddress(t *testing.T) {
	ring, _ := open(t)
	b := copyOf(ring)
	for _, at := range []string{"ws://127.0.0.1:41234", "ws://[::1]:3300", "wss://127.0.0.1:3300", ""} {
		if _, _, believed, err := b.meet(ring, at); believed || !errors.Is(err, pairing.ErrProof) {
			t.Errorf("a browser that dialed %s, passed on to %s: believed %t, %v", b.address, at, believed, err)
		}
	}
}

func TestHandshakeNeedsTheKey(t *testing.T) {
	ring, _ := open(t)
	other, _ := open(t)
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
	// The hub's own proof, said back to it, is not the browser's; nor is one of an
	// earlier handshake.
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

// A browser from elsewhere is introduced by a secret that is good once. Both sides have
// another key then, which nobody has seen.
func TestInvitation(t *testing.T) {
	ring, path := open(t)
	o := ring.Invite("ann", time.Time{})
	b := browser{o.Pairing, o.Secret, here}
	grant, next := b.mustMeet(t, ring)
	if grant.User != "ann" {
		t.Errorf("%+v", grant)
	}
	if _, _, believed, err := b.meet(ring, here); believed || err == nil {
		t.Errorf("the invitation was accepted twice: %v", err)
	}
	b.key = next
	b.mustMeet(t, reopen(t, path))
	if text, _ := os.ReadFile(path); strings.Contains(string(text), o.Secret.String()) {
		t.Error("the secret is kept")
	}
	// Who waits may come a moment later than the browser.
	if p, err := ring.Await(t.Context(), o.Pairing); err != nil || p.ID != o.Pairing {
		t.Errorf("waiting for one that was taken: %+v, %v", p, err)
	}
}

// If the hub's answer was lost, only one side may know that the invitation is accepted.
func TestInvitationWhoseAnswerWasLost(t *testing.T) {
	ring, _ := open(t)
	o := ring.Invite("", time.Time{})
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

func TestInvitationEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ring, _ := open(t)
		waited := make(chan error)
		o := ring.Invite("", time.Time{})
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
		// What comes of an invitation ends with the credential of who was invited.
		o = ring.Invite("ann", time.Now().Add(time.Hour))
		b := browser{o.Pairing, o.Secret, here}
		_, b.key = b.mustMeet(t, ring)
		time.Sleep(time.Hour + time.Second)
		if _, _, _, err := b.meet(ring, here); !errors.Is(err, pairing.ErrUnknown) {
			t.Errorf("a pairing outlived the credential: %v", err)
		}
		// And does not stay in the file, which would grow with each.
		o = ring.Invite("ann", time.Time{})
		browser{o.Pairing, o.Secret, here}.mustMeet(t, ring)
		if list := ring.List(); len(list) != 1 || list[0].ID != o.Pairing {
			t.Errorf("what has expired is kept: %+v", list)
		}
	})
}

func TestAwaitInvitation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ring, _ := open(t)
		o := ring.Invite("", time.Time{})
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
	})
}

// A pairing that is forgotten cuts off who came in with it, and is not taken again.
func TestForget(t *testing.T) {
	ring, path := open(t)
	a, b := copyOf(ring), copyOf(ring)
	grantA, _ := a.mustMeet(t, ring)
	grantB, _ := b.mustMeet(t, ring)
	if err := ring.Forget(a.id); err != nil {
		t.Fatal(err)
	}
	if grantA.Revoked.Err() == nil || grantB.Revoked.Err() != nil {
		t.Errorf("revoked: %v, %v", grantA.Revoked.Err(), grantB.Revoked.Err())
	}
	if _, _, _, err := a.meet(reopen(t, path), here); !errors.Is(err, pairing.ErrUnknown) {
		t.Errorf("it is taken again: %v", err)
	}
	if again := ring.Issue(a.id, here); again.Pairing == a.id {
		t.Error("its copy is written again as it was")
	}
	if err := ring.Forget(a.id); !errors.Is(err, pairing.ErrUnknown) {
		t.Error(err)
	}
	if err := ring.ForgetAll(); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := b.meet(ring, here); grantB.Revoked.Err() == nil || !errors.Is(err, pairing.ErrUnknown) {
		t.Errorf("all are forgotten, and one is not: %v", err)
	}
	if again := reopen(t, path).Issue(b.id, here); again.Pairing == b.id {
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

// A handshake is part of each connection of a browser: its cost is noticed there.
func BenchmarkHandshake(b *testing.B) {
	ring, _ := open(b)
	c := copyOf(ring)
	c.mustMeet(b, ring)
	for b.Loop() {
		c.mustMeet(b, ring)
	}
}

// A user of a hub with accounts cannot fill its file.
func TestPairingsOfAUserAreBounded(t *testing.T) {
	ring, _ := open(t)
	var first, last browser
	var grant pairing.Grant
	for i := range 33 {
		o := ring.Invite("ann", time.Time{})
		last = browser{o.Pairing, o.Secret, here}
		var g pairing.Grant
		g, last.key = last.mustMeet(t, ring)
		if i == 0 {
			first, grant = last, g
		}
	}
	if n := len(ring.List()); n != 32 {
		t.Errorf("she has %d pairings", n)
	}
	if _, _, _, err := first.meet(ring, here); !errors.Is(err, pairing.ErrUnknown) || grant.Revoked.Err() == nil {
		t.Errorf("her oldest: %v, revoked %v", err, grant.Revoked.Err())
	}
	last.mustMeet(t, ring)
}
