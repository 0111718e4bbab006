package pairing_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/storage"
	"tabhub/storage/private"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
)

// A user's pairings go with the user from node to node: a browser that was paired on one is
// known by the other, and one that was forgotten there is not when the user is back.
func TestPairingsMoveWithTheirUser(t *testing.T) {
	d := newDocuments()
	a, b := d.node(), d.node()
	d.load(t, a, "ann")
	pair := func() (browser, pairing.Credential) {
		o := invite(t, a, "ann", time.Time{})
		if d.dir[string(o.Pairing)] != "ann" {
			t.Errorf("the directory has %v", d.dir)
		}
		with := browser{o.Pairing, o.Secret, here}
		grant, next := with.mustMeet(t, a)
		with.key = next
		return with, grant
	}
	gone, grant := pair()
	stays, _ := pair()
	if _, _, _, err := gone.meet(b, here); !errors.Is(err, pairing.ErrUnknown) {
		t.Errorf("a node knows a pairing of a user that it has not: %v", err)
	}

	a.Unload("ann")
	if !errors.Is(context.Cause(grant.Revoked), tabtransport.ErrGoingAway) {
		t.Errorf("the connected browser's credential ended with %v", context.Cause(grant.Revoked))
	}
	if _, _, _, err := gone.meet(a, here); !errors.Is(err, pairing.ErrUnknown) || len(a.List("ann")) != 0 {
		t.Errorf("the node that the user has left: %v, %+v", err, a.List("ann"))
	}
	if _, err := a.Invite("ann", time.Time{}); !errors.Is(err, tabtransport.ErrGoingAway) {
		t.Errorf("the node that the user has left invites: %v", err)
	}
	d.load(t, b, "ann")
	if list := b.List("ann"); len(list) != 2 || len(b.List("bob")) != 0 {
		t.Errorf("on the other node: %+v", list)
	}
	if grant, _ := gone.mustMeet(t, b); grant.User != "ann" || grant.Revoked.Err() != nil {
		t.Errorf("on the other node: %+v", grant)
	}
	if err := b.Forget(gone.id); err != nil {
		t.Fatal(err)
	}
	if len(d.dir) != 1 {
		t.Errorf("the directory has %v", d.dir)
	}

	b.Unload("ann")
	d.load(t, a, "ann")
	if _, _, _, err := gone.meet(a, here); !errors.Is(err, pairing.ErrUnknown) {
		t.Errorf("back on the first node: what was forgotten: %v", err)
	}
	if grant, _ := stays.mustMeet(t, a); grant.Revoked.Err() != nil {
		t.Error("back on the first node: what was not forgotten has ended")
	}
}

// A browser whose user moves in the middle of its handshake comes back: it must not take it that
// its pairing is not known any more.
func TestUserMovesDuringHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDocuments()
		a := d.node()
		d.load(t, a, "ann")
		o := invite(t, a, "ann", time.Time{})
		waited := make(chan error)
		go func() {
			_, err := a.Await(context.Background(), o.Pairing)
			waited <- err
		}()
		synctest.Wait()
		ex, proof := begin(t, a, o)
		a.Unload("ann")
		if _, err := ex.Accept(proof, ""); !errors.Is(err, tabtransport.ErrGoingAway) || errors.Is(err, pairing.ErrUnknown) {
			t.Errorf("the browser gets %v", err)
		}
		start := time.Now()
		if err := <-waited; !errors.Is(err, tabtransport.ErrGoingAway) || errors.Is(err, pairing.ErrUnknown) || time.Since(start) != 0 {
			t.Errorf("waiting for the browser ended with %v, after %v", err, time.Since(start))
		}
	})
}

// begin begins the handshake that accepts an invitation, and returns the browser's proof.
func begin(t *testing.T, ring *pairing.Ring, o pairing.Invitation) (*pairing.Exchange, string) {
	t.Helper()
	nonce := pairing.NewNonce()
	ex, err := ring.Begin(pairMessage(o.Pairing, nonce), here)
	if err != nil {
		t.Fatal(err)
	}
	r := ex.Result()
	return ex, pairing.Transcript{Pairing: o.Pairing, Hub: r.Hub, Address: here, BrowserNonce: nonce, HubNonce: r.Nonce}.BrowserProof(o.Secret)
}

