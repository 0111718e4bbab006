package auth_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"tabhub/hub/trust/auth"
	"tabhub/storage"
	"tabhub/storage/private"
	"tabhub/tabtransport"
)

// A user's clients go with the user from node to node: what was made on one is good on the
// other, and what was revoked there is not good when the user is back.
func TestClientsMoveWithTheirUser(t *testing.T) {
	d := &inDocuments{dir: directory{}}
	a, b := auth.NewClients(d.dir), auth.NewClients(d.dir)
	d.load(t, a, "ann")
	d.load(t, a, "bob")
	gone, token := mint(t, a, auth.Client{Name: "gone", Kind: auth.ClientToken, User: "ann"})
	_, stays := mint(t, a, auth.Client{Name: "stays", Kind: auth.ClientToken, User: "ann"})
	_, bobs := mint(t, a, auth.Client{Name: "his", Kind: auth.ClientToken, User: "bob"})
	id, err := a.Verify(token)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Verify(token); err == nil {
		t.Error("a node knows a client of a user that it has not")
	}
	if key, ok := auth.HintOf(token); !ok || d.dir[key] != "ann" {
		t.Errorf("the directory has %v", d.dir)
	}

	a.Settle("ann")
	a.Unload("ann")
	if !id.Ended() || !errors.Is(context.Cause(id.Revoked), tabtransport.ErrGoingAway) {
		t.Errorf("its connection ends with %v", context.Cause(id.Revoked))
	}
	if _, err := a.Verify(token); err == nil || len(a.List("ann")) != 0 {
		t.Error("the node that the user has left knows her clients still")
	}
	if _, _, err := a.Mint(auth.Client{Name: "late", User: "ann"}); err == nil {
		t.Error("the node that the user has left makes a client")
	}
	if _, err := a.Verify(bobs); err != nil {
		t.Errorf("a user who stays: %v", err)
	}
	d.load(t, b, "ann")
	if list := b.List("ann"); len(list) != 2 || list[0].LastUsed.IsZero() {
		t.Errorf("when it was used last is lost: %+v", list)
	}
	if id, err := b.Verify(token); err != nil || id.User != "ann" || id.Principal.ID != gone.ID || id.Ended() {
		t.Errorf("on the other node: %+v, %v", id, err)
	}
	if err := b.Revoke("ann", gone.ID); err != nil {
		t.Fatal(err)
	}
	if key, _ := auth.HintOf(token); d.dir[key] != "" {
		t.Error("the directory knows a client that was revoked")
	}

	b.Unload("ann")
	d.load(t, a, "ann")
	if _, err := a.Verify(token); err == nil {
		t.Error("back on the first node: what was revoked is good")
	}
	if id, err := a.Verify(stays); err != nil || id.Ended() {
		t.Errorf("back on the first node: the other client: %+v, %v", id, err)
	}
}

// A node that has lost a user to another and does not know it must not make or take back
// anything: it would be lost, or undo what the other has done.
func TestStaleOwnerChangesNoClients(t *testing.T) {
	d := &inDocuments{dir: directory{}}
	stale, now := auth.NewClients(d.dir), auth.NewClients(d.dir)
	d.load(t, stale, "ann")
	kept, token := mint(t, stale, auth.Client{Name: "kept", Kind: auth.ClientToken, User: "ann"})
	d.load(t, now, "ann")
	if _, _, err := stale.Mint(auth.Client{Name: "late", Kind: auth.ClientToken, User: "ann"}); !errors.Is(err, storage.ErrStaleEpoch) {
		t.Errorf("a client is made: %v", err)
	}
	if err := stale.Revoke("ann", kept.ID); !errors.Is(err, storage.ErrStaleEpoch) {
		t.Errorf("a client is revoked: %v", err)
	}
	if list := stale.List("ann"); len(list) != 1 {
		t.Errorf("the stale node has made up %+v", list)
	}
	if len(d.dir) != 1 {
		t.Errorf("the directory knows what was never made: %v", d.dir)
	}
	next := auth.NewClients(d.dir)
	d.load(t, next, "ann")
	if _, err := next.Verify(token); err != nil || len(next.List("ann")) != 1 {
		t.Errorf("the next owner: %+v, %v", next.List("ann"), err)
	}
}

// A node may die when a client is kept, and before anybody was told its token: the client is in
// the list, to be revoked, and takes no other's place.
func TestClientOfWhichNobodyWasTold(t *testing.T) {
	d := &inDocuments{dir: directory{}}
	first := auth.NewClients(d.dir)
	died := make(chan struct{})
	doc := d.document(t, "ann")
	save := doc.Save
	doc.Save = func(body []byte, wait bool) error {
		if err := save(body, wait); err != nil {
			return err
		}
		close(died)
		select {} // as far as the user can tell
	}
	if err := first.Load("ann", doc); err != nil {
		t.Fatal(err)
	}
	go first.Mint(auth.Client{Name: "notes", Kind: auth.ClientToken, User: "ann"})
	<-died
	first.Settle("ann") // or her hub could not close, which would end the wait
	next := auth.NewClients(d.dir)
	d.load(t, next, "ann")
	if list := next.List("ann"); len(list) != 1 || list[0].Name != "notes" {
		t.Fatalf("kept: %+v", list)
	}
	if _, _, err := next.Mint(auth.Client{Name: "notes", Kind: auth.ClientToken, User: "ann"}); err == nil || !strings.Contains(err.Error(), "revoke") {
		t.Errorf("another of its name: %v", err)
	}
	if err := next.Revoke("ann", next.List("ann")[0].ID); err != nil {
		t.Error(err)
	}
}

// A token that no node could place would be worth nothing, so there is none.
func TestClientThatTheDirectoryDoesNotTake(t *testing.T) {
	d := &inDocuments{dir: directory{}}
	c := auth.NewClients(d.dir)
	d.load(t, c, "lost")
	if _, _, err := c.Mint(auth.Client{Name: "notes", User: "lost"}); err == nil || len(c.List("lost")) != 0 {
		t.Errorf("%v; %+v", err, c.List("lost"))
	}
}

// A damaged document admits no client.
func TestDamagedDocument(t *testing.T) {
	for _, text := range []string{"", "{", `{"clients":[{"id":"x","sha256":"00"}]}`, `{"clients":[{"id":"x","name":"x","user":"bob"}]}`, `{"clients":[{"id":"x","name":"x"}]}`} {
		if err := auth.NewClients(nil).Load("ann", private.Document{Body: []byte(text)}); err == nil || !strings.Contains(err.Error(), `user "ann"`) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A node looks up what may be in the directory, and nothing else that it is shown.
func TestHintOf(t *testing.T) {
	const opaque = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, tt := range []struct {
		credential, id string
		ok             bool
	}{
		{"tbh_abcdefgh23456722_" + opaque, "abcdefgh23456722", true},
		{"tbh__" + opaque, "", false},
		{"tbh_x", "", false},
		{"browser.abcdefghijklmnopqrstuvwxyz", "browser.abcdefghijklmnopqrstuvwxyz", true},
		{"copy.abc.def", "", false},
		{opaque, "d6ec6898de87ddac6e5b3611708a7aa1c2d298293349cc1a6c299a1db7149d38", true},
		{strings.ToLower(opaque), "", false},
		{"eyJh.eyJ1.c2ln", "", false},
		{"tba_ABC_" + opaque, "", false},
		{"tbr_ABC_" + opaque, "", false},
		{"", "", false},
	} {
		if id, ok := auth.HintOf(tt.credential); id != tt.id || ok != tt.ok {
			t.Errorf("HintOf(%q) = %q, %t", tt.credential, id, ok)
		}
	}
}