// A node that has lost a user to another and does not know it pairs and forgets nothing.
func TestStaleOwnerPairsNothing(t *testing.T) {
	d := newDocuments()
	stale := d.node()
	d.load(t, stale, "ann")
	o := invite(t, stale, "ann", time.Time{})
	paired := browser{o.Pairing, o.Secret, here}
	_, paired.key = paired.mustMeet(t, stale)
	now := d.node()
	d.load(t, now, "ann")

	late := invite(t, stale, "ann", time.Time{})
	if _, _, _, err := (browser{late.Pairing, late.Secret, here}).meet(stale, here); !errors.Is(err, storage.ErrStaleEpoch) {
		t.Errorf("a browser is paired: %v", err)
	}
	if err := stale.Forget(paired.id); !errors.Is(err, storage.ErrStaleEpoch) {
		t.Errorf("a pairing is forgotten: %v", err)
	}
	if err := stale.SetStarted(paired.id, true); !errors.Is(err, storage.ErrStaleEpoch) {
		t.Errorf("a browser is the hub's: %v", err)
	}
	next := d.node()
	d.load(t, next, "ann")
	if list := next.List("ann"); len(list) != 1 || next.IsStarted(paired.id) {
		t.Errorf("the next owner has %+v", list)
	}
	paired.mustMeet(t, next)
}

// A node may die after it has stored a pairing and before the browser has the answer: the browser
// cannot use its invitation again, and the owner sees the pairing.
func TestPairingWhoseAnswerWasLost(t *testing.T) {
	d := newDocuments()
	first := d.node()
	died := make(chan struct{})
	doc := d.document(t, "ann")
	save := doc.Save
	doc.Save = func(body []byte, wait bool) error {
		if err := save(body, wait); err != nil {
			return err
		}
		close(died)
		select {} // as far as the browser can tell
	}
	if err := first.Load("ann", doc); err != nil {
		t.Fatal(err)
	}
	o := invite(t, first, "ann", time.Time{})
	ex, proof := begin(t, first, o)
	go ex.Accept(proof, "Chromium 156")
	<-died
	next := d.node()
	d.load(t, next, "ann")
	if list := next.List("ann"); len(list) != 1 || list[0].ID != o.Pairing {
		t.Fatalf("stored: %+v", list)
	}
	if _, _, believed, err := (browser{o.Pairing, o.Secret, here}).meet(next, here); believed || err == nil {
		t.Errorf("the invitation is good twice: %v", err)
	}
	if err := next.Forget(o.Pairing); err != nil {
		t.Error(err)
	}
}

// The copies of a hub without accounts have keys of the cluster's until all are forgotten: then
// the owner's document has another, on each node.
func TestCopiesOfACluster(t *testing.T) {
	d := newDocuments()
	a := d.open(t)
	c := copyOf(a)
	c.mustMeet(t, a)
	never := copyOf(a)
	b := d.open(t)
	c.mustMeet(t, b)
	if err := b.ForgetAll(); err != nil {
		t.Fatal(err)
	}
	after := copyOf(b)
	next := d.open(t)
	for _, old := range []browser{c, never} {
		if _, _, _, err := old.meet(next, here); !errors.Is(err, pairing.ErrUnknown) {
			t.Errorf("a copy that was forgotten: %v", err)
		}
	}
	after.mustMeet(t, next)

	// A node without the owner's hub, as each is with accounts, knows no copies at all.
	if _, _, _, err := after.meet(d.node(), here); !errors.Is(err, pairing.ErrUnknown) {
		t.Errorf("a copy without a user: %v", err)
	}
}

// An invitation that no node could place would not be found by the browser.
func TestInvitationThatTheDirectoryDoesNotTake(t *testing.T) {
	d := newDocuments()
	ring := d.node()
	d.load(t, ring, "lost")
	if _, err := ring.Invite("lost", time.Time{}); err == nil {
		t.Error("it is made")
	}
}

// A damaged document admits no browser.
func TestDamagedDocument(t *testing.T) {
	for _, text := range []string{"", "{", `{"key":"AAAA"}`, `{"pairings":[{"id":"browser.x","user":"bob"}]}`, `{"pairings":[{"id":"browser.x"}]}`} {
		if err := newDocuments().node().Load("ann", private.Document{Body: []byte(text)}); err == nil || !strings.Contains(err.Error(), `user "ann"`) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
